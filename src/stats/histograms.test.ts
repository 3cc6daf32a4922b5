import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classicQuantile, classicShareUnder, mergeClassic, type ClassicBucket } from './classic-histogram.ts'
import {
  exponentialIndex,
  exponentialQuantile,
  largestScale,
  mergeExponential,
  type ExponentialHistogram,
} from './exponential-histogram.ts'
import { LogBucketSketch } from './log-bucket-sketch.ts'
import { highestEquivalent, logLinearLayout, LogLinearHistogram } from './log-linear-histogram.ts'
import { percentile, sortAscending } from './percentile.ts'

const values = fc.array(fc.integer({ min: 0, max: 5_000_000 }), { minLength: 1, maxLength: 200 })
const level = fc.constantFrom('0', '1', '50', '90', '99', '99.9', '100')
const bounds = [0.5, 1, 2, 4, 8]
const classic = (list: readonly number[]): ClassicBucket[] =>
  [...bounds, Number.POSITIVE_INFINITY].map((bound) => [bound, list.filter((value) => value <= bound).length])

describe('classic histograms', () => {
  const seconds = fc.array(fc.double({ min: 0.001, max: 8, noNaN: true }), { minLength: 1, maxLength: 100 })
  it('the true nearest-rank quantile lies in the bucket that is named', () => {
    fc.assert(
      fc.property(seconds, fc.constantFrom('50', '90', '99'), (list, p) => {
        const found = classicQuantile(classic(list), Number(p) / 100)
        const truth = percentile(sortAscending(list), p) as number
        expect(truth).toBeGreaterThan(found.low as number)
        expect(truth).toBeLessThanOrEqual(found.high as number)
      }),
    )
  })
  it('merging is counting together', () => {
    fc.assert(
      fc.property(seconds, seconds, (a, b) => {
        expect(mergeClassic([classic(a), classic(b)])).toEqual(classic([...a, ...b]))
      }),
    )
  })
  it.each([
    [
      'no observations',
      [
        [1, 0],
        [Number.POSITIVE_INFINITY, 0],
      ],
      0.5,
      null,
    ],
    ['no buckets', [], 0.5, null],
    ['only the open bucket', [[Number.POSITIVE_INFINITY, 4]], 0.5, null],
    [
      'a negative first bound is itself',
      [
        [-1, 3],
        [1, 3],
      ],
      0.5,
      -1,
    ],
    [
      'a torn scrape that falls is mended',
      [
        [1, 5],
        [2, 4],
        [4, 10],
      ],
      0.6,
      2.4,
    ],
  ] as [string, ClassicBucket[], number, number | null][])('%s', (_, buckets, q, expected) => {
    expect(classicQuantile(buckets, q).value).toBe(expected)
  })
  it('bounds that one lacks are left out, and a limit inside a bucket leaves a range', () => {
    expect(
      mergeClassic([
        [
          [1, 2],
          [2, 3],
          [4, 4],
        ],
        [
          [1, 1],
          [4, 9],
        ],
      ]),
    ).toEqual([
      [1, 3],
      [4, 13],
    ])
    expect(
      classicShareUnder(
        [
          [1, 50],
          [2, 90],
          [4, 100],
        ],
        1.5,
      ),
    ).toEqual({ low: 0.5, high: 0.9 })
    expect(
      classicShareUnder(
        [
          [1, 50],
          [2, 100],
        ],
        1,
      ),
    ).toEqual({ low: 0.5, high: 0.5 })
    expect(classicShareUnder([], 1)).toBeNull()
    expect(() => classicQuantile([], 1.5)).toThrow('quantile')
  })
})

