import { PlimsollError } from '../../base/errors.ts'
import { escaped } from '../../base/escaped.ts'
import type { ExponentialHistogram } from '../../stats/exponential-histogram.ts'
import type { HistogramValue } from './prometheus-histogram.ts'
import { parsePrometheusNumber } from './prometheus-number.ts'
import type { Labels } from './prometheus-text.ts'

/** One series of an instant query whose sample is a native histogram. */
export interface NativeSeries {
  /** Without `__name__`. */
  readonly labels: Labels
  /** Null where the query took the name away, as `rate` does. */
  readonly name: string | null
  readonly histogram: NativeHistogram
}

export type NativeHistogram =
  | { readonly kind: 'exponential'; readonly value: ExponentialHistogram }
  /** Custom bounds (schema −53, a classic histogram kept as a native one): cumulative buckets, +Inf last. */
  | { readonly kind: 'custom'; readonly value: HistogramValue }

/** A bucket as the HTTP API writes it, and how its bounds belong to it: 0 (left, right], 1 [left, right), 2 ( ), 3 [ ]. */
interface ApiBucket {
  readonly rule: number
  readonly left: number
  readonly right: number
  readonly count: number
}

/** Bounds are printed with all their digits; what is farther off is another kind of bound. */
const boundTolerance = 1e-9
/** The schemas that Prometheus keeps (its documentation of native histograms): −4 … 8. */
const scales = { least: -4, most: 8 } as const

/**
 * The native histograms in an answer of Prometheus' HTTP API to an instant query (`/api/v1/query`, resultType `vector`, member
 * `histogram: [time, {count, sum, buckets: [[rule, left, right, count], …]}]`, of which only populated buckets are written). The
 * schema is not in the answer: it is read from the bounds, which are 2^(i·2^−schema).
 * @throws PlimsollError PLIM_PROMETHEUS with the file for what is no such answer.
 */
export function parseNativeHistograms(text: string, file: string): readonly NativeSeries[] {
  const answer = object(parseJson(text, file))
  const refuse = (received: string, hint?: string): PlimsollError =>
    new PlimsollError('PLIM_PROMETHEUS', 'there is no native histogram in this answer of Prometheus', {
      expected:
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{…},"histogram":[time,{…}]}]}}',
      received: escaped(received, 200),
      where: { file },
      ...(hint === undefined ? {} : { hint }),
    })
  if (answer === null || answer['status'] !== 'success') {
    throw refuse(JSON.stringify(answer?.['error'] ?? answer?.['status'] ?? null))
  }
  const data = object(answer['data'])
  if (data?.['resultType'] !== 'vector') {
    throw refuse(
      `resultType ${JSON.stringify(data?.['resultType'] ?? null)}`,
      'ask /api/v1/query, an instant query, not query_range',
    )
  }
  const result = Array.isArray(data['result']) ? (data['result'] as readonly unknown[]) : []
  const series = result.flatMap((one): readonly NativeSeries[] => {
    const sample: unknown = object(one)?.['histogram']
    const written = object(Array.isArray(sample) ? (sample as readonly unknown[])[1] : null)
    if (written === null) return []
    const { __name__: name = null, ...labels } = (object(object(one)?.['metric']) ?? {}) as Record<
      string,
      string
    >
    return [{ labels, name, histogram: histogramOf(bucketsOf(written, file), file) }]
  })
  if (series.length > 0) return series
  throw refuse(
    result.length === 0 ? 'an empty result' : `${result.length} series of plain numbers`,
    'the query must give histograms, such as vllm:time_to_first_token_seconds or rate(…[5m]) of it; classic buckets go as a scrape (.prom)',
  )
}

function bucketsOf(written: Readonly<Record<string, unknown>>, file: string): readonly ApiBucket[] {
  const list = written['buckets'] ?? []
  const wrong = (received: unknown): PlimsollError =>
    new PlimsollError('PLIM_PROMETHEUS', 'a bucket of a native histogram cannot be read', {
      expected: '[rule, "left", "right", "count"]',
      received: escaped(JSON.stringify(received) ?? String(received)),
      where: { file },
    })
  if (!Array.isArray(list)) throw wrong(list)
  return (list as readonly unknown[]).map((one) => {
    const [rule, ...numbers] = Array.isArray(one) ? (one as readonly unknown[]) : []
    const [left = null, right = null, count = null] = numbers.map((each) =>
      typeof each === 'string' ? parsePrometheusNumber(each) : null,
    )
    if (typeof rule !== 'number' || left === null || right === null || count === null) throw wrong(one)
    if (!(right >= left && count >= 0)) throw wrong(one)
    return { rule, left, right, count }
  })
}

