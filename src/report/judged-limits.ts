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

/** Objectives as a document has them: in one text, set apart by semicolons, or each on its own. */
export type AskedObjective = string | readonly string[] | null

/**
 * The limits of an objective as a document has it: one, or several set apart by semicolons. What another tool wrote in a grammar of its
 * own has none: it is shown as it is.
 */
export function judgedLimits(objective: AskedObjective): JudgedLimits {
  const found = objectivesOf(objective)
  return { each: found.flatMap(({ each }) => each), run: found.flatMap(({ run }) => run) }
}

function objectivesOf(objective: AskedObjective): readonly JudgedLimits[] {
  const texts = typeof objective === 'string' ? objective.split(';') : (objective ?? [])
  return texts.flatMap((text) => {
    try {
      return text.trim() === '' ? [] : [parseObjective(text)]
    } catch (error) {
      if (error instanceof PlimsollError) return []
      throw error
    }
  })
}

/** The percentile of a metric that the objective judges, as a key; of another metric where it judges none of this; else the 99th. */
export function shownTail(objective: string | null, metric: ObjectiveMetric): string {
  const { run } = judgedLimits(objective)
  return percentileKey((run.find((limit) => limit.metric === metric) ?? run[0])?.percentile ?? '99')
}

/** The first limit on a figure, objective by objective; of one of them that on each request, before those on percentiles. */
export function limitOn(objective: AskedObjective, metric: ObjectiveMetric): Limit | null {
  return (
    objectivesOf(objective)
      .flatMap(({ each, run }): readonly Limit[] => [...each, ...run])
      .find((limit) => limit.metric === metric) ?? null
  )
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
