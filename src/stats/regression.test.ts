import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sfc32, standardNormal } from '../base/random.ts'
import { kishEffectiveSize, mean, median, standardDeviation, variance } from './describe.ts'
import { coefficientInterval, ols, parabola, slopeTest, theilSen, type Line } from './regression.ts'

const number = fc.integer({ min: -100, max: 100 })

describe('lines', () => {
  it('an exact line is found by both, and no noise is no error', () => {
    fc.assert(
      fc.property(number, number, fc.uniqueArray(number, { minLength: 3, maxLength: 20 }), (a, b, xs) => {
        const ys = xs.map((x) => a + b * x)
        expect(ols(xs, ys)?.slope).toBeCloseTo(b, 8)
        expect(ols(xs, ys)?.intercept).toBeCloseTo(a, 6)
        expect(theilSen(xs, ys)?.slope).toBeCloseTo(b, 10)
        const curve = parabola(
          xs,
          xs.map((x) => a + b * x + 2 * x * x),
        )
        expect(curve?.quadratic).toBeCloseTo(2, 6)
        expect(curve?.linear).toBeCloseTo(b, 4)
        expect(curve?.constant).toBeCloseTo(a, 2)
      }),
    )
  })
  it('too few points are null, and two leave no error', () => {
    expect(ols([1, 1], [2, 3])).toBeNull()
    expect(ols([1], [2])).toBeNull()
    expect(theilSen([1], [1])).toBeNull()
    expect(parabola([1, 2, 2], [1, 2, 3])).toBeNull()
    expect(ols([1, 2], [1, 2])).toMatchObject({ slopeSe: null, interceptSe: null, residualSd: null })
    expect(coefficientInterval(1, null, 2)).toBeNull()
  })
  it('the interval of a slope covers it about as often as it says', () => {
    const random = sfc32(4, 4, 4)
    const xs = Array.from({ length: 12 }, (_, i) => i)
    let covered = 0
    for (let run = 0; run < 2000; run++) {
      const line = ols(
        xs,
        xs.map((x) => 3 + 2 * x + standardNormal(random)),
      ) as Line
      const [low, high] = coefficientInterval(line.slope, line.slopeSe, line.n) as readonly [number, number]
      if (low <= 2 && 2 <= high) covered++
    }
    expect(covered / 2000).toBeCloseTo(0.95, 1)
    expect(
      theilSen(
        xs,
        xs.map((x) => 2 * x + standardNormal(random)),
      )?.slopeInterval,
    ).not.toBeNull()
  })
})

describe('slopeTest', () => {
  it('a level series with memory rarely grows', () => {
    const random = sfc32(6, 6, 6)
    let growing = 0
    for (let run = 0; run < 500; run++) {
      let last = 0
      const series = Array.from({ length: 60 }, () => 40 + (last = 0.7 * last + 4 * standardNormal(random)))
      if (slopeTest(series)?.growing === true) growing++
    }
    expect(growing / 500).toBeLessThan(0.08)
  })
  it('edges', () => {
    expect(slopeTest([1, 2])).toBeNull()
    expect(slopeTest([5, 5, 5, 5])).toMatchObject({ slope: 0, growing: false })
    expect(slopeTest([0, 0, 0])?.growth).toBeNull()
    expect(slopeTest([1, 2, 3, 4, 5])?.growing).toBe(true)
  })
})

describe('one sample', () => {
  it('of nothing and of one is null, never NaN', () => {
    expect([mean([]), variance([1]), standardDeviation([]), median([]), kishEffectiveSize([0, 0])]).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
  })
  it('a mean keeps its digits', () => {
    expect(mean([1e16, 1, -1e16, 1])).toBe(0.5)
    expect(mean([1, Number.POSITIVE_INFINITY])).toBe(Number.POSITIVE_INFINITY)
    expect(variance([1e9 + 1, 1e9 + 2, 1e9 + 3])).toBe(1)
    expect(median([1, 3, 2, Number.POSITIVE_INFINITY])).toBe(2.5)
  })
})
