/** The engines and gateways whose metrics are known. */
export type EngineId =
  | 'vllm'
  | 'sglang'
  | 'tgi'
  | 'trtllm'
  | 'dynamo'
  | 'llamacpp'
  | 'llm-d'
  | 'otel'
  | 'plimsoll'

export type KnownType = 'counter' | 'gauge' | 'histogram'

/** A metric as it stands on the engine's page: a counter with its `_total` where it has one, a histogram without `_bucket`. */
export interface KnownMetric {
  readonly name: string
  readonly type: KnownType
  /** Labels beyond the engine's own. */
  readonly labels: readonly string[]
  /** Finite upper bounds in the metric's unit as decimal text; null: not known, or made from the engine's settings. */
  readonly buckets: readonly string[] | null
}

/** A name that is gone, or never was but is in use. */
export interface Rename {
  readonly from: string
  /** Null: nothing took its place. */
  readonly to: string | null
  readonly note: string
}

/** What one engine shows, and what it used to. */
export interface Catalogue {
  readonly engine: EngineId
  readonly title: string
  /** What its names begin with. */
  readonly prefix: string
  /** Labels on all of its series. */
  readonly labels: readonly string[]
  readonly metrics: readonly KnownMetric[]
  readonly renames: readonly Rename[]
  /** The snapshot of the engine's source that this list was read from. */
  readonly asOf: string
  /** What sets its buckets; null: they are fixed. */
  readonly bucketSetting: string | null
}

/** The catalogue's own version: it changes with every change of a name, type, label or bucket. */
export const catalogueVersion = '2026.08.2'

export function counters(prefix: string, names: string, ...labels: readonly string[]): KnownMetric[] {
  return listed(prefix, names, 'counter', labels, null)
}

export function gauges(prefix: string, names: string, ...labels: readonly string[]): KnownMetric[] {
  return listed(prefix, names, 'gauge', labels, null)
}

export function histograms(
  prefix: string,
  names: string,
  buckets: string | null,
  ...labels: readonly string[]
): KnownMetric[] {
  return listed(prefix, names, 'histogram', labels, buckets === null ? null : words(buckets))
}

function listed(
  prefix: string,
  names: string,
  type: KnownType,
  labels: readonly string[],
  buckets: readonly string[] | null,
): KnownMetric[] {
  return words(names).map((name) => ({ name: prefix + name, type, labels, buckets }))
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** The names of a metric's series on the page: a histogram has three. */
export function seriesNames(metric: KnownMetric): readonly string[] {
  if (metric.type !== 'histogram') return [metric.name]
  return ['_bucket', '_sum', '_count'].map((suffix) => metric.name + suffix)
}
