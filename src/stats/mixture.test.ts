import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential, sfc32 } from '../base/random.ts'
import {
  exponentialDistribution,
  lognormalDistribution,
  paretoDistribution,
  uniformDistribution,
} from './latency-distributions.ts'
import { decomposeMix, fleetPercentileBounds, mixtureQuantile, populationStability } from './mixture.ts'
import { percentile, sortAscending } from './percentile.ts'
import {
  anySlow,
  anySlowBounds,
  anySlowCorrelated,
  exponentialPercentileScatter,
  neededPerCall,
  tailCountError,
} from './tail-at-scale.ts'

const positive = fc.double({ min: 0.1, max: 10, noNaN: true })

describe('mixtures', () => {
  it('each distribution is undone by its quantile, and a mixture of one is itself', () => {
    fc.assert(
      fc.property(positive, positive, fc.double({ min: 0.01, max: 0.999, noNaN: true }), (a, b, p) => {
        for (const distribution of [
          exponentialDistribution(a),
          lognormalDistribution(a, b),
          uniformDistribution(a, a + b),
          paretoDistribution(a, b),
        ]) {
          expect(distribution.cdf(distribution.quantile(p))).toBeCloseTo(p, 9)
          expect(distribution.tail(distribution.quantile(p))).toBeCloseTo(1 - p, 9)
          const alone = mixtureQuantile([{ weight: 3, distribution }], p)
          expect(alone / distribution.quantile(p)).toBeCloseTo(1, 9)
        }
      }),
    )
  })
  it('a mixture lies between its parts, and its weights scale away', () => {
    fc.assert(
      fc.property(positive, positive, positive, positive, (a, b, v, w) => {
        const parts = [
          { weight: v, distribution: exponentialDistribution(a) },
          { weight: w, distribution: exponentialDistribution(b) },
        ]
        const found = mixtureQuantile(parts, 0.99)
        const each = parts.map(({ distribution }) => distribution.quantile(0.99))
        expect(found).toBeGreaterThanOrEqual(Math.min(...each) * (1 - 1e-12))
        expect(found).toBeLessThanOrEqual(Math.max(...each) * (1 + 1e-12))
        const scaled = mixtureQuantile(
          parts.map((part) => ({ ...part, weight: part.weight * 7 })),
          0.99,
        )
        expect(scaled).toBeCloseTo(found, 8)
      }),
    )
    expect(() => mixtureQuantile([], 0.5)).toThrow('mixture')
  })
  it('mix and within add up to the move', () => {
    const parts = (share: number, slow: number): Parameters<typeof mixtureQuantile>[0] => [
      { weight: 1 - share, distribution: uniformDistribution(0.2, 0.8) },
      { weight: share, distribution: uniformDistribution(0.8, slow) },
    ]
    const { total, mix, within } = decomposeMix(parts(0.02, 1.6), parts(0.05, 1.9), 0.99)
    expect(mix + within).toBeCloseTo(total, 12)
    expect(decomposeMix(parts(0.02, 1.6), parts(0.02, 1.9), 0.99).mix).toBe(0)
  })
  it('a segment that appears from nothing shifts the mix, finitely', () => {
    expect(populationStability([1, 0], [0.9, 0.1])).toBeGreaterThan(0.1)
    expect(Number.isFinite(populationStability([1], [0.5, 0.5]))).toBe(true)
    expect(populationStability([2, 2], [5, 5])).toBe(0)
  })
})

describe('fleet bounds', () => {
  it('hold the truth of any samples, and tighten with more knots', () => {
    const replica = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 20, maxLength: 60 })
    fc.assert(
      fc.property(
        fc.array(replica, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('50', '90', '95', '99'),
        (replicas, p) => {
          const knots = (levels: readonly string[]) =>
            replicas.map((values) => ({
              weight: values.length,
              knots: levels.map((level): [string, number] => [
                `${level}%`,
                percentile(sortAscending(values), level) as number,
              ]),
            }))
          const truth = percentile(sortAscending(replicas.flat()), p) as number
          const few = fleetPercentileBounds(knots([p]), p)
          const many = fleetPercentileBounds(knots(['50', '75', '90', '95', '99', '100']), p)
          for (const { low, high } of [few, many]) {
            expect(low === null || low <= truth).toBe(true)
            expect(high === null || high >= truth).toBe(true)
          }
          expect(many.low ?? 0).toBeGreaterThanOrEqual(few.low ?? 0)
          expect(many.high ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
            few.high ?? Number.POSITIVE_INFINITY,
          )
        },
      ),
    )
    expect(fleetPercentileBounds([], '99')).toEqual({ low: null, high: null })
    expect(fleetPercentileBounds([{ knots: [['0.99', 3]] }], '99')).toEqual({ low: 3, high: 3 })
    expect(fleetPercentileBounds([{ knots: [['0.9', 3]] }], '99')).toEqual({ low: 3, high: null })
  })
})

describe('tail at scale', () => {
  it('correlation lies between independence and one common fate', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 0.5, noNaN: true }),
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        (q, k, icc) => {
          const { low, high } = anySlowBounds(q, k)
          const found = anySlowCorrelated(q, k, icc)
          expect(found).toBeLessThanOrEqual(anySlow(q, k) * (1 + 1e-12))
          expect(found).toBeGreaterThanOrEqual(low * (1 - 1e-12))
          expect(anySlow(q, k)).toBeLessThanOrEqual(high * (1 + 1e-12))
          expect(anySlow(neededPerCall(q, k), k)).toBeCloseTo(q, 12)
        },
      ),
    )
  })
  it('the scatter of a P99 agrees with 3,000 simulated runs of 100', () => {
    const random = sfc32(8, 8, 8)
    const found = exponentialPercentileScatter(100, '99')
    let sum = 0
    let under = 0
    for (let run = 0; run < 3000; run++) {
      const estimate = percentile(
        sortAscending(Array.from({ length: 100 }, () => exponential(random))),
        '99',
      ) as number
      sum += estimate / 3000
      if (estimate < Math.log(100)) under++
    }
    expect(sum).toBeCloseTo(found?.mean as number, 1)
    expect(under / 3000).toBeCloseTo(found?.underestimates as number, 1)
    expect(exponentialPercentileScatter(0, '99')).toBeNull()
    expect(tailCountError('100', 10)).toBeNull()
  })
})
