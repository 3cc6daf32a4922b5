import * as fc from 'fast-check'
import { sfc32, standardNormal } from '../base/random.ts'
import { describe, expect, it } from 'vitest'
import { classifySteadyState, mser } from './steady-state.ts'

const noise = (i: number): number => (((i * 7919) % 101) - 50) / 10
const level = (value: number, n: number): number[] => Array.from({ length: n }, () => value)
const series = (shape: (i: number) => number, n = 300): number[] =>
  Array.from({ length: n }, (_, i) => shape(i) + noise(i))

describe('classifySteadyState', () => {
  const warm = series((i) => 100 + 60 * Math.exp(-i / 15))
  it.each([
    ['a level is flat', series(() => 100), {}, 'flat'],
    ['a start that wears off is a warm-up', warm, {}, 'warmup'],
    ['slower at the start is a warm-up of a latency', warm, { better: 'lower' as const }, 'warmup'],
    ['faster at the start is a slowdown of a throughput', warm, { better: 'higher' as const }, 'slowdown'],
    ['a trend never settles', series((i) => 100 + 0.5 * i), {}, 'no_steady_state'],
    ['a late step never settles', series((i) => (i >= 200 ? 140 : 100)), {}, 'no_steady_state'],
    ['a constant is flat', level(3, 100), {}, 'flat'],
    ['an exact step of constants never settles', [...level(3, 60), ...level(4, 40)], {}, 'no_steady_state'],
    ['nothing is too short', [], {}, 'too_short'],
    ['nine batches are too short', series(() => 1, 49), {}, 'too_short'],
    ['zeros are flat', level(0, 100), {}, 'flat'],
  ])('%s', (_, values, options, kind) => expect(classifySteadyState(values, options).kind).toBe(kind))

  it('the cut of a warm-up is where the cold start ends', () =>
    expect(classifySteadyState(warm).cut).toBe(65))

  it('white noise is hardly ever refused', () => {
    const random = sfc32(1, 2, 3)
    let refused = 0
    for (let run = 0; run < 400; run++) {
      const white = Array.from({ length: 100 }, () => 100 + 10 * standardNormal(random))
      if (classifySteadyState(white).kind === 'no_steady_state') refused++
    }
    expect(refused / 400).toBeLessThan(0.05)
  })

  it('does not depend on unit', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 50, maxLength: 200 }), (values) => {
        const scaled = classifySteadyState(values.map((value) => value * 1024))
        expect({ kind: scaled.kind, cut: scaled.cut }).toEqual({
          kind: classifySteadyState(values).kind,
          cut: classifySteadyState(values).cut,
        })
      }),
    )
  })
})

describe('mser', () => {
  it('is the smallest of the sums written out', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 60 }), (values) => {
        const found = mser(values, 1)
        const objective = (d: number): number => {
          const kept = values.slice(d)
          const centre = kept.reduce((sum, value) => sum + value, 0) / kept.length
          return kept.reduce((sum, value) => sum + (value - centre) ** 2, 0) / kept.length ** 2
        }
        const best = Math.min(
          ...values.slice(0, Math.floor(values.length / 2) + 1).map((_, d) => objective(d)),
        )
        expect(found?.objective).toBeCloseTo(best, 10)
      }),
    )
  })
})