describe('exponential histograms', () => {
  const ordered = (counts: ReadonlyMap<number, number>): [number, number][] =>
    [...counts].sort(([a], [b]) => a - b)
  const of = (list: readonly number[], scale: number): ExponentialHistogram => {
    const positive = new Map<number, number>()
    for (const value of list)
      positive.set(exponentialIndex(value, scale), (positive.get(exponentialIndex(value, scale)) ?? 0) + 1)
    return { scale, zeroCount: 0, zeroThreshold: 0, positive, negative: new Map() }
  }
  const sizes = fc.array(fc.double({ min: 1e-3, max: 1e3, noNaN: true }), { minLength: 1, maxLength: 100 })
  it('a value lies in its bucket, bounds above included', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        fc.integer({ min: -3, max: 8 }),
        (value, scale) => {
          const index = exponentialIndex(value, scale)
          expect(value).toBeGreaterThan(2 ** (index * 2 ** -scale))
          expect(value).toBeLessThanOrEqual(2 ** ((index + 1) * 2 ** -scale))
        },
      ),
    )
    expect(exponentialIndex(8, 0)).toBe(2)
    expect(exponentialIndex(1, 3)).toBe(-1)
  })
  it('merging at two scales is the coarser one of all values', () => {
    fc.assert(
      fc.property(sizes, sizes, (a, b) => {
        const merged = mergeExponential([of(a, 4), of(b, 2)])
        expect(ordered(merged?.positive ?? new Map())).toEqual(ordered(of([...a, ...b], 2).positive))
      }),
    )
    expect(mergeExponential([])).toBeNull()
  })
  it('the truth lies in the bucket that is named', () => {
    fc.assert(
      fc.property(sizes, fc.constantFrom('50', '90', '99'), (list, p) => {
        const found = exponentialQuantile(of(list, 3), Number(p) / 100)
        const truth = percentile(sortAscending(list), p) as number
        expect(truth).toBeGreaterThan((found.low as number) * (1 - 1e-12))
        expect(truth).toBeLessThanOrEqual((found.high as number) * (1 + 1e-12))
      }),
    )
  })
  it('zeros and negatives keep their order', () => {
    const histogram: ExponentialHistogram = {
      scale: 0,
      zeroCount: 2,
      zeroThreshold: 0,
      positive: new Map([[0, 2]]),
      negative: new Map([
        [0, 2],
        [3, 2],
      ]),
    }
    const at = [0.1, 0.3, 0.6, 0.9].map((q) => exponentialQuantile(histogram, q).value as number)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(at[0]).toBeLessThan(-8)
    expect(at[2]).toBe(0)
    expect(
      exponentialQuantile({ ...histogram, zeroCount: 0, positive: new Map(), negative: new Map() }, 0.5)
        .value,
    ).toBeNull()
    expect(() => largestScale(0, 1, 160)).toThrow('range')
  })
})

describe('log-linear histogram', () => {
  it('reads every rank within its error, never below the truth, and the maximum exactly', () => {
    fc.assert(
      fc.property(values, level, (list, p) => {
        const histogram = new LogLinearHistogram(10_000_000, 3)
        for (const value of list) histogram.record(value)
        const truth = percentile(sortAscending(list), p) as number
        const found = histogram.percentile(p) as number
        expect(found).toBeGreaterThanOrEqual(truth)
        expect(found).toBeLessThanOrEqual(truth + Math.max(0, truth / 1024))
        expect(histogram.max).toBe(Math.max(...list))
      }),
    )
  })
  it('merging is recording together', () => {
    fc.assert(
      fc.property(values, values, level, (a, b, p) => {
        const [one, two, both] = [0, 1, 2].map(() => new LogLinearHistogram(10_000_000, 2)) as [
          LogLinearHistogram,
          LogLinearHistogram,
          LogLinearHistogram,
        ]
        for (const value of a) one.record(value)
        for (const value of b) two.record(value)
        for (const value of [...a, ...b]) both.record(value)
        one.merge(two)
        expect(one.percentile(p)).toBe(both.percentile(p))
        expect(one.count).toBe(a.length + b.length)
      }),
    )
  })
  it('what does not fit is refused, not lost in another counter', () => {
    const histogram = new LogLinearHistogram(1000)
    expect([
      histogram.record(-1),
      histogram.record(1001),
      histogram.record(Number.NaN),
      histogram.record(1000),
    ]).toEqual([false, false, false, true])
    expect(histogram.count).toBe(1)
    expect(new LogLinearHistogram(1000).percentile('50')).toBeNull()
    expect(() => histogram.merge(new LogLinearHistogram(2000))).toThrow('layout')
    expect(() => logLinearLayout(1, 3)).toThrow('highest')
    expect(highestEquivalent(logLinearLayout(1000, 1), 0)).toBe(0)
  })
})

describe('log-bucket sketch', () => {
  it('is within α at every rank, and merging is recording together', () => {
    fc.assert(
      fc.property(values, values, level, (a, b, p) => {
        const sketch = new LogBucketSketch(0.01)
        const other = new LogBucketSketch(0.01)
        for (const value of a) sketch.record(value)
        for (const value of b) other.record(value)
        sketch.merge(other)
        const truth = percentile(sortAscending([...a, ...b]), p) as number
        expect(Math.abs((sketch.percentile(p) as number) - truth)).toBeLessThanOrEqual(
          0.01 * truth * (1 + 1e-9),
        )
      }),
    )
    expect(new LogBucketSketch().percentile('50')).toBeNull()
    expect(new LogBucketSketch().record(-1)).toBe(false)
    expect(() => new LogBucketSketch(0.01).merge(new LogBucketSketch(0.02))).toThrow('accuracy')
    expect(() => new LogBucketSketch(1)).toThrow('accuracy')
  })
})
