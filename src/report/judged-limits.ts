import { PlimsollError } from '../base/errors.ts'
import type { Limit, ObjectiveMetric, RunLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { percentileKey } from '../stats/percentile.ts'
import type { JudgedTail } from './svg-load-curve.ts'

/** What objectives limit, in the order in which they are written. */
export interface JudgedLimits {
  /** Per request. */
  readonly each: readonly Limit[]
  /** On percentiles of a run. */
  readonly run: readonly RunLimit[]
}

/**
 * The limits of an objective as a document has it: one, or several set apart by semicolons. What another tool wrote in a grammar of its
 * own has none: it is shown as it is.
 */
export function judgedLimits(objective: string | null): JudgedLimits {
  const found = (objective ?? '').split(';').flatMap((text) => {
    try {
      return text.trim() === '' ? [] : [parseObjective(text)]
    } catch (error) {
      if (error instanceof PlimsollError) return []
      throw error
    }
  })
  return { each: found.flatMap(({ each }) => each), run: found.flatMap(({ run }) => run) }
}

/** The percentile of a metric that the objective judges, as a key; of another metric where it judges none of this; else the 99th. */
export function shownTail(objective: string | null, metric: ObjectiveMetric): string {
  const { run } = judgedLimits(objective)
  return percentileKey((run.find((limit) => limit.metric === metric) ?? run[0])?.percentile ?? '99')
}

/** The first limit that an objective sets on a figure, per request or on a percentile. */
export function limitOn(objective: string | null, metric: ObjectiveMetric): Limit | null {
  const { each, run } = judgedLimits(objective)
  return [...each, ...run].find((limit) => limit.metric === metric) ?? null
}

/** What a sweep is judged by: the tail its curve shows. Without one that it can show, TPOT's 99th percentile. */
export function judgedTail(objective: string | null): JudgedTail {
  const { each, run } = judgedLimits(objective)
  for (const { metric, percentile, limitMs } of [
    ...run,
    ...each.map((one) => ({ ...one, percentile: '99' })),
  ]) {
    if (metric === 'tpot' || metric === 'ttft' || metric === 'e2e')
      return { metric: `${metric}_ms`, key: percentileKey(percentile), limitMs }
  }
  return { metric: 'tpot_ms', key: 'p99', limitMs: null }
}
