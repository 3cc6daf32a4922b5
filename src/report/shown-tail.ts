import { PlimsollError } from '../base/errors.ts'
import type { ObjectiveMetric, RunLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'

/** The limits of an objective, as it is written, on percentiles of a run. */
export function limitsOverRun(objective: string | null): readonly RunLimit[] {
  if (objective === null) return []
  try {
    return parseObjective(objective).run
  } catch (error) {
    // A document of other hands may hold another grammar: it is shown as it is.
    if (error instanceof PlimsollError) return []
    throw error
  }
}

/** The percentile of a metric that the objective judges, as a key; of another metric where it judges none of this; else the 99th. */
export function shownTail(objective: string | null, metric: ObjectiveMetric): string {
  const limits = limitsOverRun(objective)
  const own = limits.find((limit) => limit.metric === metric) ?? limits[0]
  return `p${own?.percentile.replace('.', '_') ?? '99'}`
}
