import { PlimsollError } from '../base/errors.ts'

/** A cumulative bucket as Prometheus exposes it: how many observations were at or under the bound. */
export type ClassicBucket = readonly [upperBound: number, cumulativeCount: number]

/** A quantile from buckets, with what the buckets leave open. */
export interface BucketQuantile {
  /** Interpolated inside the bucket; in the open bucket the last finite bound, an underestimate. Null without observations. */
  readonly value: number | null
  /** The bucket that holds it: the true quantile is above `low` and at most `high`. */
  readonly low: number | null
  readonly high: number | null
  /** It fell in the +Inf bucket: `value` is only a lower bound. */
  readonly open: boolean
}

const none: BucketQuantile = { value: null, low: null, high: null, open: false }

/**
 * Quantile of a classic histogram as Prometheus computes it: rank q·total, linear inside the bucket, the first bucket
 * starting at 0 when its bound is positive. The last bucket counts as the total where +Inf is missing. `q` in [0, 1].
 */
export function classicQuantile(buckets: readonly ClassicBucket[], q: number): BucketQuantile {
  if (!(q >= 0 && q <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a quantile lies between 0 and 1', { received: String(q) })
  }
  const sorted = monotone(buckets)
  const last = sorted.at(-1)
  if (last === undefined || last[1] <= 0) return none
  const rank = q * last[1]
  const index = sorted.findIndex(([, count]) => count >= rank)
  const [upper, count] = sorted[index] as ClassicBucket
  const before = index === 0 ? null : (sorted[index - 1] as ClassicBucket)
  if (upper === Number.POSITIVE_INFINITY) {
    return { value: before?.[0] ?? null, low: before?.[0] ?? null, high: null, open: true }
  }
  if (before === null && upper <= 0) return { value: upper, low: null, high: upper, open: false }
  const low = before?.[0] ?? 0
  const under = before?.[1] ?? 0
  const value = count === under ? upper : low + ((upper - low) * (rank - under)) / (count - under)
  return { value, low, high: upper, open: false }
}

/**
 * Adds cumulative histograms bucket by bucket: the only right way to a fleet's quantile from buckets. Bounds that not all
 * of them have are left out, since nothing is known there; counts stay exact.
 */
export function mergeClassic(histograms: readonly (readonly ClassicBucket[])[]): ClassicBucket[] {
  const merged = new Map<number, { sum: number; seen: number }>()
  for (const histogram of histograms) {
    for (const [bound, count] of monotone(histogram)) {
      const entry = merged.get(bound) ?? { sum: 0, seen: 0 }
      merged.set(bound, { sum: entry.sum + count, seen: entry.seen + 1 })
    }
  }
  return [...merged]
    .filter(([, { seen }]) => seen === histograms.length)
    .map(([bound, { sum }]): ClassicBucket => [bound, sum])
    .sort(([a], [b]) => a - b)
}

/** Share of observations at or under a limit; an interval where the limit lies inside a bucket. Null without observations. */
export function classicShareUnder(
  buckets: readonly ClassicBucket[],
  limit: number,
): { readonly low: number; readonly high: number } | null {
  const sorted = monotone(buckets)
  const total = sorted.at(-1)?.[1] ?? 0
  if (total <= 0) return null
  const below = sorted.findLast(([bound]) => bound <= limit)
  const above = sorted.find(([bound]) => bound >= limit)
  return { low: (below?.[1] ?? 0) / total, high: (above?.[1] ?? total) / total }
}

/** Sorted by bound, equal bounds joined, and never falling: scrapes of a live server may be torn by an observation. */
function monotone(buckets: readonly ClassicBucket[]): ClassicBucket[] {
  const sums = new Map<number, number>()
  for (const [bound, count] of buckets) {
    if (!Number.isNaN(bound) && !Number.isNaN(count)) sums.set(bound, Math.max(count, sums.get(bound) ?? 0))
  }
  let reached = 0
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([bound, count]): ClassicBucket => {
      reached = Math.max(reached, count)
      return [bound, reached]
    })
}
