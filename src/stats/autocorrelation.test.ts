import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential, randomStream, sfc32, standardNormal } from '../base/random.ts'
import {
  autocorrelations,
  batchIact,
  effectiveInterval,
  effectiveUpperBound,
  exceedanceIact,
  exceedanceMemory,
  iact,
} from './autocorrelation.ts'

describe('exceedanceIact', () => {
  it('agrees with the autocorrelation of the indicator written out', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 3, maxLength: 400 }), (bits) => {
        fc.pre(bits.includes(true) && bits.includes(false))
        const values = bits.map(Number)
        const direct = exceedanceIact(values, 0.5)
        const whole = iact(values)
        expect(direct.window).toBe(whole.window)
        expect(direct.tau).toBeCloseTo(whole.tau as number, 8)
      }),
    )
  })

  it('the transform beyond lag 256 continues the direct sums', () => {
    const values = Array.from({ length: 8192 }, (_, i) => Number(i % 2048 < 1024))
    const direct = exceedanceIact(values, 0.5)
    const mean = 0.5
    let tau = 1
    const scale = values.reduce((sum, v) => sum + (v - mean) ** 2, 0)
    for (let k = 1; k <= (direct.window as number); k++) {
      let sum = 0
      for (let t = 0; t + k < values.length; t++)
        sum += ((values[t] as number) - mean) * ((values[t + k] as number) - mean)
      tau += (2 * sum) / scale
    }
    expect(direct.window).toBeGreaterThan(256)
    expect(direct.tau).toBeCloseTo(tau, 8)
    const whole = iact(values)
    expect(whole.window).toBe(direct.window)
    expect(whole.tau).toBeCloseTo(tau, 8)
  })

  it('an autoregression of 0.8 has τ near 9, white noise near 1', () => {
    const random = sfc32(1, 2, 3)
    let last = 0
    const series = Array.from({ length: 50_000 }, () => (last = 0.8 * last + standardNormal(random)))
    expect(iact(series).tau).toBeGreaterThan(8)
    expect(iact(series).tau).toBeLessThan(10)
    const noise = Array.from({ length: 50_000 }, () => standardNormal(random))
    expect(iact(noise).tau).toBeCloseTo(1, 1)
  })

  it('a series that never crosses says nothing', () => {
    expect(exceedanceIact([1, 1, 1], 2)).toEqual({ tau: null, nEff: null, window: null })
    expect(autocorrelations([])).toBeNull()
  })
})

describe('slow memory', () => {
  it('that Sokal’s window misses is seen by batch means', () => {
    const random = randomStream(1, 'slow')
    // Nearly all of each value is its own; a small part of it moves over hundreds of values.
    let slow = 0
    const values = Float64Array.from({ length: 10_000 }, () => {
      slow = 0.998 * slow + Math.sqrt(1 - 0.998 ** 2) * standardNormal(random)
      return standardNormal(random) + 0.4 * slow
    })
    const { tau } = exceedanceIact(values, 0)
    const memory = exceedanceMemory(values, 0)
    expect(tau).toBeLessThan(3)
    expect(memory.tau).toBeGreaterThan(5 * (tau ?? 0))
    expect(memory.nEff).toBeCloseTo(10_000 / (memory.tau ?? 1), 9)
  })
  it('is not found where there is none, and too short a run has no batches', () => {
    const random = randomStream(2, 'none')
    const values = Float64Array.from({ length: 4000 }, () => random.next())
    expect(exceedanceMemory(values, 0.5).tau).toBeLessThan(2)
    expect(batchIact(values.subarray(0, 60), 0.5, 20)).toBeNull()
    expect(batchIact(values, 2, 20)).toBeNull()
  })
})

describe('effectiveInterval', () => {
  const random = sfc32(5, 6, 7)
  const independent = Array.from({ length: 20_000 }, () => exponential(random))

  it('of independent values is close to the order statistics', () => {
    const found = effectiveInterval(independent, '99', '0.95')
    expect(found.why).toBeNull()
    expect(found.low).toBeLessThan(Math.log(100))
    expect(found.high).toBeGreaterThan(Math.log(100))
    expect(found.nEff).toBeGreaterThan(12_000)
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
    expect((found.nEff as number) / repeated.length).toBeGreaterThan(0.15)
    expect((found.nEff as number) / repeated.length).toBeLessThan(0.26)
  })

  it('an upper bound of P99 needs 299 effective values', () => {
    const alternating = Array.from({ length: 298 }, (_, i) => (i % 100 === 0 ? 5 : 1))
    expect(effectiveUpperBound(alternating, '99', '0.95').high).toBeNull()
    expect(effectiveUpperBound(independent, '99', '0.95').high).toBeGreaterThan(
      effectiveUpperBound(independent, '99', '0.95').estimate as number,
    )
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
