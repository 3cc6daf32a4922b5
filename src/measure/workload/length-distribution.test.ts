import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import {
  checkLengths,
  drawLength,
  meanLength,
  rangeAround,
  type LengthDistribution,
} from './length-distribution.ts'

function draws(distribution: LengthDistribution, count = 20_000): number[] {
  const random = randomStream(1, 'lengths')
  return Array.from({ length: count }, () => drawLength(distribution, random)).sort((a, b) => a - b)
}

describe('drawLength', () => {
  test('draws are whole and at least 1', () => {
    const any: fc.Arbitrary<LengthDistribution> = fc.oneof(
      fc.record({
        kind: fc.constant('normal' as const),
        mean: fc.double({ min: 1, max: 50, noNaN: true }),
        sd: fc.double({ min: 0, max: 100, noNaN: true }),
      }),
      fc.record({
        kind: fc.constant('uniform' as const),
        low: fc.integer({ min: 1, max: 9 }),
        high: fc.integer({ min: 9, max: 99 }),
      }),
      fc.record({
        kind: fc.constant('lognormal' as const),
        median: fc.integer({ min: 1, max: 9 }),
        p99: fc.integer({ min: 9, max: 99_999 }),
      }),
    )
    fc.assert(
      fc.property(any, fc.integer(), (distribution, seed) => {
        const length = drawLength(distribution, randomStream(seed, 'x'))
        expect(Number.isSafeInteger(length)).toBe(true)
        expect(length).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  test('a lognormal has its median and its p99', () => {
    const sorted = draws({ kind: 'lognormal', median: 900, p99: 4096 })
    // Four standard errors of a sample quantile, √(p(1−p)/n) ÷ density, are 2.6 % and 9 % here.
    expect(Math.abs(sorted[10_000]! / 900 - 1)).toBeLessThan(0.026)
    expect(Math.abs(sorted[19_800]! / 4096 - 1)).toBeLessThan(0.09)
  })

  const means: [LengthDistribution, number][] = [
    [{ kind: 'fixed', tokens: 7 }, 7],
    [{ kind: 'uniform', low: 100, high: 200 }, 150],
    [{ kind: 'normal', mean: 500, sd: 50 }, 500],
    [
      { kind: 'lognormal', median: 100, p99: 400 },
      100 * Math.exp((Math.log(4) / 2.3263478740408408) ** 2 / 2),
    ],
  ]
  test.each(means)('%o has its mean', (distribution, mean) => {
    const sample = draws(distribution)
    expect(meanLength(distribution)).toBeCloseTo(mean, 9)
    expect(sample.reduce((sum, length) => sum + length, 0) / sample.length / mean).toBeCloseTo(1, 1)
  })

  test('a uniform draw reaches both ends', () => {
    const sorted = draws({ kind: 'uniform', low: 3, high: 6 }, 200)
    expect([sorted[0], sorted.at(-1)]).toEqual([3, 6])
  })
})

describe('rangeAround', () => {
  test.each([
    [1024, 0, { kind: 'fixed', tokens: 1024 }],
    [1024, 0.5, { kind: 'uniform', low: 512, high: 1536 }],
    [101, 0.1, { kind: 'uniform', low: 90, high: 112 }],
    [1, 0.9, { kind: 'uniform', low: 1, high: 2 }],
  ])('%d ± %d', (tokens, ratio, expected) => expect(rangeAround(tokens, ratio)).toEqual(expected))

  test('a ratio of 1 is refused', () => {
    expect(() => rangeAround(10, 1)).toThrow(expect.objectContaining({ code: 'PLIM_USAGE' }))
  })
})

test('checkLengths names what cannot be drawn', () => {
  expect(() => checkLengths({ kind: 'uniform', low: 9, high: 8 }, 'prompt length')).toThrow(
    'the prompt length cannot be drawn',
  )
  expect(() => checkLengths({ kind: 'normal', mean: Number.NaN, sd: 1 }, 'prompt length')).toThrow(
    'the prompt length cannot be drawn',
  )
})
