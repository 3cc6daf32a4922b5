import type { Published, PublishedMetric } from './imported-run.ts'
import { numberOf, type JsonRecord, type JsonValue } from './json-value.ts'

/** Numbers that tools write for "there is none": beside NaN and infinities, JavaScript's largest integer and −1. */
export function standIn(value: JsonValue | undefined): string | null {
  if (typeof value === 'number' && Number.isNaN(value)) return 'NaN in the file: not measured'
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${value} in the file: a stand-in for "none"`
  const number = numberOf(value)
  if (number === null) return value === null ? 'null in the file' : 'not in the file'
  if (Math.abs(number) >= Number.MAX_SAFE_INTEGER) return `${number} in the file: a stand-in for "none"`
  return null
}

export interface PublishOptions {
  /** ms ÷ the file's unit: 1000 for seconds. */
  readonly scale?: number
  readonly unit?: Published['unit']
  /** Whether a zero can be a measurement; a latency of exactly 0 never is one. */
  readonly zeroIsNone?: boolean
  /** Requests that succeeded; with none, every figure of theirs is a stand-in. */
  readonly ok?: number | null
}

/** One published figure, with its stand-ins taken for what they are. */
export function publish(
  name: string,
  value: JsonValue | undefined,
  metric: PublishedMetric,
  statistic: string,
  options: PublishOptions = {},
): Published {
  const isLatency =
    metric === 'ttft_ms' || metric === 'tpot_ms' || metric === 'gaps_ms' || metric === 'e2e_ms'
  const unit = options.unit ?? (isLatency ? 'ms' : '')
  const number = numberOf(value)
  const zeroIsNone = options.zeroIsNone ?? (isLatency && statistic !== 'std' && metric !== 'gaps_ms')
  let why = standIn(value)
  if (why === null && isLatency && number !== null && number < 0)
    why = `${number} in the file: a stand-in for "none"`
  if (why === null && options.ok === 0) why = `${number} in the file, but no request succeeded`
  if (why === null && number === 0 && zeroIsNone) why = '0 in the file: a placeholder, no latency is 0'
  return {
    name,
    value: why !== null || number === null ? null : number * (options.scale ?? 1),
    unit,
    metric,
    statistic,
    why,
  }
}

const spelled: Readonly<Record<string, string>> = {
  mean: 'mean',
  avg: 'mean',
  average: 'mean',
  med: '50',
  median: '50',
  std: 'std',
  stddev: 'std',
  std_dev: 'std',
  min: 'min',
  max: 'max',
}

/** What a key of a distribution says: `p99`, `p99.9`, `p99_9`, `p(95)`, `95th`, `percentile_99`, `p001` of GuideLLM, `mean`, …; null: nothing known. */
export function statisticOf(key: string): string | null {
  const known = Object.hasOwn(spelled, key.toLowerCase()) ? spelled[key.toLowerCase()] : undefined
  if (known !== undefined) return known
  const found = /^(?:p|p\(|percentile_)?(\d+(?:[._]\d+)?)\)?(?:th|st|nd|rd)?$/i.exec(key)
  return found === null ? null : (found[1] ?? '').replace('_', '.')
}

/** Every statistic of an object like `{"mean": 1.4, "p99": 2.0}`. */
export function publishAll(
  path: string,
  record: JsonRecord | null,
  metric: PublishedMetric,
  options: PublishOptions = {},
): Published[] {
  if (record === null) return []
  return Object.entries(record).flatMap(([key, value]) => {
    const statistic = statisticOf(key)
    return statistic === null || typeof value === 'object'
      ? []
      : [publish(`${path}.${key}`, value, metric, statistic, options)]
  })
}

/** Milliseconds in a unit of time as tools spell it; null: no unit of time known here. */
export function msPerUnit(unit: string): number | null {
  const known: Readonly<Record<string, number>> = {
    ns: 1e-6,
    nanoseconds: 1e-6,
    us: 1e-3,
    µs: 1e-3,
    microseconds: 1e-3,
    ms: 1,
    milliseconds: 1,
    millisecond: 1,
    s: 1000,
    sec: 1000,
    seconds: 1000,
    second: 1000,
    min: 60_000,
    minutes: 60_000,
  }
  const key = unit.trim().toLowerCase()
  return Object.hasOwn(known, key) ? (known[key] ?? null) : null
}
