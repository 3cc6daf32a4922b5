import {
  add,
  ceil,
  compare,
  divide,
  floor,
  multiply,
  rational,
  subtract,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'
import { allowedBadShare } from './budget.ts'
import { timeToDetect } from './burn.ts'
import { budgetShareOf, type AlertPolicy, type AlertTier, type Comparator } from './policy.ts'
import { promSeconds } from './prometheus-duration.ts'

const one: Rational = { num: 1n, den: 1n }
/** Bad shares for which the time to detect is told. */
export const toldBadShares: readonly string[] = ['1%', '5%', '25%', '100%']

/** What can be said of an alert before it is ever loaded. */
export interface AlertCheck {
  readonly tier: AlertTier
  /** Bad share that the windows are compared with: factor·(1 − objective). */
  readonly threshold: Rational
  readonly reachable: boolean
  /** The factor that it should have instead, where it can never fire. */
  readonly refitFactor: Rational | null
  /** With fewer requests in the long window one failure alone is over the threshold. Null: unreachable. */
  readonly minimumRequests: bigint | null
  /** Seconds from a clean start until it fires at each of `toldBadShares`; null: never. */
  readonly detectSeconds: readonly (Rational | null)[]
  /** Share of the period's budget that is spent when it fires, at steady traffic. */
  readonly spentAtDetection: Rational
  /** Seconds until it stops after a total outage ends: short·(1 − threshold). */
  readonly resetSeconds: Rational | null
  /** Under 1: it fires although the budget would last the period. */
  readonly insideBudget: boolean
}

/** Checks each alert of a policy at an objective (a share, or text such as `99.5%`). */
export function checkAlerts(
  policy: AlertPolicy,
  objective: RationalInput,
  period: string,
): readonly AlertCheck[] {
  const allowed = allowedBadShare(objective)
  const refits = refitFactors(policy, allowed)
  return policy.tiers.map((tier, index) => {
    const threshold = multiply(tier.factor, allowed)
    const reachable = canReach(threshold, policy.comparator)
    return {
      tier,
      threshold,
      reachable,
      refitFactor: reachable ? null : (refits[index] ?? null),
      minimumRequests: reachable ? minimumRequests(threshold, policy.comparator) : null,
      detectSeconds: toldBadShares.map((share) => detectSeconds(tier, objective, policy.comparator, share)),
      spentAtDetection: budgetShareOf(tier.factor, tier.long, period),
      resetSeconds: reachable
        ? multiply(rational(promSeconds(tier.short) ?? 0), subtract(one, threshold))
        : null,
      insideBudget: compare(tier.factor, one) < 0,
    }
  })
}

function canReach(threshold: Rational, comparator: Comparator): boolean {
  const side = compare(threshold, one)
  return side < 0 || (side === 0 && comparator === '>=')
}

/** The least n for which one bad request of n does not pass: 1/n ≤ threshold for `>`, 1/n < threshold for `>=`. */
export function minimumRequests(threshold: Rational, comparator: Comparator): bigint {
  const inverse = divide(one, threshold)
  return comparator === '>' ? ceil(inverse) : floor(inverse) + 1n
}

/** Seconds from clean until the long window passes; the tie at the whole window counts for `>=` only. */
function detectSeconds(
  tier: AlertTier,
  objective: RationalInput,
  comparator: Comparator,
  badShare: string,
): Rational | null {
  const threshold = multiply(tier.factor, allowedBadShare(objective))
  const side = compare(toRational(badShare), threshold)
  if (side < 0 || (side === 0 && comparator === '>')) return null
  return timeToDetect(tier.factor, objective, promSeconds(tier.long) ?? 0, badShare)
}

/**
 * Factors for alerts that no outage can reach: halfway between the most that can burn, 1 ÷ (1 − objective), and the next slower
 * alert of the policy, so that the order of the alerts stays; halfway to 1 for the slowest.
 */
function refitFactors(policy: AlertPolicy, allowed: Rational): readonly (Rational | null)[] {
  const most = allowed.num === 0n ? null : divide(one, allowed)
  const refits: (Rational | null)[] = []
  let slower = one
  for (const tier of policy.tiers.toReversed()) {
    const reachable = canReach(multiply(tier.factor, allowed), policy.comparator)
    if (reachable || most === null) {
      refits.unshift(null)
      slower = tier.factor
    } else {
      slower = divide(add(most, slower), rational(2))
      refits.unshift(slower)
    }
  }
  return refits
}

/** The policy with the re-derived factors in place of those that nothing can reach. */
export function refitPolicy(policy: AlertPolicy, checks: readonly AlertCheck[]): AlertPolicy {
  return {
    ...policy,
    tiers: policy.tiers.map((tier, index) => {
      const factor = checks[index]?.refitFactor
      return factor === null || factor === undefined ? tier : { ...tier, factor }
    }),
  }
}
