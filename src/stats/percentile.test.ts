import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearestRank, percentile, percentileKey, percentileShare, sortAscending } from './percentile.ts'
import { rational, toNumber } from './rational.ts'

describe('nearestRank', () => {
  it.each([
    ['p99.9 of 1,000 is the 999th, not the maximum', '99.9', 1000, 999],
    ['p55 of 100 is the 55th', '55', 100, 55],
    ['p0 is the first', '0', 5, 1],
    ['p100 is the last', '100', 5, 5],
    ['p50 of two is the first', '50', 2, 1],
    ['a name with its p is read', 'p99', 300, 297],
  ])('%s', (_, p, n, rank) => expect(nearestRank(n, p)).toBe(rank))

  it('is the smallest rank that covers the share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 0, max: 100_000 }),
        (n, thousandths) => {
          const share = rational(thousandths, 100_000)
          const rank = nearestRank(n, share)
          expect(rank * 100_000).toBeGreaterThanOrEqual(thousandths * n)
          expect(rank === 1 || (rank - 1) * 100_000 < thousandths * n).toBe(true)
        },
      ),
    )
  })
})

describe('percentile', () => {
  const types = ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'floor'] as const
  const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 })
  const level = fc.integer({ min: 0, max: 1000 }).map((x) => String(x / 10))

  it('of nothing is null', () => expect(percentile([], '99')).toBeNull())

  it('every type stays inside the sample, grows with p and agrees on one value', () => {
    fc.assert(
      fc.property(values, level, level, fc.constantFrom(...types), (list, p, q, type) => {
        const sorted = sortAscending(list)
        const [low, high] = Number(p) <= Number(q) ? [p, q] : [q, p]
        const a = percentile(sorted, low, type) as number
        const b = percentile(sorted, high, type) as number
        expect(a).toBeGreaterThanOrEqual(sorted[0] as number)
        expect(b).toBeLessThanOrEqual(sorted.at(-1) as number)
        expect(b).toBeGreaterThanOrEqual(a - 1e-9 * Math.abs(a))
        expect(percentile([7], p, type)).toBe(7)
      }),
    )
  })

  it('types 2 and 4 to 9 are mirrored: p of x is the negative of 100 − p of −x', () => {
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: 1, max: 99 }),
        fc.constantFrom('2', '5', '6', '7', '8', '9'),
        (list, p, type) => {
          const mirrored = percentile(sortAscending(list.map((x) => -x)), String(100 - p), type) as number
          expect(percentile(sortAscending(list), String(p), type)).toBeCloseTo(-mirrored, 6)
        },
      ),
    )
  })

  it('infinite values do not make NaN', () => {
    const sorted = [1, 2, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const type of types) expect(percentile(sorted, '95', type)).toBe(Number.POSITIVE_INFINITY)
    expect(percentile(sorted, '50', '1')).toBe(2)
  })

  it.each(['-1', '100.1', '', 'x', 'NaN'])('refuses the level %j', (p) =>
    expect(() => percentile([1], p)).toThrow(/percentile|number/),
  )
})

it('the key of a percentile has no point', () => {
  expect(['50', '99.9', 'p99.5', '99%'].map(percentileKey)).toEqual(['p50', 'p99_9', 'p99_5', 'p99'])
  expect(toNumber(percentileShare('99.9%'))).toBe(0.999)
})
