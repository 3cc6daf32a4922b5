import { PlimsollError } from '../../base/errors.ts'
import {
  compare,
  multiply,
  subtract,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'

const one: Rational = { num: 1n, den: 1n }

/** 1 − objective, exactly: the share that may be bad. `0.995` or `99.5%`. Throws PLIM_NUMBER outside (0, 1]. */
export function allowedBadShare(objective: RationalInput): Rational {
  const share = toRational(objective)
  if (share.num <= 0n || compare(share, one) > 0) {
    throw new PlimsollError('PLIM_NUMBER', 'an objective lies above 0 and at most at 1', {
      expected: 'a share such as 0.995 or 99.5%',
      received: typeof objective === 'object' ? `${share.num}/${share.den}` : String(objective),
    })
  }
  return subtract(one, share)
}

/** Error budget in requests: (1 − objective)·requests. 0 at an objective of 100 %. */
export function budgetRequests(objective: RationalInput, requests: RationalInput): Rational {
  return multiply(allowedBadShare(objective), toRational(requests))
}

/**
 * Hours that a budget lasts when it is counted in events: budget ÷ (requests an hour · bad ratio). Null when nothing is
 * bad: it lasts for ever.
 */
export function hoursLeftByEvents(
  budgetEvents: number,
  requestsPerHour: number,
  badRatio: number,
): number | null {
  const badPerHour = requestsPerHour * badRatio
  return badPerHour > 0 ? Math.max(0, budgetEvents) / badPerHour : null
}
