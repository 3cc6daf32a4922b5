import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential, sfc32 } from '../base/random.ts'
import { effectiveInterval, effectiveUpperBound, swingsNeeded } from './effective-interval.ts'

describe('effectiveInterval', () => {
  const random = sfc32(5, 6, 7)
  const independent = Array.from({ length: 20_000 }, () => exponential(random))

  it('of independent values is close to the order statistics', () => {
    const found = effectiveInterval(independent, '99', '0.95')
    expect(found.why).toBeNull()
    expect(found.low).toBeLessThan(Math.log(100))
    expect(found.high).toBeGreaterThan(Math.log(100))
    // Ten batches know their time to a third, and the t of nine degrees is added: never more than half is lost for long.
    expect(found.nEff).toBeGreaterThan(8000)
  })

  it('is not given below ten independent tail events, and says why', () => {
    const found = effectiveInterval(independent.slice(0, 500), '99', '0.95')
    expect(found).toMatchObject({ low: null, high: null })
    expect(found.why).toContain('independent tail events')
    expect(found.estimate).not.toBeNull()
  })

  it('clustered values count less: each value five times over leaves a fifth', () => {
    const repeated = independent.slice(0, 4000).flatMap((value) => [value, value, value, value, value])
    const found = effectiveInterval(repeated, '95', '0.95')
    expect((found.nEff as number) / repeated.length).toBeGreaterThan(0.1)
    expect((found.nEff as number) / repeated.length).toBeLessThan(0.26)
  })

  it('an upper bound of P99 needs 299 effective values', () => {
    const alternating = Array.from({ length: 298 }, (_, i) => (i % 100 === 0 ? 5 : 1))
    expect(effectiveUpperBound(alternating, '99', '0.95').high).toBeNull()
    expect(effectiveUpperBound(independent, '99', '0.95').high).toBeGreaterThan(
      effectiveUpperBound(independent, '99', '0.95').estimate as number,
    )
  })

  it('is not given where the load swung too seldom for this percentile, and says how often', () => {
    const of = (p: string, swings: number | null) =>
      effectiveInterval(independent, p, '0.95', undefined, swings)
    expect(of('95', 60).why).toBeNull()
    expect(of('95', 59.9)).toMatchObject({
      low: null,
      high: null,
      why: 'the load swung only 59 times, an interval of this percentile needs 60: a longer run',
    })
    expect(of('50', 6).why).toBeNull()
    expect(of('50', 5).why).toContain('needs 6')
    expect(of('99', null).why).toContain('times of the requests are not known')
  })

  it.each([
    ['50', 6],
    ['90', 30],
    ['10', 30],
    ['95', 60],
    ['99.9', 60],
  ])('the P%s needs %d swings', (p, needed) => expect(swingsNeeded(p)).toBeCloseTo(needed, 9))

  it('gives the one-sided upper end that objectives are decided by, where there is no interval too', () => {
    const few = independent.slice(0, 500)
    const { low, upper } = effectiveInterval(few, '99', '0.95')
    expect(low).toBeNull()
    expect(upper).toBe(effectiveUpperBound(few, '99', '0.95').high)
  })

  it('the interval holds the estimate, and nothing is ever NaN', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 300 }),
        fc.constantFrom('5', '50', '90', '99'),
        (values, p) => {
          const { estimate, low, high, nEff, tailClusters, why } = effectiveInterval(values, p, '0.95')
          for (const x of [estimate, low, high, nEff, tailClusters]) expect(Number.isNaN(x)).toBe(false)
          expect(low === null || low <= (estimate as number)).toBe(true)
          expect(high === null || high >= (estimate as number)).toBe(true)
          expect(low === null || high === null).toBe(why !== null)
        },
      ),
    )
  })
})
