import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import {
  addHistograms,
  histogramQuantile,
  type HistogramValue,
} from '../measure/wire/prometheus-histogram.ts'
import {
  exponentialCount,
  exponentialQuantile,
  mergeExponential,
  type ExponentialHistogram,
} from '../stats/exponential-histogram.ts'
import { LogBucketSketch } from '../stats/log-bucket-sketch.ts'
import { fleetPercentileBounds, type ReplicaKnots } from '../stats/mixture.ts'
import { percentile, percentileShare, sortAscending, type Percentile } from '../stats/percentile.ts'
import { toNumber, toRational } from '../stats/rational.ts'
import { averagedPercentiles } from './traps.ts'

/** How a fleet's percentile is known. */
export type FleetMethod = 'requests' | 'sketches' | 'classic_histogram' | 'native_histogram' | 'quantiles'

/** A percentile of several replicas or runs together. */
export interface FleetPercentile {
  readonly method: FleetMethod
  /** The estimate; null where only bounds are known, or nothing. */
  readonly value: number | null
  /** It lies between these: both are the value where requests are pooled. Null: unbounded on that side. */
  readonly low: number | null
  readonly high: number | null
  /** How many observations stand behind it; null: unknown. */
  readonly n: number | null
  /** The same percentile of each alone, for comparison. */
  readonly each: readonly (number | null)[]
  /** What is said about it. */
  readonly warnings: readonly Warning[]
}

/** Exact: all requests in one list, nearest rank. Lists need no order. `unit` is for the words of its warnings, here and below. */
export function fleetFromRequests(
  replicas: readonly (readonly number[])[],
  level: Percentile,
  unit = '',
): FleetPercentile {
  const all = sortAscending(replicas.flat())
  const value = percentile(all, level)
  const each = replicas.map((values) => percentile(sortAscending(values), level))
  return {
    method: 'requests',
    value,
    low: value,
    high: value,
    n: all.length,
    each,
    warnings: spreadWarning(each, value, unit),
  }
}

/** Within the sketches' relative accuracy α: sums of sketches lose nothing. */
export function fleetFromSketches(
  sketches: readonly LogBucketSketch[],
  level: Percentile,
  unit = '',
): FleetPercentile {
  const each = sketches.map((sketch) => sketch.percentile(level))
  const first = sketches[0]
  if (first === undefined) return nothing('sketches')
  const merged = new LogBucketSketch(first.alpha)
  for (const sketch of sketches) merged.merge(sketch)
  const value = merged.percentile(level)
  return {
    method: 'sketches',
    value,
    low: value === null ? null : value / (1 + first.alpha),
    high: value === null ? null : value / (1 - first.alpha),
    n: merged.count,
    each,
    warnings: spreadWarning(each, value, unit),
  }
}

/**
 * From Prometheus classic histograms, added bucket by bucket over the bounds that all of them have. The true value lies in the bucket:
 * `low` < value <= `high`; the interpolated estimate is only as exact as that.
 */
export function fleetFromClassic(
  histograms: readonly HistogramValue[],
  level: Percentile,
  unit = '',
): FleetPercentile {
  const q = toNumber(percentileShare(level))
  const of = (histogram: HistogramValue): ReturnType<typeof histogramQuantile> =>
    histogramQuantile(histogram, q)
  const each = histograms.map((histogram) => {
    const found = of(histogram)
    return found.kind === 'estimate' ? found.value : null
  })
  const merged = addHistograms(histograms)
  const found = of(merged)
  const n = merged.buckets.at(-1)?.count ?? null
  if (found.kind === 'none') return { ...nothing('classic_histogram'), n, each }
  const dropped = Math.max(0, ...histograms.map(({ buckets }) => buckets.length)) - merged.buckets.length
  const high = found.atLeast ? null : found.high
  const error = bucketError(found.value, found.low, high)
  return {
    method: 'classic_histogram',
    value: found.value,
    low: found.low,
    high,
    n,
    each,
    warnings: [
      bucketWarning(found.low, high, error, dropped, unit),
      ...spreadWarning(each, found.value, unit),
    ],
  }
}

