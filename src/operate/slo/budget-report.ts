import {
  compare,
  divide,
  multiply,
  rational,
  subtract,
  toRational,
  type Rational,
} from '../../stats/rational.ts'
import { wilson } from '../../stats/binomial.ts'
import { toNumber } from '../../stats/rational.ts'
import { allowedBadShare } from './budget.ts'
import { burnRate, type BurnRate } from './burn.ts'

export interface BudgetInput {
  readonly objective: Rational
  readonly periodSeconds: number
  /** Requests expected in the whole period; null: not known, then only shares are told. */
  readonly periodRequests: Rational | null
  /** Bad requests so far, of `seen`; null where only a share is known. */
  readonly bad: number | null
  readonly seen: number | null
  /** The bad share, where it is told instead of counted. */
  readonly share: Rational | null
  /** How long the counted requests took; null: the whole period. */
  readonly spanSeconds: number | null
}

/** The error budget, what was spent of it, and how long the rest lasts. Shares are of the budget; null says that it cannot be known. */
export interface BudgetReport {
  readonly input: BudgetInput
  readonly allowed: Rational
  /** In requests. */
  readonly budget: Rational | null
  readonly badShare: Rational | null
  readonly burn: BurnRate | null
  /** Wilson's 95 % interval of the burn where requests were counted. */
  readonly burnInterval: readonly [low: number, high: number] | null
  /** Share of the period's budget that the span used. */
  readonly spent: Rational | null
  readonly left: Rational | null
  /** Seconds until it is gone at the same burn; null: it never is, or nothing is known. */
  readonly lastsSeconds: Rational | null
  /** `never`: nothing burns. `gone`: nothing is left. */
  readonly lasts: 'time' | 'never' | 'gone' | 'unknown'
  /** Downtime that the budget allows in the period, seconds: (1 − objective)·period. */
  readonly downtimeSeconds: Rational
}

const one = rational(1)

/**
 * Budget arithmetic, exact. Where the period's requests are known the spent share is bad ÷ ((1 − objective)·requests), by events;
 * else burn·span ÷ period, which takes the traffic for steady.
 */
export function budgetReport(input: BudgetInput): BudgetReport {
  const allowed = allowedBadShare(input.objective)
  const period = rational(input.periodSeconds)
  const budget = input.periodRequests === null ? null : multiply(allowed, input.periodRequests)
  const counted = input.bad !== null && input.seen !== null && input.seen > 0
  const badShare = counted ? ratioOf(input.bad ?? 0, input.seen ?? 1) : input.share
  const burn = badShare === null ? null : burnRate(badShare, input.objective)
  const span = rational(input.spanSeconds ?? input.periodSeconds)
  const spent = spentShare(input, budget, burn, divide(span, period))
  const left = spent === null ? null : subtract(one, spent)
  const interval = counted
    ? wilson(Math.round(input.bad ?? 0), Math.max(1, Math.round(input.seen ?? 1)), 0.95)
    : null
  const allowedNumber = toNumber(allowed)
  return {
    input,
    allowed,
    budget,
    badShare,
    burn,
    burnInterval:
      interval === null || allowedNumber === 0
        ? null
        : [interval.low / allowedNumber, interval.high / allowedNumber],
    spent,
    left,
    ...lasting(input, budget, burn, left),
    downtimeSeconds: multiply(allowed, period),
  }
}

function ratioOf(bad: number, total: number): Rational {
  return divide(toRational(bad), toRational(total))
}

function spentShare(
  { bad }: BudgetInput,
  budget: Rational | null,
  burn: BurnRate | null,
  spanShare: Rational,
): Rational | null {
  if (bad !== null && budget !== null && budget.num > 0n) return divide(toRational(bad), budget)
  if (burn === null || burn.kind === 'infinite') return null
  return multiply(burn.rate, spanShare)
}

function lasting(
  { bad, spanSeconds, periodSeconds }: BudgetInput,
  budget: Rational | null,
  burn: BurnRate | null,
  left: Rational | null,
): Pick<BudgetReport, 'lasts' | 'lastsSeconds'> {
  if (burn === null || left === null)
    return { lasts: burn?.kind === 'infinite' ? 'gone' : 'unknown', lastsSeconds: null }
  if (left.num <= 0n) return { lasts: 'gone', lastsSeconds: rational(0) }
  if (burn.kind === 'finite' && burn.rate.num === 0n) return { lasts: 'never', lastsSeconds: null }
  if (bad !== null && bad > 0 && budget !== null && spanSeconds !== null) {
    // By events: what is left ÷ (bad so far ÷ span).
    const rest = multiply(left, budget)
    return { lasts: 'time', lastsSeconds: divide(multiply(rest, rational(spanSeconds)), toRational(bad)) }
  }
  if (burn.kind === 'infinite') return { lasts: 'gone', lastsSeconds: rational(0) }
  return { lasts: 'time', lastsSeconds: divide(multiply(rational(periodSeconds), left), burn.rate) }
}

/** Whether nothing is left of it. */
export function isSpent({ left }: BudgetReport): boolean {
  return left !== null && compare(left, rational(0)) <= 0
}
