import { PlimsollError } from '../../base/errors.ts'
import type { Limit, ObjectiveMetric } from '../../measure/metrics/objective.ts'
import { compare, parseRational, rational, type Rational } from '../../stats/rational.ts'
import type { EngineId } from '../catalogue/catalogue.ts'
import type { PolicyText } from './policy.ts'

/** Counters that somebody else keeps, as selectors: `http_requests_total{code=~"5.."}`. */
export interface OwnSource {
  readonly total: string
  readonly bad?: string
  readonly good?: string
}

/** What is promised about one class of requests, and how it is watched. */
export interface SloSpec {
  readonly service: string
  readonly name: string
  /** Per-request limits; none: a request is good when it is answered. */
  readonly each: readonly Limit[]
  /** The share that must be good, exact, and as written (`99.5%`). */
  readonly objective: Rational
  readonly objectiveText: string
  /** The time over which it is promised: `30d`. */
  readonly period: string
  /** Whether a request that was refused (429, 503) is bad or not counted. */
  readonly shed: 'bad' | 'ignore'
  readonly engine: EngineId | 'own'
  readonly own: OwnSource | null
  /** Labels that choose the series. */
  readonly match: Readonly<Record<string, string>>
  /** Labels put on every rule. */
  readonly labels: Readonly<Record<string, string>>
  readonly policy: string | PolicyText
  /** An alert needs at least so many bad requests in its long window, and so many requests. */
  readonly minBad: number
  readonly minRequests: number
  /** A limit between two buckets: refused, or both sides are recorded and this one decides. */
  readonly edges: 'refuse' | 'pessimistic' | 'optimistic'
  /** What the engine's latencies are kept in where they are scraped. */
  readonly histograms: 'classic' | 'native'
  /** Bounds in seconds as they were set, rising; a metric that is not named has the engine's own. */
  readonly buckets: Readonly<Partial<Record<ObjectiveMetric, readonly string[]>>>
  /** An alert that nothing can reach: refused, or given the re-derived factor. */
  readonly unreachable: 'refuse' | 'refit'
  /** Seconds between two evaluations. */
  readonly intervalSeconds: number
  /** Where it was read. */
  readonly file: string
}

/** The name of an objective in labels, files and links. */
export function sloId(spec: { readonly service: string; readonly name: string }): string {
  return `${spec.service}-${spec.name}`
}

export type ObjectiveVerdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'reject'; readonly why: 'objective_leaves_no_budget' | 'objective_out_of_range' }
  | { readonly kind: 'warn'; readonly why: 'objective_looks_like_a_fraction' }

/** Judges an objective given in percent: 100 leaves nothing to spend, 0.999 was probably meant as 99.9. */
export function checkObjectivePercent(percent: string | number): ObjectiveVerdict {
  const value = parseRational(String(percent))
  const side = compare(value, rational(100))
  if (value.num <= 0n || side > 0) return { kind: 'reject', why: 'objective_out_of_range' }
  if (side === 0) return { kind: 'reject', why: 'objective_leaves_no_budget' }
  return compare(value, rational(1)) <= 0
    ? { kind: 'warn', why: 'objective_looks_like_a_fraction' }
    : { kind: 'ok' }
}

/** Labels that the rules or Prometheus set themselves. */
export const reservedLabels: readonly string[] = [
  'le',
  'quantile',
  'slo',
  'service',
  'objective',
  'sli',
  'severity',
  'long',
  'alertname',
  'alertstate',
  'instance',
  'job',
]

export interface NamedSlo {
  readonly file: string
  readonly service: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

/** What stands in each other's way among objectives of several files: each a sentence. */
export function sloClashes(slos: readonly NamedSlo[]): readonly string[] {
  const duplicates: string[] = []
  const clashes: string[] = []
  const reserved: string[] = []
  const seen = new Map<string, NamedSlo>()
  for (const slo of slos) {
    const id = sloId(slo)
    const before = seen.get(id)
    if (before === undefined) seen.set(id, slo)
    else if (before.service === slo.service && before.name === slo.name) {
      duplicates.push(`duplicate ${slo.service}/${slo.name} in ${before.file} and ${slo.file}`)
    } else clashes.push(`id clash ${id} in ${before.file} and ${slo.file}`)
    for (const label of Object.keys(slo.labels ?? {})) {
      if (reservedLabels.includes(label) || label.startsWith('__')) {
        reserved.push(`reserved label ${label} in ${slo.file} ${slo.service}/${slo.name}`)
      }
    }
  }
  return [...duplicates, ...clashes, ...reserved]
}

/** Throws PLIM_CONFIG with every clash. */
export function refuseClashes(slos: readonly NamedSlo[]): void {
  const found = sloClashes(slos)
  if (found.length > 0) {
    throw new PlimsollError('PLIM_CONFIG', 'these objectives stand in each other’s way', {
      received: found.join('; '),
    })
  }
}
