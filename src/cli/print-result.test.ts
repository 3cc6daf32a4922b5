import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'

test('the verbs that choose between JSON and words for themselves are those that the docstring names', () => {
  const verbs = new URL('verbs/', import.meta.url)
  const own = readdirSync(verbs).filter(
    (name) =>
      !name.endsWith('.test.ts') && /isOn\(flags, 'json'\)/.test(readFileSync(new URL(name, verbs), 'utf8')),
  )
  expect(own).toEqual(['scale-policy.ts', 'scale-serve.ts', 'show.ts', 'slo-actions.ts', 'watch.ts'])
})

test.each([
  ['calc', 'plimsoll.calculators/1'],
  ['calc burn 99.5% 3%', 'plimsoll.calculation/1'],
  ['lab tail', 'plimsoll.lab/1'],
])('%s --json is one document and nothing else', async (line, schema) => {
  const { stdout } = await cliRun([...line.split(' '), '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ schema })
  expect(stdout.trimEnd()).not.toContain('\n')
})
