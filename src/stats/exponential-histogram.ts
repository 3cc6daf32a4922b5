import { PlimsollError } from '../base/errors.ts'
import type { BucketQuantile } from './classic-histogram.ts'

/**
 * A base-2 exponential histogram as OpenTelemetry and Prometheus (native) keep it: bucket `index` holds values in
 * (base^index, base^(index+1)], base = 2^(2^−scale). Prometheus numbers the same buckets one higher.
 */
export interface ExponentialHistogram {
  readonly scale: number
  /** Observations whose size is at most `zeroThreshold`. */
  readonly zeroCount: number
  readonly zeroThreshold: number
  readonly positive: ReadonlyMap<number, number>
  readonly negative: ReadonlyMap<number, number>
}

/** Growth of the buckets at a scale. */
export function exponentialBase(scale: number): number {
  return 2 ** (2 ** -scale)
}

/** Largest relative error of a bucket's harmonic midpoint 2lu ÷ (l + u): (base − 1) ÷ (base + 1). */
export function exponentialRelativeError(scale: number): number {
  const base = exponentialBase(scale)
  return (base - 1) / (base + 1)
}

/** The bucket of a positive value. */
export function exponentialIndex(value: number, scale: number): number {
  const index = Math.ceil(Math.log2(value) * 2 ** scale) - 1
  // The logarithm of a bound is rounded: move by one where the bound itself says otherwise.
  if (value <= 2 ** (index * 2 ** -scale)) return index - 1
  if (value > 2 ** ((index + 1) * 2 ** -scale)) return index + 1
  return index
}

/** The largest scale at which values from `low` to `high` fit into `maxBuckets`; between −10 and 20. */
export function largestScale(low: number, high: number, maxBuckets: number): number {
  if (!(low > 0 && high >= low && maxBuckets >= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a range of positive values and at least one bucket are needed', {
      received: `${low} to ${high} in ${maxBuckets}`,
    })
  }
  for (let scale = 20; scale > -10; scale--) {
    if (exponentialIndex(high, scale) - exponentialIndex(low, scale) + 1 <= maxBuckets) return scale
  }
  return -10
}

/** Adds histograms at the smallest of their scales: exact, since each bucket is a union of finer ones. */
export function mergeExponential(histograms: readonly ExponentialHistogram[]): ExponentialHistogram | null {
  if (histograms.length === 0) return null
  const scale = Math.min(...histograms.map((histogram) => histogram.scale))
  const zeroThreshold = Math.max(...histograms.map((histogram) => histogram.zeroThreshold))
  const positive = new Map<number, number>()
  const negative = new Map<number, number>()
  let zeroCount = 0
  for (const histogram of histograms) {
    zeroCount += histogram.zeroCount
    const shift = histogram.scale - scale
    for (const [from, to] of [
      [histogram.positive, positive],
      [histogram.negative, negative],
    ] as const) {
      for (const [index, count] of from) {
        const coarse = Math.floor(index / 2 ** shift)
        to.set(coarse, (to.get(coarse) ?? 0) + count)
      }
    }
  }
  return { scale, zeroCount, zeroThreshold, positive, negative }
}

/** All observations; a fraction where the histogram is a rate. */
export function exponentialCount({ positive, negative, zeroCount }: ExponentialHistogram): number {
  return [...positive.values(), ...negative.values()].reduce((sum, count) => sum + count, zeroCount)
}

/** Where a share `fraction` of a bucket lies: geometric, as Prometheus 3 does in native buckets. */
export function geometricPosition(lower: number, upper: number, fraction: number): number {
  return lower * (upper / lower) ** fraction
}

/** Quantile with geometric interpolation; null without observations. `q` in [0, 1]. */
export function exponentialQuantile(histogram: ExponentialHistogram, q: number): BucketQuantile {
  const { scale, zeroCount, zeroThreshold } = histogram
  const bound = (index: number): number => 2 ** (index * 2 ** -scale)
  const negative = [...histogram.negative].sort(([a], [b]) => b - a)
  const positive = [...histogram.positive].sort(([a], [b]) => a - b)
  const buckets: { low: number; high: number; count: number }[] = [
    ...negative.map(([index, count]) => ({ low: -bound(index + 1), high: -bound(index), count })),
    { low: negative.length > 0 ? -zeroThreshold : 0, high: zeroThreshold, count: zeroCount },
    ...positive.map(([index, count]) => ({ low: bound(index), high: bound(index + 1), count })),
  ].filter(({ count }) => count > 0)
  const total = buckets.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return { value: null, low: null, high: null, open: false }
  const rank = q * total
  let under = 0
  for (const { low, high, count } of buckets) {
    if (under + count >= rank) {
      const fraction = (rank - under) / count
      const value =
        low > 0
          ? geometricPosition(low, high, fraction)
          : high < 0
            ? -geometricPosition(-high, -low, 1 - fraction)
            : low + (high - low) * fraction
      return { value, low, high, open: false }
    }
    under += count
  }
  const last = buckets.at(-1) as { low: number; high: number }
  return { value: last.high, low: last.low, high: last.high, open: false }
}