/** From native (exponential) histograms at the coarsest of their scales. `factor`: `unit`s in one of the histograms' (1000 for ms of s). */
export function fleetFromNative(
  histograms: readonly ExponentialHistogram[],
  level: Percentile,
  unit = '',
  factor = 1,
): FleetPercentile {
  const scaled = (value: number | null): number | null => (value === null ? null : value * factor)
  const merged = mergeExponential(histograms)
  if (merged === null) return nothing('native_histogram')
  const q = toNumber(percentileShare(level))
  const each = histograms.map((histogram) => scaled(exponentialQuantile(histogram, q).value))
  const found = exponentialQuantile(merged, q)
  const [value, low, high] = [scaled(found.value), scaled(found.low), scaled(found.high)]
  const n = exponentialCount(merged)
  const warnings =
    value === null
      ? []
      : [
          {
            ...bucketWarning(low ?? 0, high, bucketError(value, low ?? 0, high), 0, unit),
            next: 'finer buckets: a smaller native_histogram_bucket_factor, a higher bucket limit',
          },
          ...spreadWarning(each, value, unit),
        ]
  return { method: 'native_histogram', value, low, high, n, each, warnings }
}

/** All that quantiles alone can say: bounds. Weights are the replicas' shares of traffic, equal unless given. */
export function fleetFromQuantiles(replicas: readonly ReplicaKnots[], level: Percentile): FleetPercentile {
  const { low, high } = fleetPercentileBounds(replicas, level)
  const share = toNumber(percentileShare(level))
  const each = replicas.map(({ knots }) => {
    const own = knots.find(([known]) => Math.abs(toNumber(toRational(known)) - share) < 1e-12)
    return own === undefined ? null : toNumber(toRational(own[1]))
  })
  const known = each.filter((value) => value !== null)
  const averaged = averagedPercentiles(known)
  return {
    method: 'quantiles',
    value: null,
    low,
    high,
    n: null,
    each,
    warnings: averaged.warning === null ? [] : [averaged.warning],
  }
}

function nothing(method: FleetMethod): FleetPercentile {
  return { method, value: null, low: null, high: null, n: null, each: [], warnings: [] }
}

/** The largest relative error that the bucket leaves: from the estimate to its farther end. */
function bucketError(value: number, low: number, high: number | null): number | null {
  if (high === null || value <= 0) return null
  return Math.max(value - low, high - value) / value
}

function bucketWarning(
  low: number,
  high: number | null,
  error: number | null,
  dropped: number,
  unit: string,
): Warning {
  const between =
    high === null
      ? `above ${short(low, unit)}, the last finite bucket`
      : `somewhere in the bucket from ${short(low, unit)} to ${short(high, unit)}`
  const off = error === null ? '' : `: the estimate may be off by ${(error * 100).toFixed(0)} %`
  const left =
    dropped > 0
      ? `; ${dropped} ${noun(dropped, 'bound that not all of them have was', 'bounds that not all of them have were')} left out`
      : ''
  return {
    kind: 'bucket_error',
    message: `it lies ${between}${off}${left}`,
    cause: null,
    next: high === null ? 'buckets that reach further' : 'finer buckets at the limit, or native histograms',
    evidence: { low, high, relative_error: error, dropped_bounds: dropped },
  }
}

/** The mean of the single percentiles, where it would mislead. */
function spreadWarning(each: readonly (number | null)[], pooled: number | null, unit: string): Warning[] {
  const known = each.filter((value) => value !== null)
  const { warning } = averagedPercentiles(known)
  if (warning === null || pooled === null) return []
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length
  return [
    {
      ...warning,
      message: `their mean would be ${short(mean, unit)}, together it is ${short(pooled, unit)}: percentiles cannot be averaged`,
      evidence: { ...warning.evidence, mean, pooled },
    },
  ]
}

function short(value: number, unit: string): string {
  return `${Number(value.toPrecision(4))}${unit === '' ? '' : ` ${unit}`}`
}

/** Percent levels as `fleetPercentileBounds` wants them: "99" is 99/100. @throws PlimsollError PLIM_NUMBER. */
export function levelShare(percent: string): string {
  if (!/^\d+(?:\.\d+)?$/.test(percent)) {
    throw new PlimsollError('PLIM_NUMBER', 'this is no percentile', {
      expected: '99 or 99.9',
      received: percent,
    })
  }
  const { num, den } = percentileShare(percent)
  return `${num}/${den}`
}
