import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HistogramValue } from '../measure/wire/prometheus-histogram.ts'
import { LogBucketSketch } from '../stats/log-bucket-sketch.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import {
  fleetFromClassic,
  fleetFromNative,
  fleetFromQuantiles,
  fleetFromRequests,
  fleetFromSketches,
  levelShare,
} from './fleet-percentiles.ts'

/** Four replicas with exponential latencies, the last one five times as slow: P99 0.6, 0.7, 0.6 and 3.0 s. */
const replicas = [0.6, 0.7, 0.6, 3].map((p99) =>
  Array.from({ length: 1000 }, (_, i) => -(p99 / Math.log(100)) * Math.log(1 - (i + 0.5) / 1000)),
)
const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5]

function classic(values: readonly number[], over = bounds): HistogramValue {
  return {
    buckets: [...over, Number.POSITIVE_INFINITY].map((le) => ({
      le,
      leText: String(le),
      count: values.filter((value) => value <= le).length,
    })),
    sum: null,
    count: values.length,
  }
}

describe('the P99 of a fleet of which one replica is slow', () => {
  it('from the requests it is exact, and their mean is said to mislead', () => {
    const found = fleetFromRequests(replicas, '99')
    expect(found.value).toBeCloseTo(2.088817465177997, 12)
    expect([found.low, found.high, found.n]).toEqual([found.value, found.value, 4000])
    expect(found.warnings.map(({ message }) => message)).toEqual([
      'their mean would be 1.212, together it is 2.089: percentiles cannot be averaged',
    ])
  })

  it('from classic histograms it is known to its bucket, and the error is printed', () => {
    const found = fleetFromClassic(
      replicas.map((values) => classic(values)),
      '99',
    )
    expect([found.low, found.high]).toEqual([1, 2.5])
    expect(found.value).toBeGreaterThan(1)
    expect(found.warnings[0]).toMatchObject({ kind: 'bucket_error' })
    expect(found.warnings[0]?.message).toMatch(
      /^it lies somewhere in the bucket from 1 to 2.5: the estimate may be off by \d+ %$/,
    )
  })

  it('a bound that one of them lacks is left out, which is said', () => {
    const found = fleetFromClassic(
      [classic(replicas[0] ?? [], [0.5, 1, 5]), classic(replicas[3] ?? [])],
      '99',
    )
    expect(found.warnings[0]?.message).toContain('bounds that not all of them have were left out')
  })

  it('in the last bucket it is only known to be larger', () => {
    const found = fleetFromClassic([classic([9, 9, 9])], '50')
    expect([found.value, found.low, found.high]).toEqual([5, 5, null])
  })

  it('from their P99s alone there are bounds and no estimate', () => {
    const found = fleetFromQuantiles(
      [0.6, 0.7, 0.6, 3].map((value) => ({ knots: [[levelShare('99'), value]] as const })),
      '99',
    )
    expect([found.value, found.low, found.high]).toEqual([null, 0.6, 3])
    expect(found.warnings.map(({ kind }) => kind)).toEqual(['averaged_percentiles'])
  })

  it('more quantiles narrow it, ties counted exactly', () => {
    const knots = [
      ['0.3', '0.45', '0.6'],
      ['0.35', '0.5', '0.7'],
      ['0.3', '0.4', '0.6'],
      ['1.5', '1.95', '3.0'],
    ].map((values) => ({
      knots: values.map((value, at) => [levelShare(['90', '95', '99'][at] ?? ''), value] as const),
    }))
    expect(fleetFromQuantiles(knots, '99')).toMatchObject({ low: 1.95, high: 3 })
  })

  it('nothing in, nothing out', () => {
    expect(fleetFromRequests([[], []], '99').value).toBeNull()
    expect(fleetFromSketches([], '99').value).toBeNull()
    expect(fleetFromNative([], '99').value).toBeNull()
    expect(fleetFromClassic([classic([])], '99').value).toBeNull()
  })
})

const lists = fc.array(
  fc.array(fc.double({ min: 0.001, max: 100, noNaN: true }), { minLength: 1, maxLength: 40 }),
  { minLength: 1, maxLength: 4 },
)
const level = fc.constantFrom('50', '90', '99', '99.9')

describe('laws', () => {
  it('however the requests are spread over replicas, together they are the same', () => {
    fc.assert(
      fc.property(lists, level, (all, p) => {
        expect(fleetFromRequests(all, p).value).toBe(percentile(sortAscending(all.flat()), p))
      }),
    )
  })

  it('a sketch holds the exact one within its accuracy', () => {
    fc.assert(
      fc.property(lists, level, (all, p) => {
        const sketches = all.map((values) => {
          const sketch = new LogBucketSketch(0.01)
          for (const value of values) sketch.record(value)
          return sketch
        })
        const exact = fleetFromRequests(all, p).value ?? 0
        const { low, high } = fleetFromSketches(sketches, p)
        expect(exact).toBeGreaterThanOrEqual((low ?? 0) * (1 - 1e-9))
        expect(exact).toBeLessThanOrEqual((high ?? 0) * (1 + 1e-9))
      }),
    )
  })

  it('the bucket of the classic histograms holds the exact one', () => {
    fc.assert(
      fc.property(lists, level, (all, p) => {
        const exact = fleetFromRequests(all, p).value ?? 0
        const { low, high } = fleetFromClassic(
          all.map((values) => classic(values)),
          p,
        )
        expect(exact).toBeGreaterThanOrEqual(low ?? 0)
        expect(exact).toBeLessThanOrEqual(high ?? Number.POSITIVE_INFINITY)
      }),
    )
  })

  it('the bounds from quantiles hold the exact one', () => {
    fc.assert(
      fc.property(lists, level, (all, p) => {
        const exact = fleetFromRequests(all, p).value ?? 0
        const knots = all.map((values) => ({
          weight: values.length,
          knots: ['50', '90', '99'].map(
            (known) => [levelShare(known), percentile(sortAscending(values), known) ?? 0] as const,
          ),
        }))
        const { low, high } = fleetFromQuantiles(knots, p)
        expect(exact).toBeGreaterThanOrEqual(low ?? 0)
        expect(exact).toBeLessThanOrEqual(high ?? Number.POSITIVE_INFINITY)
      }),
    )
  })
})
