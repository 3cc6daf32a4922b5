import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { expectedOf, readExamples, runExample, words } from '../examples/run-examples.mjs'
import { verbEntries } from '../src/cli/verbs/registry.ts'

const examples = readExamples()

describe('examples', () => {
  test.concurrent.each(examples.map((example) => [example.line, example] as const))(
    '%s',
    async (_, example) => {
      expect(await runExample(example)).toEqual(expectedOf(example))
    },
  )

  test('each verb has its help among them', () => {
    const shown = new Set(examples.map(({ line }) => line))
    const missing = verbEntries.filter(({ name }) => !shown.has(`plimsoll ${name} --help`))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  test('the figures of docs/img are those that the recorded runs draw', () => {
    const script = fileURLToPath(new URL('../scripts/figures.mjs', import.meta.url))
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toContain('up to date')
  })

  test('each says what it shows', () => {
    expect(examples.filter(({ what }) => !/^\S.{9,}/.test(what))).toEqual([])
  })

  test('the folder of examples leaves nothing behind', () => {
    expect(existsSync(new URL('../examples/plimsoll.yaml', import.meta.url))).toBe(false)
  })

  test('quotes are read as a shell reads them', () => {
    expect(words(`plimsoll run --slo 'ttft < 500ms' --pacer="users 8" x`)).toEqual([
      'plimsoll',
      'run',
      '--slo',
      'ttft < 500ms',
      '--pacer=users 8',
      'x',
    ])
  })
})
