import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { sfc32 } from '../base/random.ts'
import { clopperPearson } from './binomial.ts'
import { cleanEventsForLimit, confidenceSequence, peekingError, pocockBoundary } from './sequential.ts'

it('the anytime interval holds the share and is wider than the fixed one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3000 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, part) => {
      const bad = Math.floor(part * n)
      const anytime = confidenceSequence(bad, n)
      const fixed = clopperPearson(bad, n, 0.9)
      expect(anytime.low).toBeLessThanOrEqual(bad / n)
      expect(anytime.high).toBeGreaterThanOrEqual(bad / n)
      expect(anytime.high).toBeGreaterThanOrEqual((fixed?.high as number) * 0.999)
    }),
  )
})

it('watched after every event, it misses the truth less often than α', () => {
  const random = sfc32(11, 12, 13)
  let missed = 0
  for (let run = 0; run < 300; run++) {
    let bad = 0
    for (let n = 1; n <= 300; n++) {
      if (random.next() < 0.05) bad++
      const { low, high } = confidenceSequence(bad, n)
      if (low > 0.05 || high < 0.05) {
        missed++
        break
      }
    }
  }
  expect(missed / 300).toBeLessThan(0.05)
})

it('nothing seen yet says nothing', () => expect(confidenceSequence(0, 0)).toEqual({ low: 0, high: 1 }))

it('clean events are the fewest that certify', () => {
  const n = cleanEventsForLimit(0.01)
  expect(confidenceSequence(0, n).high).toBeLessThanOrEqual(0.01)
  expect(confidenceSequence(0, n - 1).high).toBeGreaterThan(0.01)
})

it('the boundary spends exactly α', () => {
  for (const looks of [1, 2, 4, 8]) expect(peekingError(looks, pocockBoundary(looks))).toBeCloseTo(0.05, 8)
  expect(peekingError(2, 1.96)).toBeGreaterThan(peekingError(1, 1.96))
})
