import { PlimsollError } from '../../base/errors.ts'
import { parseBucketThreshold, parsePrometheusNumber } from './prometheus-number.ts'
import { type Labels, type Scrape, seriesKey } from './prometheus-text.ts'

/** One bucket of a classic histogram: how many observations were at or under `le`. */
export interface Bucket {
  readonly le: number
  /** The bound as the page wrote it (`1.0`, `1`, `+Inf`). */
  readonly leText: string
  readonly count: number
}

/** A classic histogram, or the increase of one. Buckets are cumulative and sorted by bound. */
export interface HistogramValue {
  readonly buckets: readonly Bucket[]
  /** Null where the page has no such series. */
  readonly sum: number | null
  readonly count: number | null
}

export interface HistogramSeries extends HistogramValue {
  /** The labels without `le`. */
  readonly labels: Labels
  /** When the series began, seconds since 1970; null where the page does not say. */
  readonly createdS: number | null
}

/** Keeps the series that carry all of these labels. */
export type LabelMatch = Readonly<Record<string, string>>

export function matches(labels: Labels, match: LabelMatch | undefined): boolean {
  return match === undefined || Object.entries(match).every(([name, value]) => labels[name] === value)
}

/** Every series of the histogram `name`, one for each set of labels without `le`. */
export function histogramSeries(scrape: Scrape, name: string, match?: LabelMatch): HistogramSeries[] {
  const drafts = new Map<
    string,
    {
      labels: Labels
      buckets: Bucket[]
      sum: number | null
      count: number | null
      createdS: number | null
    }
  >()
  // Its own family, and what a page without TYPE lines scatters over families of its own.
  const names = new Set([`${name}_bucket`, `${name}_sum`, `${name}_count`, `${name}_created`])
  const samples = scrape.families
    .flatMap((family) => family.samples)
    .filter((sample) => names.has(sample.name))
  for (const sample of samples) {
    if (!matches(sample.labels, match)) continue
    const key = seriesKey(sample.labels, 'le')
    let draft = drafts.get(key)
    if (draft === undefined) {
      const { le: _, ...labels } = sample.labels
      draft = { labels, buckets: [], sum: null, count: null, createdS: null }
      drafts.set(key, draft)
    }
    if (sample.name === `${name}_sum`) draft.sum = sample.value
    else if (sample.name === `${name}_count`) draft.count = sample.value
    else if (sample.name === `${name}_created`) draft.createdS = sample.value
    else {
      const leText = sample.labels['le'] ?? ''
      const le = parsePrometheusNumber(leText)
      if (le === null || Number.isNaN(le)) continue
      if (!draft.buckets.some((bucket) => bucket.le === le)) {
        draft.buckets.push({ le, leText, count: sample.value })
      }
    }
  }
  const series = [...drafts.values()].filter((draft) => draft.buckets.length > 0 || draft.count !== null)
  for (const draft of series) draft.buckets.sort((a, b) => a.le - b.le)
  return series
}

/** The sum over series, over the bounds that all of them have: a bound that one lacks says nothing about the whole. */
export function addHistograms(series: readonly HistogramValue[]): HistogramValue {
  const [first, ...rest] = series
  if (first === undefined) return { buckets: [], sum: null, count: null }
  const buckets = first.buckets.flatMap((bucket) => {
    let count = bucket.count
    for (const other of rest) {
      const same = other.buckets.find((candidate) => candidate.le === bucket.le)
      if (same === undefined) return []
      count += same.count
    }
    return [{ ...bucket, count }]
  })
  return { buckets, sum: addAll(series, 'sum'), count: addAll(series, 'count') }
}

function addAll(series: readonly HistogramValue[], field: 'sum' | 'count'): number | null {
  let total = 0
  for (const one of series) {
    const value = one[field]
    if (value === null) return null
    total += value
  }
  return total
}

/** The histogram `name` of a page, all its series (that match) added. Null where the page has none. */
export function histogramOf(scrape: Scrape, name: string, match?: LabelMatch): HistogramValue | null {
  const series = histogramSeries(scrape, name, match)
  return series.length === 0 ? null : addHistograms(series)
}

export type BucketLookup =
  | { readonly kind: 'found'; readonly le: string; readonly good: number }
  /** No bucket has this bound: how many were under it cannot be known. The neighbours as the page writes them; null: there is none. */
  | { readonly kind: 'no_bucket'; readonly below: string | null; readonly above: string | null }

