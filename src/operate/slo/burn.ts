import { clopperPearson, wilson } from '../../stats/binomial.ts'
import {
  compare,
  divide,
  multiply,
  rational,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'
import { anySlow } from '../../stats/tail-at-scale.ts'
import { allowedBadShare } from './budget.ts'

/** How many times faster than allowed the budget is spent. `infinite`: something is bad and nothing may be. */
export type BurnRate = { readonly kind: 'finite'; readonly rate: Rational } | { readonly kind: 'infinite' }

const zeroBurn: BurnRate = { kind: 'finite', rate: { num: 0n, den: 1n } }

/** bad ratio ÷ (1 − objective), exact. At an objective of 100 %: 0 when nothing is bad, else infinite. */
export function burnRate(badRatio: RationalInput, objective: RationalInput): BurnRate {
  const ratio = toRational(badRatio)
  const allowed = allowedBadShare(objective)
  if (ratio.num === 0n) return zeroBurn
  return allowed.num === 0n ? { kind: 'infinite' } : { kind: 'finite', rate: divide(ratio, allowed) }
}

/**
 * Burn rate of counted events; null without traffic, which is not a burn of 0. A bad count that does not exist beside a
 * living total is 0, as in Prometheus, where a counter that was never incremented is absent.
 */
export function burnOfCounts(
  bad: number | null,
  total: number | null,
  objective: RationalInput,
): BurnRate | null {
  if (total === null || total <= 0) return null
  return burnRate(rational(bad ?? 0, total), objective)
}

/** The burn rate as a number, Infinity where it is infinite. Comparisons are made on `exceeds`, not on this. */
export function burnNumber(burn: BurnRate): number {
  return burn.kind === 'infinite' ? Number.POSITIVE_INFINITY : toNumber(burn.rate)
}

/** Whether a burn rate passes a threshold; the comparator belongs to the alert policy (`>` in the SRE workbook's rules). */
export function exceeds(burn: BurnRate, threshold: RationalInput, comparator: '>' | '>='): boolean {
  if (burn.kind === 'infinite') return true
  const side = compare(burn.rate, toRational(threshold))
  return comparator === '>' ? side > 0 : side >= 0
}

/** Days until the budget is gone: period·remaining ÷ burn; null: never, nothing burns. */
export function daysLeft(
  burn: BurnRate,
  periodDays: RationalInput,
  remainingShare: RationalInput = 1,
): Rational | null {
  if (burn.kind === 'infinite') return { num: 0n, den: 1n }
  if (burn.rate.num === 0n) return null
  return divide(multiply(toRational(periodDays), toRational(remainingShare)), burn.rate)
}

/** Share of the period's budget that a window at this burn uses: burn·window ÷ period. */
export function budgetUsed(burn: RationalInput, window: RationalInput, period: RationalInput): Rational {
  return divide(multiply(toRational(burn), toRational(window)), toRational(period))
}

/** Burn rate that uses `budgetShare` of the budget in one window: share·period ÷ window (SRE workbook, ch. 5). */
export function burnThreshold(
  budgetShare: RationalInput,
  window: RationalInput,
  period: RationalInput,
): Rational {
  return divide(multiply(toRational(budgetShare), toRational(period)), toRational(window))
}

/**
 * Time from the start of an outage until a window's burn reaches the threshold: threshold·(1 − objective)·window ÷ bad
 * ratio, in the window's unit. Null where it never does (with `>=` the tie at the whole window counts).
 */
export function timeToDetect(
  threshold: RationalInput,
  objective: RationalInput,
  window: RationalInput,
  badRatio: RationalInput,
): Rational | null {
  const ratio = toRational(badRatio)
  if (ratio.num <= 0n) return null
  const size = toRational(window)
  const time = divide(multiply(multiply(toRational(threshold), allowedBadShare(objective)), size), ratio)
  return compare(time, size) > 0 ? null : time
}

/** Burn that a window shows after an outage of `outage` (same unit) at `badRatio`, steady traffic. */
export function burnOverWindow(
  outage: RationalInput,
  window: RationalInput,
  badRatio: RationalInput,
  objective: RationalInput,
): BurnRate {
  const length = toRational(outage)
  const size = toRational(window)
  const inside = compare(length, size) > 0 ? size : length
  return burnRate(divide(multiply(toRational(badRatio), inside), size), objective)
}

/** What chance alone allows a burn rate to be. */
export interface BurnEvidence {
  readonly burn: BurnRate
  /** Wilson interval of the bad ratio, and the burn rates at its ends (null at an objective of 100 %). */
  readonly ratio: readonly [low: number, high: number]
  readonly burnInterval: readonly [low: number, high: number] | null
  /** Clopper–Pearson lower end of the bad ratio; above 1 − objective the burn is more than chance. */
  readonly exactLow: number
  readonly significant: boolean
  /** Chance of at least one bad event among so many while the objective is just met. */
  readonly chanceOfAny: number
}

/** Evidence of counted events at a two-sided confidence; null without traffic. */
export function burnEvidence(
  bad: number,
  total: number,
  objective: RationalInput,
  confidence = 0.95,
): BurnEvidence | null {
  const burn = burnOfCounts(bad, total, objective)
  const score = wilson(bad, total, confidence)
  const exact = clopperPearson(bad, total, confidence)
  if (burn === null || score === null || exact === null) return null
  const allowed = toNumber(allowedBadShare(objective))
  return {
    burn,
    ratio: [score.low, score.high],
    burnInterval: allowed === 0 ? null : [score.low / allowed, score.high / allowed],
    exactLow: exact.low,
    significant: exact.low > allowed,
    chanceOfAny: anySlow(allowed, total),
  }
}
