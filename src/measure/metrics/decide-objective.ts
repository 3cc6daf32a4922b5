import { noun } from '../../base/noun.ts'
import { formatPercent, formatPlain } from '../../base/units.ts'
import type { Warning } from '../../base/warnings.ts'
import { effectiveUpperBound } from '../../stats/effective-interval.ts'
import { oneSidedLowerRank } from '../../stats/percentile-interval.ts'
import { sortAscending } from '../../stats/percentile.ts'
import { divide, parseRational, rational, toNumber } from '../../stats/rational.ts'
import type { Rows } from '../record/rows.ts'
import { passingList } from '../record/row-table.ts'
import { confidenceOf, oneLook, type DecisionTails } from './decision-tails.ts'
import { decideGoodShare } from './goodput.ts'
import {
  describeLimit,
  describeRunLimit,
  withinLimit,
  type Limit,
  type Objective,
  type RunLimit,
} from './objective.ts'
import { pool, pooledOneSidedEnds, type OneSidedEnds } from './pooled-values.ts'

/** What became of one part of an objective: the limits on each request together, or one limit on the run. */
export interface ObjectiveDecision {
  readonly text: string
  readonly kind: 'each' | 'over_run'
  /** Whether missing it fails a run: not in vLLM's form. */
  readonly judged: boolean
  readonly met: 'yes' | 'no' | 'inconclusive' | null
  /** The share of good requests (0..1), or the percentile in ms; null where there is none, or it is a failure. */
  readonly estimate: number | null
  /** The end of the one-sided interval that decides, at 95 % unless other tails were asked for; null where the samples give none. */
  readonly bound: number | null
  readonly limit: number | null
  /** The estimate alone is within the limit: with too few samples to show it, a wall found by it is indicative. */
  readonly estimateWithin: boolean
  /** Independent samples behind the decision; null where there are none. */
  readonly effectiveSamples: number | null
  readonly reason: string
}

/**
 * Decides every part of an objective over the window's rows, in order of intended send. `yes` when the one-sided 95 % end is
 * within the limit, `no` when the other end is beyond it, else `inconclusive` (P99 needs 299 effective samples for any upper
 * end). Over a run, percentiles are taken over all attempts: a failure or refusal is an infinite wait. Gaps are the
 * exception: nobody knows how many a failed stream would have had, so theirs are those of the ok requests. Rows that are looked at
 * several times want smaller `tails`.
 */
export function decideObjective(
  rows: Rows,
  objective: Objective,
  tails: DecisionTails = oneLook,
): readonly ObjectiveDecision[] {
  const decisions: ObjectiveDecision[] = []
  if (objective.each.length > 0) decisions.push(decideEach(rows, objective, tails))
  for (const limit of objective.run) decisions.push(decideRunLimit(rows, limit, tails))
  return decisions
}

/** The objective as a whole: no when any part is, yes when all are. */
export function combineDecisions(
  decisions: readonly ObjectiveDecision[],
): 'yes' | 'no' | 'inconclusive' | null {
  const judged = decisions.filter((decision) => decision.judged)
  if (judged.length === 0) return null
  if (judged.some(({ met }) => met === 'no')) return 'no'
  return judged.every(({ met }) => met === 'yes') ? 'yes' : 'inconclusive'
}

function decideEach(rows: Rows, objective: Objective, tails: DecisionTails): ObjectiveDecision {
  const limits = objective.each.map(describeLimit).join(' and ')
  const attempts = rows.reduce((count, row) => count + (row.outcome === 'unsent' ? 0 : 1), 0)
  if (objective.good === null) {
    const counted = decideGoodShare(rows, { ...objective, good: '100%' })
    return {
      text: limits,
      kind: 'each',
      judged: false,
      met: null,
      estimate: counted.estimate,
      bound: null,
      limit: null,
      estimateWithin: true,
      effectiveSamples: counted.nEff,
      reason: 'counted, not judged',
    }
  }
  const share = decideGoodShare(rows, objective, tails)
  const limit = toNumber(divide(parseRational(objective.good.replace('%', '')), rational(100n)))
  const deciding = share.met === 'no' ? share.high : share.low
  return {
    text: `${limits}, good ${objective.good}`,
    kind: 'each',
    judged: true,
    met: share.met,
    estimate: share.estimate,
    bound: deciding,
    limit,
    estimateWithin: share.estimate !== null && share.estimate >= limit,
    effectiveSamples: share.nEff,
    reason:
      share.estimate === null
        ? 'no request was sent in the window'
        : `${formatPercent(share.estimate)} of ${attempts} ${noun(attempts, 'attempt')} are good; at ${confidenceText(tails, share.met)} confidence ` +
          `${share.met === 'no' ? 'at most' : 'at least'} ${formatPercent(deciding ?? 0)}; ${objective.good} is asked`,
  }
}