/** The bucket at a threshold. Bounds are numbers: `1`, `1.0`, `1.00` and `1000ms` are the same one. Throws PLIM_NUMBER. */
export function bucketAt(histogram: HistogramValue, threshold: string | number): BucketLookup {
  const le = typeof threshold === 'number' ? threshold : parseBucketThreshold(threshold)
  if (le === null || Number.isNaN(le)) {
    throw new PlimsollError('PLIM_NUMBER', 'cannot read the threshold of a bucket', {
      expected: 'seconds, or a duration like 500ms',
      received: JSON.stringify(threshold),
    })
  }
  let below: string | null = null
  for (const bucket of histogram.buckets) {
    if (bucket.le === le) return { kind: 'found', le: bucket.leText, good: bucket.count }
    if (bucket.le > le) return { kind: 'no_bucket', below, above: bucket.leText }
    below = bucket.leText
  }
  return { kind: 'no_bucket', below, above: null }
}

export type QuantileEstimate =
  | {
      readonly kind: 'estimate'
      readonly value: number
      /** The quantile lies above the last finite bound: `value` is that bound, the truth is larger. */
      readonly atLeast: boolean
      /** The bucket that it was interpolated in: the truth lies between these. */
      readonly low: number
      readonly high: number
      /** Some bucket counted less than the one before it, and was raised. */
      readonly repaired: boolean
    }
  | {
      readonly kind: 'none'
      readonly reason: 'no_observations' | 'no_inf_bucket' | 'no_finite_bucket' | 'not_a_number'
    }

/**
 * The `q`-quantile as Prometheus' `histogram_quantile` has it: the bucket in which the rank q·count falls, and linear interpolation
 * between its bounds, the first bucket starting at 0 (a first bound at or under 0 is returned itself). Where q and the counts are
 * decimal the rank is compared exactly, so that 0.98 of 100 is 98. Throws PLIM_NUMBER for q outside [0, 1].
 */
export function histogramQuantile(histogram: HistogramValue, q: number | string): QuantileEstimate {
  const share = Number(q)
  if (!(share >= 0 && share <= 1)) {
    throw new PlimsollError('PLIM_NUMBER', 'a quantile lies between 0 and 1', { received: String(q) })
  }
  const { buckets } = histogram
  const last = buckets.at(-1)
  if (last === undefined || last.le !== Number.POSITIVE_INFINITY)
    return { kind: 'none', reason: 'no_inf_bucket' }
  if (buckets.some((bucket) => Number.isNaN(bucket.count))) return { kind: 'none', reason: 'not_a_number' }
  const counts: number[] = []
  let repaired = false
  for (const [index, bucket] of buckets.entries()) {
    const before = counts[index - 1] ?? 0
    if (bucket.count < before) repaired = true
    counts.push(Math.max(before, bucket.count))
  }
  const total = counts.at(-1) ?? 0
  if (total <= 0) return { kind: 'none', reason: 'no_observations' }
  if (buckets.length < 2) return { kind: 'none', reason: 'no_finite_bucket' }
  const index = counts.findIndex((count) => count > 0 && compareRank(count, String(q), total) >= 0)
  const bucket = buckets[index] as Bucket
  const under = counts[index - 1] ?? 0
  if (index === buckets.length - 1) {
    const bound = (buckets[index - 1] as Bucket).le
    return {
      kind: 'estimate',
      value: bound,
      atLeast: true,
      low: bound,
      high: Number.POSITIVE_INFINITY,
      repaired,
    }
  }
  const high = bucket.le
  const low = index === 0 ? Math.min(0, high) : (buckets[index - 1] as Bucket).le
  const upTo = counts[index] as number
  const onBound = compareRank(upTo, String(q), total) === 0
  const value = onBound ? high : low + (high - low) * Math.max(0, (share * total - under) / (upTo - under))
  return { kind: 'estimate', value, atLeast: false, low, high, repaired }
}

/** count − q·total as a sign, exactly for whole counts and a decimal q. */
function compareRank(count: number, q: string, total: number): number {
  const decimal = /^\+?(\d*)\.?(\d*)$/.exec(q)
  if (decimal === null || !Number.isSafeInteger(count) || !Number.isSafeInteger(total)) {
    return Math.sign(count - Number(q) * total)
  }
  const [, whole = '', fraction = ''] = decimal
  const difference =
    BigInt(count) * 10n ** BigInt(fraction.length) - BigInt(`${whole}${fraction}`) * BigInt(total)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

/** sum ÷ count, in the unit of the metric; null without observations or without either series. */
export function histogramMean(histogram: HistogramValue): number | null {
  const { sum, count } = histogram
  if (sum === null || count === null || !(count > 0) || !Number.isFinite(sum)) return null
  return sum / count
}

/** The share of observations at or under a bound that the histogram has; null without observations or without the bucket. */
export function fractionAtMost(histogram: HistogramValue, threshold: string | number): number | null {
  const found = bucketAt(histogram, threshold)
  const total = histogram.count ?? histogram.buckets.at(-1)?.count ?? 0
  return found.kind === 'found' && total > 0 ? found.good / total : null
}
