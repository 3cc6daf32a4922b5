import type { ObjectiveMetric } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import type { JudgedTail } from './svg-load-curve.ts'

/** The first limit that the objectives set on a figure, per request or on a percentile. */
export function limitOf(
  texts: readonly string[],
  metric: ObjectiveMetric,
): { readonly ms: number; readonly text: string } | null {
  for (const text of texts) {
    const objective = parsed(text)
    const limit = [...(objective?.each ?? []), ...(objective?.run ?? [])].find((one) => one.metric === metric)
    if (limit !== undefined) return { ms: limit.limitMs, text: `limit ${limit.limitText}` }
  }
  return null
}

/** What a sweep is judged by: the tail its curve shows. Without one that it can show, TPOT's 99th percentile. */
export function judgedTail(objective: string | null): JudgedTail {
  const limits = objective === null ? null : parsed(objective)
  for (const { metric, percentile, limitMs } of limits?.run ?? []) {
    const key = `p${percentile.replace('.', '_')}`
    if (metric === 'tpot' || metric === 'ttft' || metric === 'e2e')
      return { metric: `${metric}_ms`, key, limitMs }
  }
  for (const { metric, limitMs } of limits?.each ?? []) {
    if (metric === 'tpot' || metric === 'ttft' || metric === 'e2e')
      return { metric: `${metric}_ms`, key: 'p99', limitMs }
  }
  return { metric: 'tpot_ms', key: 'p99', limitMs: null }
}

/** Null for a text that another tool wrote. */
function parsed(text: string): ReturnType<typeof parseObjective> | null {
  try {
    return parseObjective(text)
  } catch {
    return null
  }
}
