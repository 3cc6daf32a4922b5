import { rational, subtract, type Rational } from '../../stats/rational.ts'

/**
 * How likely a decision on an objective may be wrong, exactly: `kept` bounds the chance of calling a missed one kept, `missed` that of
 * calling a kept one missed. The one-sided ends that decide stand at 1 − tail.
 */
export interface DecisionTails {
  readonly kept: Rational
  readonly missed: Rational
}

/** Looked at once: 5 % on either side (DESIGN: a point passes when the one-sided 95 % end is within the limit). */
export const oneLook: DecisionTails = { kept: rational(1n, 20n), missed: rational(1n, 20n) }

/** The confidence of an end with that tail. */
export function confidenceOf(tail: Rational): Rational {
  return subtract(rational(1n), tail)
}
