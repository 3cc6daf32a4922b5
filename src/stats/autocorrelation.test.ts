import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream, sfc32, standardNormal } from '../base/random.ts'
import { exceedanceIact, exceedanceMemory, iact, seriesMemory } from './autocorrelation.ts'
import { batchMeansTime, longestBatchTime, slowMemory } from './batch-means.ts'

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
    expect(seriesMemory(values).tau).toBeLessThan(2)
    expect(batchMeansTime(values.subarray(0, 60), 20)).toBeNull()
    expect(batchMeansTime([1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 2)).toBeNull()
  })
  it('of an autoregression of 0.8 is near its (1 + ρ) ÷ (1 − ρ) = 9 by batch means too', () => {
    const random = randomStream(3, 'autoregression')
    let last = 0
    const series = Array.from({ length: 100_000 }, () => (last = 0.8 * last + standardNormal(random)))
    expect(batchMeansTime(series, 500)).toBeGreaterThan(7.5)
    expect(batchMeansTime(series, 500)).toBeLessThan(10.5)
  })
  it('is widened by the t of few batches: ten count by (2.26 ÷ 1.96)²', () => {
    const steps = Float64Array.from({ length: 60 }, (_, i) => Math.floor(i / 6) % 2)
    expect(slowMemory(steps)).toBeCloseTo((batchMeansTime(steps, 10) ?? 0) * 1.3322, 3)
    expect(longestBatchTime(steps)).toBe(batchMeansTime(steps, 10))
  })
})
