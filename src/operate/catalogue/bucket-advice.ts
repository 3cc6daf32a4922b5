import type { ObjectiveMetric } from '../../measure/metrics/objective.ts'
import { compare, parseRational, toDecimalText, toNumber, type Rational } from '../../stats/rational.ts'
import type { EngineId } from './catalogue.ts'
import { logBucketsAt } from './dynamo-buckets.ts'
import { catalogues } from './engines.ts'

const sglangFlags: Readonly<Partial<Record<ObjectiveMetric, string>>> = {
  ttft: '--bucket-time-to-first-token',
  gap: '--bucket-inter-token-latency',
  e2e: '--bucket-e2e-request-latency',
}

const dynamoNames: Readonly<Partial<Record<ObjectiveMetric, string>>> = {
  ttft: 'DYN_METRICS_TTFT',
  gap: 'DYN_METRICS_ITL',
  e2e: 'DYN_METRICS_REQUEST_DURATION',
}

/** What sets a bucket at a limit (seconds): the flag or the variables with their values where the engine has such; null: nothing does. */
export function bucketAdvice(
  engine: EngineId,
  metric: ObjectiveMetric,
  limit: Rational,
  bounds: readonly string[] | null,
): string | null {
  const flag = sglangFlags[metric]
  if (engine === 'sglang' && flag !== undefined) return `${flag} ${withLimit(limit, bounds ?? []).join(' ')}`
  const name = dynamoNames[metric]
  if (engine === 'dynamo' && name !== undefined) {
    const settings = logBucketsAt(toNumber(limit))
    return settings === null
      ? `${name}_MIN, _MAX and _COUNT, but only for a limit of two significant figures`
      : `${name}_MIN=${settings.min} ${name}_MAX=${settings.max} ${name}_COUNT=${settings.count}`
  }
  return catalogues[engine].bucketSetting
}

/** The bounds with the limit among them, rising. */
function withLimit(limit: Rational, bounds: readonly string[]): readonly string[] {
  const text = toDecimalText(limit, 12)
  const at = bounds.findIndex((bound) => compare(parseRational(bound), limit) > 0)
  return at < 0 ? [...bounds, text] : [...bounds.slice(0, at), text, ...bounds.slice(at)]
}
