import { PlimsollError } from '../base/errors.ts'
import type { PlanCandidate } from '../report/plan-document.ts'
import { multiply, rational, toDecimalText, toRational, type Rational } from '../stats/rational.ts'
import type { PlanConfig } from './plan-config.ts'

/** A margin whose two readings need different numbers of replicas, where one number is wanted. */
export function undecidedMargin(config: PlanConfig, hint: string): PlimsollError {
  const share = `${sixDecimals(multiply(toRational(config.margin.share), rational(100)))}%`
  return new PlimsollError('PLIM_USAGE', `a margin of ${share} is read in two ways, and they differ here`, {
    expected: `--margin derate:${share} or --margin uplift:${share}`,
    received: `--margin ${share}`,
    hint,
  })
}

/** A folder to deploy, where no tested load keeps the objective. */
export function nothingToDeploy(best: PlanCandidate | undefined): PlimsollError {
  return new PlimsollError('PLIM_USAGE', 'there is no operating point to deploy', {
    expected: 'a sweep in which some load keeps its objective',
    received: best?.name ?? 'nothing',
    hint: 'plimsoll sweep finds one',
  })
}

/** A rational as it is printed, to six decimals. */
export function sixDecimals(value: Rational): string {
  return toDecimalText(value, 6)
}
