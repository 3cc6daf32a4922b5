import { expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import { pacerFlags } from './pacer-flags.ts'
import { parsePacer } from './pacer-text.ts'

test.each([
  'poisson 6/s',
  'constant 0.25/s',
  'gamma 6/s cv 2.5',
  'ramp 1/s..10/s over 60s',
  'ramp 10/s..1/s over 1500ms poisson',
  'steps 1/s for 30s, 2.5/s for 30s',
  'steps 1/s for 30s, 0/s for 1500ms poisson',
  'burst 10',
  'burst 10 every 5s',
  'users 8',
  'users 8 think 1s',
  'users 8 think exponential 1500ms stagger 5s',
  'users 8 stagger 5s',
])('%s is said in flags that mean the same', async (text) => {
  const pacer = parsePacer(text)
  const { run } = await cliRun(['run', '--num-prompts', '20', ...(pacerFlags(pacer, 'random') ?? [])])
  expect(run?.pacer).toEqual(pacer)
})

test('recorded times are those of a trace, and no flag says any others', () => {
  const pacer = { kind: 'schedule', timesMs: [0, 5], name: 't.csv' } as const
  expect([pacerFlags(pacer, 'trace'), pacerFlags(pacer, 'random')]).toEqual([[], null])
})
