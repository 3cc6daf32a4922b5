import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binomialCdf } from './binomial.ts'
import {
  earlyStoppingTotal,
  oneSidedLowerRank,
  oneSidedUpperRank,
  orderStatisticInterval,
  samplesNeeded,
  sloProof,
} from './percentile-interval.ts'
import { rational } from './rational.ts'

describe('orderStatisticInterval', () => {
  it.each([
    ['p95 of 1,000', 1000, '95', 936, 964],
    ['p99 of 100 has no upper end, never the maximum', 100, '99', 97, null],
    ['p99 of 367 is one value short of an upper end', 367, '99', 359, null],
    ['p99 of 368 has one', 368, '99', 360, 368],
    ['p99 of 1,000', 1000, '99', 983, 997],
    ['p99 of 10,000', 10_000, '99', 9880, 9920],
    ['no values bound nothing', 0, '50', null, null],
  ])('%s', (_, n, p, lowRank, highRank) => {
    expect(orderStatisticInterval(n, p, '0.95')).toMatchObject({ lowRank, highRank })
  })

  it('an exact tie counts: with 4 values the maximum bounds the median at 1 − 1/16', () => {
    expect(oneSidedUpperRank(4, '50', '0.9375')).toBe(4)
    expect(oneSidedUpperRank(4, '50', '0.9376')).toBeNull()
    expect(orderStatisticInterval(5, '50', '0.9375')).toMatchObject({
      lowRank: 1,
      highRank: 5,
      coverage: 0.9375,
    })
  })

  it('covers at least what it says, no end could be drawn closer, and mirrors', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        fc.integer({ min: 1, max: 999 }),
        fc.constantFrom('0.8', '0.9', '0.95', '0.99'),
        (n, thousandths, confidence) => {
          const p = rational(thousandths, 1000)
          const level = thousandths / 1000
          const tail = (1 - Number(confidence)) / 2
          const { lowRank, highRank, coverage } = orderStatisticInterval(n, p, confidence)
          expect(coverage).toBeGreaterThanOrEqual(Number(confidence) - 1e-9)
          const low = lowRank ?? 0
          expect(binomialCdf(low - 1, n, level)).toBeLessThanOrEqual(tail + 1e-12)
          expect(binomialCdf(low, n, level)).toBeGreaterThan(tail - 1e-12)
          const mirrored = orderStatisticInterval(n, rational(1000 - thousandths, 1000), confidence)
          expect(mirrored.highRank).toBe(lowRank === null ? null : n + 1 - lowRank)
          expect(mirrored.lowRank).toBe(highRank === null ? null : n + 1 - highRank)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('the sizes of the table are where the bounds begin', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('50', '75', '90', '95', '99', '99.5'),
        fc.constantFrom('0.9', '0.95', '0.99'),
        (p, confidence) => {
          const { oneSidedUpper, twoSided } = samplesNeeded(p, confidence)
          expect(oneSidedUpperRank(oneSidedUpper, p, confidence)).toBe(oneSidedUpper)
          expect(oneSidedUpperRank(oneSidedUpper - 1, p, confidence)).toBeNull()
          expect(orderStatisticInterval(twoSided, p, confidence).highRank).not.toBeNull()
          expect(orderStatisticInterval(twoSided - 1, p, confidence).highRank).toBeNull()
        },
      ),
    )
  })
})

describe('proofs', () => {
  it('a proven SLO is one whose upper bound of the share over the limit is within it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(80), (n, over) => {
        fc.pre(over <= n)
        const proof = sloProof(n, over, '99', '0.95')
        expect(proof?.proven).toBe((proof?.overShareUpper ?? 1) <= 0.01)
      }),
    )
  })

  it('early stopping is the smallest total that proves it', () => {
    const total = earlyStoppingTotal('99', '0.95', 3)
    expect(sloProof(total, 3, '99')?.proven).toBe(true)
    expect(sloProof(total - 1, 3, '99')?.proven).toBe(false)
  })

  it('a lower bound mirrors the upper', () => expect(oneSidedLowerRank(100, '1', '0.95')).toBe(null))

  it.each(['0', '1', '2', '-0.5'])('refuses the confidence %s', (confidence) => {
    expect(() => orderStatisticInterval(10, '50', confidence)).toThrow('confidence')
  })
})