/** Decides one limit on a percentile of the run. */
export function decideRunLimit(
  rows: Rows,
  limit: RunLimit,
  tails: DecisionTails = oneLook,
): ObjectiveDecision {
  const ends = limit.metric === 'gap' ? gapEnds(rows, limit, tails) : attemptEnds(rows, limit, tails)
  const base = {
    text: describeRunLimit(limit),
    kind: 'over_run',
    judged: true,
    limit: limit.limitMs,
  } as const
  if (ends === null) {
    return {
      ...base,
      met: 'inconclusive',
      estimate: null,
      bound: null,
      estimateWithin: false,
      effectiveSamples: null,
      reason: 'no values in the window',
    }
  }
  const left = limit.metric === 'gap' ? withoutGaps(rows) : 0
  const within = withinLimit(limit, ends.estimate)
  const proven = ends.high !== null && withinLimit(limit, ends.high)
  const refuted = ends.low !== null && !withinLimit(limit, ends.low)
  const met = proven ? 'yes' : refuted ? 'no' : 'inconclusive'
  const bound = refuted ? ends.low : ends.high
  return {
    ...base,
    met,
    estimate: finite(ends.estimate),
    bound: finite(bound),
    estimateWithin: within,
    effectiveSamples: ends.nEff,
    reason:
      reasonOf(limit, ends, met, confidenceText(tails, met)) +
      (left === 0
        ? ''
        : `; ${left} ${noun(left, 'attempt without an answer has', 'attempts without an answer have')} no gaps`),
  }
}

/**
 * That a limit on gaps over the run does not see the attempts that failed, were refused or were cut: their streams might have had the
 * longest gaps of all. Null where no limit is on gaps, or every attempt was answered.
 */
export function gapLimitWarning(rows: Rows, run: readonly RunLimit[]): Warning | null {
  const limits = run.filter(({ metric }) => metric === 'gap').map(describeRunLimit)
  const left = withoutGaps(rows)
  if (limits.length === 0 || left === 0) return null
  const attempts = rows.reduce((count, row) => count + Number(row.outcome !== 'unsent'), 0)
  return {
    kind: 'survivors_only',
    message: `${limits.join(' and ')} is judged by the answers alone: ${left} of ${attempts} ${noun(attempts, 'attempt')} ${noun(left, 'has', 'have')} no gaps`,
    cause: 'nobody knows the gaps of a stream that failed or never began',
    next: 'a limit on e2e, or a share of good requests, counts failures',
    evidence: { attempts, without_gaps: left },
  }
}

function withoutGaps(rows: Rows): number {
  return rows.reduce((count, row) => count + Number(row.outcome !== 'unsent' && !row.ok), 0)
}

function confidenceText({ kept, missed }: DecisionTails, met: 'yes' | 'no' | 'inconclusive'): string {
  return `${formatPlain(100 * toNumber(confidenceOf(met === 'no' ? missed : kept)), 5)} %`
}

function reasonOf(
  limit: RunLimit,
  ends: OneSidedEnds,
  met: 'yes' | 'no' | 'inconclusive',
  confidence: string,
): string {
  const name = `p${limit.percentile} ${limit.metric}`
  const estimate = Number.isFinite(ends.estimate) ? `is ${ms(ends.estimate)}` : 'is a failed request'
  const size = `${Math.floor(ends.nEff)} effective samples`
  if (met === 'yes')
    return `${name} ${estimate}, at ${confidence} confidence at most ${ms(ends.high ?? 0)} (${size})`
  if (met === 'no') {
    const low = ends.low ?? 0
    return `${name} ${estimate}, at ${confidence} confidence ${Number.isFinite(low) ? `at least ${ms(low)}` : 'a failure'} (${size})`
  }
  if (ends.high === null) return `${name} ${estimate}, but ${size} are too few for an upper end`
  const end = Number.isFinite(ends.high) ? ms(ends.high) : 'a failure'
  return `${name} ${estimate}, but the upper end at ${confidence} confidence is ${end} (${size})`
}

/** One value an attempt, failures infinite; requests without the figure (one token, not streamed) are left out. */
function attemptEnds(rows: Rows, limit: RunLimit, tails: DecisionTails): OneSidedEnds | null {
  const values = attemptValues(rows, limit)
  if (values.length === 0) return null
  const sorted = sortAscending(values)
  const upper = effectiveUpperBound(values, limit.percentile, confidenceOf(tails.kept), sorted)
  if (upper.estimate === null) return null
  const nEff = upper.nEff ?? values.length
  const whole = Math.max(1, Math.floor(nEff))
  const rank = oneSidedLowerRank(whole, limit.percentile, confidenceOf(tails.missed))
  const low =
    rank === null ? null : (sorted[Math.max(1, Math.floor((rank * values.length) / whole)) - 1] ?? null)
  return { estimate: upper.estimate, low, high: upper.high, nEff }
}

function attemptValues(rows: Rows, limit: Limit): Float64Array {
  const values: number[] = []
  for (const row of rows) {
    if (row.outcome === 'unsent') continue
    if (!row.ok) values.push(Number.POSITIVE_INFINITY)
    else {
      const value = limit.metric === 'gap' ? null : row[`${limit.metric}_ms`]
      if (value !== null) values.push(value)
    }
  }
  return Float64Array.from(values)
}

function gapEnds(rows: Rows, limit: RunLimit, tails: DecisionTails): OneSidedEnds | null {
  const gaps = pool(rows, (row) => {
    const list = row.ok ? passingList(row, 'gaps_ms') : []
    return list.length > 0 ? list : null
  })
  return pooledOneSidedEnds(gaps, limit.percentile, tails)
}

function finite(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : value
}

function ms(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ms`
}
