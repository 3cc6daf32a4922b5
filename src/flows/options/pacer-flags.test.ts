import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import type { Pacer } from '../../measure/load/pacer.ts'
import { pacerFlags } from './pacer-flags.ts'
import { parseRatePerSecond } from '../../base/units.ts'
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

test('every rate and every time is read back as it was', () => {
  const rate = fc.double({ min: 1e-12, max: 1e12, noNaN: true })
  const time = fc.double({ min: 1e-12, max: 24 * 86_400_000, noNaN: true })
  const pacers = fc.oneof(
    fc.record({ kind: fc.constant('poisson' as const), ratePerSecond: rate }),
    fc.record({ kind: fc.constant('constant' as const), ratePerSecond: rate }),
    fc.record({
      kind: fc.constant('gamma' as const),
      ratePerSecond: rate,
      cv: fc.double({ min: 1e-9, max: 0.99, noNaN: true }),
    }),
    fc.record({
      kind: fc.constant('ramp' as const),
      fromPerSecond: rate,
      toPerSecond: rate,
      durationMs: time,
    }),
    fc.record({
      kind: fc.constant('steps' as const),
      steps: fc.array(fc.record({ ratePerSecond: rate, durationMs: time }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('burst' as const), size: fc.constant(3), everyMs: time }),
    fc.record({
      kind: fc.constant('concurrency' as const),
      users: fc.constant(3),
      thinkTimeMs: time,
      staggerMs: time,
    }),
  )
  fc.assert(
    fc.property(pacers, (pacer) => {
      expect(readBack(pacer)).toEqual(pacer)
    }),
  )
  for (const small of [
    { kind: 'constant', ratePerSecond: 1e-7 },
    { kind: 'poisson', ratePerSecond: 1e-7 },
    { kind: 'concurrency', users: 3, thinkTimeMs: 1e-7 },
  ] as const) {
    expect(readBack(small)).toEqual(small)
  }
})

function readBack(pacer: Pacer): Pacer {
  const [flag, said = ''] = pacerFlags(pacer, 'random') ?? []
  return flag === '--pacer' ? parsePacer(said) : { kind: 'poisson', ratePerSecond: parseRatePerSecond(said) }
}