function histogramOf(buckets: readonly ApiBucket[], file: string): NativeHistogram {
  const zero = buckets.filter(
    ({ rule, left, right }) => rule === 3 || (left <= 0 && right >= 0 && left === -right),
  )
  const sided = buckets.filter((bucket) => !zero.includes(bucket))
  const scale = scaleOf(sided)
  if (scale === null) return { kind: 'custom', value: cumulative(buckets, file) }
  const positive = new Map<number, number>()
  const negative = new Map<number, number>()
  for (const { left, right, count } of sided) {
    const [side, upper] = right > 0 ? [positive, right] : [negative, -left]
    side.set(indexOf(upper, scale), count)
  }
  return {
    kind: 'exponential',
    value: {
      scale,
      zeroCount: zero.reduce((sum, { count }) => sum + count, 0),
      zeroThreshold: Math.max(0, ...zero.map(({ right }) => right)),
      positive,
      negative,
    },
  }
}

/** Buckets are numbered from their lower bound: (base^i, base^(i+1)]. */
function indexOf(upper: number, scale: number): number {
  return Math.round(Math.log2(upper) * 2 ** scale) - 1
}

/** The schema whose bounds these are; the finest one for no buckets at all; null where no schema has them. */
function scaleOf(buckets: readonly ApiBucket[]): number | null {
  const first = buckets[0]
  if (first === undefined) return scales.most
  const [low, high] = first.right > 0 ? [first.left, first.right] : [-first.right, -first.left]
  // + 0: no schema is −0.
  const scale = Math.round(-Math.log2(Math.log2(high / low))) + 0
  if (!(low > 0 && scale >= scales.least && scale <= scales.most)) return null
  const isBound = (value: number): boolean => {
    const exact = 2 ** (Math.round(Math.log2(Math.abs(value)) * 2 ** scale) * 2 ** -scale)
    return Math.abs(Math.abs(value) / exact - 1) <= boundTolerance
  }
  return buckets.every(({ left, right }) => left * right > 0 && isBound(left) && isBound(right))
    ? scale
    : null
}

/** Custom buckets start where the one before ends, or at −Inf; those that hold nothing are not written. */
function cumulative(buckets: readonly ApiBucket[], file: string): HistogramValue {
  const sorted = buckets.toSorted((a, b) => a.right - b.right)
  const torn = sorted.find(({ left }, at) => left < (sorted[at - 1]?.right ?? Number.NEGATIVE_INFINITY))
  if (torn !== undefined) {
    throw new PlimsollError('PLIM_PROMETHEUS', 'the buckets of a native histogram overlap', {
      received: `(${torn.left}, ${torn.right}]`,
      where: { file },
    })
  }
  const counts = new Map<number, number>()
  let count = 0
  for (const bucket of sorted) {
    // Nothing lay between the last bucket and this one: the count at its lower bound is known too.
    if (Number.isFinite(bucket.left)) counts.set(bucket.left, count)
    count += bucket.count
    counts.set(bucket.right, count)
  }
  counts.set(Number.POSITIVE_INFINITY, count)
  return {
    buckets: [...counts].map(([le, below]) => ({
      le,
      leText: le === Number.POSITIVE_INFINITY ? '+Inf' : String(le),
      count: below,
    })),
    sum: null,
    count,
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PlimsollError('PLIM_PROMETHEUS', 'this is not JSON', {
      expected: 'an answer of /api/v1/query',
      received: escaped(cause instanceof Error ? cause.message : String(cause), 200),
      where: { file },
      cause,
    })
  }
}

function object(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null
}

/**
 * The same histograms over all bounds that any of them has, so that they can be added. What one counts under a bound of another is known
 * where nothing lies between its own bounds around it; elsewhere the bound is left out.
 */
export function alignBounds(histograms: readonly HistogramValue[]): readonly HistogramValue[] {
  const bounds = new Map(
    histograms.flatMap(({ buckets }) => buckets.map(({ le, leText }) => [le, leText] as const)),
  )
  return histograms.map((histogram) => ({
    ...histogram,
    buckets: [...bounds]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([le, leText]) => {
        const below = histogram.buckets.findLast((bucket) => bucket.le <= le)?.count ?? 0
        const above = histogram.buckets.find((bucket) => bucket.le >= le)?.count ?? below
        return below === above || histogram.buckets.some((bucket) => bucket.le === le)
          ? [{ le, leText, count: histogram.buckets.find((bucket) => bucket.le === le)?.count ?? below }]
          : []
      }),
  }))
}
