import { exceedanceMemory } from '../../stats/autocorrelation.ts'
import { betaQuantile } from '../../stats/beta.ts'
import { compare, divide, parseRational, rational, toNumber } from '../../stats/rational.ts'
import type { Rows } from '../record/rows.ts'
import { oneLook, type DecisionTails } from './decision-tails.ts'
import { evaluateRequest } from './evaluate-request.ts'
import { describeObjective, type Objective } from './objective.ts'
import type { Goodput } from './run-summary.ts'
import type { RunWindow } from './run-window.ts'

/** What the rows say about the share of good requests, with the one-sided ends that decide. */
export interface GoodShare {
  readonly met: 'yes' | 'no' | 'inconclusive'
  /** Good ÷ attempts; null for no attempts. */
  readonly estimate: number | null
  readonly low: number | null
  readonly high: number | null
  readonly nEff: number | null
}

/**
 * Goodput: requests that are ok and meet every per-request limit, counted jointly, ÷ the window's length (DESIGN §3, DistServe).
 * Attempts are the requests of the window that were sent. `rows` are those of the window, in order of intended send.
 */
export function goodput(rows: Rows, window: RunWindow, objective: Objective): Goodput {
  const seconds = (window.endMs - window.startMs) / 1000
  const failedBy: Record<string, number> = {}
  let good = 0
  let unknown = 0
  let failedTwice = 0
  let vacuous = 0
  let attempts = 0
  for (const row of rows) {
    if (row.outcome === 'unsent') continue
    attempts++
    const judgement = evaluateRequest(row, objective)
    if (judgement.good === 'good') good++
    if (judgement.good === 'unknown') unknown++
    if (judgement.vacuous) vacuous++
    if (judgement.reasons.length > 1) failedTwice++
    for (const reason of judgement.reasons) failedBy[reason] = (failedBy[reason] ?? 0) + 1
  }
  const known = attempts === 0 || unknown < attempts
  return {
    per_s: seconds > 0 && known ? good / seconds : null,
    share: attempts === 0 || !known ? null : good / attempts,
    good,
    attempts,
    unknown,
    lower_bound: known && unknown > 0,
    failed_by: failedBy,
    failed_twice: failedTwice,
    vacuous_tpot: vacuous,
    objective: describeObjective(objective),
    asked_share: objective.good,
    met: objective.good === null ? null : decideGoodShare(rows, objective).met,
  }
}

/**
 * Whether the asked share of requests is good. Yes when the one-sided 95 % lower end of the share (Clopper and Pearson, at the
 * effective number of requests: bad ones come in runs) is at least the asked share, no when the upper end is below it, else
 * inconclusive. Requests whose goodness is unknown count as bad for a yes and as good for a no. A share of 100 % is met by
 * nothing but a run without any bad request. The ends stand at 95 % unless `tails` says otherwise.
 */
export function decideGoodShare(rows: Rows, objective: Objective, tails: DecisionTails = oneLook): GoodShare {
  const bad: number[] = []
  const surelyBad: number[] = []
  let good = 0
  for (const row of rows) {
    if (row.outcome === 'unsent') continue
    const judgement = evaluateRequest(row, objective).good
    bad.push(judgement === 'good' ? 0 : 1)
    surelyBad.push(judgement === 'bad' ? 1 : 0)
    if (judgement === 'good') good++
  }
  const attempts = bad.length
  const nothing: GoodShare = { met: 'inconclusive', estimate: null, low: null, high: null, nEff: null }
  if (attempts === 0 || objective.good === null) return nothing
  const asked = divide(parseRational(objective.good.replace('%', '')), rational(100n))
  const pessimist = shareEnds(bad, tails)
  const optimist = shareEnds(surelyBad, tails)
  const estimate = rational(BigInt(good), BigInt(attempts))
  const askedNumber = toNumber(asked)
  const base = { estimate: toNumber(estimate), low: pessimist.low, high: optimist.high, nEff: pessimist.nEff }
  if (compare(asked, rational(1n)) === 0) {
    const none = bad.every((value) => value === 0)
    return { ...base, met: none ? 'yes' : surelyBad.includes(1) ? 'no' : 'inconclusive' }
  }
  if (pessimist.low >= askedNumber) return { ...base, met: 'yes' }
  return { ...base, met: optimist.high < askedNumber ? 'no' : 'inconclusive' }
}

/**
 * One-sided ends of the share of zeros in a series of 0 and 1: Clopper and Pearson's, whose beta quantiles take the effective
 * counts, which are no whole numbers.
 */
function shareEnds(
  bad: readonly number[],
  { kept, missed }: DecisionTails,
): { low: number; high: number; nEff: number } {
  const n = bad.length
  const count = bad.reduce((sum, value) => sum + value, 0)
  const nEff = exceedanceMemory(bad, 0.5).nEff ?? n
  const effective = (count * nEff) / n
  return {
    low: count === n ? 0 : betaQuantile(toNumber(kept), nEff - effective, effective + 1),
    high: count === 0 ? 1 : 1 - betaQuantile(toNumber(missed), effective, nEff - effective + 1),
    nEff,
  }
}
