/** The figures that an objective can limit; `gap` is every gap of a stream, so that its worst one decides. */
export type ObjectiveMetric = 'ttft' | 'ttfc' | 'ttfb' | 'tpot' | 'e2e' | 'gap'

/** An upper limit on one figure. */
export interface Limit {
  readonly metric: ObjectiveMetric
  /** `<` and `<=` mean what they say: 500 ms is not < 500 ms. */
  readonly operator: '<' | '<='
  readonly limitMs: number
  /** The limit as written, unit included: "500ms". */
  readonly limitText: string
}

/** A limit on a percentile of the whole run. */
export interface RunLimit extends Limit {
  /** The percentile's level in percent, as written: "99", "99.9". */
  readonly percentile: string
}

/**
 * What is asked of a service. `slo`: per-request limits of which a share of the requests (`good`) must meet all, and limits on
 * percentiles of the run; both may be there. `vllm`: vLLM's `--goodput`, per-request limits (`<=`) that are counted and never
 * fail a run, so that `good` is null.
 */
export interface Objective {
  readonly kind: 'slo' | 'vllm'
  readonly each: readonly Limit[]
  readonly run: readonly RunLimit[]
  /** The share of requests that must be good, in percent as written: "99.5%". Null without per-request limits. */
  readonly good: string | null
}

/** The share that must be good when none is said (DESIGN §3). */
export const defaultGood = '99%'

/** `ttft < 500ms` */
export function describeLimit(limit: Limit): string {
  return `${limit.metric} ${limit.operator} ${limit.limitText}`
}

/** `p99 tpot <= 10ms` */
export function describeRunLimit(limit: RunLimit): string {
  return `p${limit.percentile} ${describeLimit(limit)}`
}

/**
 * The objective in its own grammar: parsing it gives the same objective back. `ttft < 500ms and tpot < 30ms, good 99%`;
 * vLLM's form stays vLLM's, `ttft:500 tpot:30`.
 */
export function describeObjective(objective: Objective): string {
  if (objective.kind === 'vllm') {
    return objective.each
      .map(({ metric, limitMs }) => `${metric === 'e2e' ? 'e2el' : metric}:${limitMs}`)
      .join(' ')
  }
  const limits = [...objective.each.map(describeLimit), ...objective.run.map(describeRunLimit)].join(' and ')
  return objective.good === null ? limits : `${limits}, good ${objective.good}`
}

/** Whether a figure meets a limit. */
export function withinLimit(limit: Limit, ms: number): boolean {
  return limit.operator === '<' ? ms < limit.limitMs : ms <= limit.limitMs
}
