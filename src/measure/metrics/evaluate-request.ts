import type { RequestRow } from '../record/request-row.ts'
import { describeLimit, withinLimit, type Limit, type Objective } from './objective.ts'

/** Whether one request is good, and if not, for which reasons (the limit's text, or what became of the request). */
export interface RequestJudgement {
  /** `unknown`: it may be good, but a figure that a limit is on is not on its row. */
  readonly good: 'good' | 'bad' | 'unknown'
  readonly reasons: readonly string[]
  /** It passes a TPOT or gap limit only because it has a single token or event. */
  readonly vacuous: boolean
}

/**
 * Judges a request by all per-request limits jointly (DESIGN §3). Only an ok request can be good: failures, refusals and
 * requests cut at the end never pass. An answer of one token has no TPOT and passes a limit on it vacuously, which is counted
 * apart. Without any limit, ok is good.
 */
export function evaluateRequest(row: RequestRow, objective: Objective): RequestJudgement {
  if (!row.ok || row.outcome !== 'ok') return { good: 'bad', reasons: [row.outcome], vacuous: false }
  const reasons: string[] = []
  let unknown = false
  let vacuous = false
  for (const limit of objective.each) {
    const result = judgeLimit(row, limit)
    if (result === 'over') reasons.push(describeLimit(limit))
    else if (result === 'unknown') unknown = true
    else if (result === 'vacuous') vacuous = true
  }
  if (reasons.length > 0) return { good: 'bad', reasons, vacuous }
  return { good: unknown ? 'unknown' : 'good', reasons: [], vacuous }
}

function judgeLimit(row: RequestRow, limit: Limit): 'within' | 'over' | 'unknown' | 'vacuous' {
  if (limit.metric === 'gap') {
    if (row.ttft_ms === null) return 'unknown'
    if (row.gaps_ms.length === 0) return 'vacuous'
    return row.gaps_ms.every((gap) => withinLimit(limit, gap)) ? 'within' : 'over'
  }
  const value = row[`${limit.metric}_ms`]
  if (value !== null) return withinLimit(limit, value) ? 'within' : 'over'
  const oneToken = row.completion_tokens !== null && row.completion_tokens <= 1 && row.ttft_ms !== null
  return limit.metric === 'tpot' && oneToken ? 'vacuous' : 'unknown'
}
