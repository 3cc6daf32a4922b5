import { noun } from '../base/noun.ts'
import type { TTest } from '../stats/two-means.ts'
import { smallestPermutationP, smallestSignFlipP } from '../stats/resampling.ts'

interface Seen {
  readonly test: TTest
  /** The largest value that was subtracted: its last digits are rounding, not spread. */
  readonly magnitude: number
  /** Runs of each arm; of pairs both are the pairs. */
  readonly n: readonly [a: number, b: number]
  readonly paired: boolean
  readonly alpha: number
}

/** Relative to the values: below it lies what their subtraction rounds. */
const rounding = 1e-12

/** Whether no spread was seen but that of rounding. Student's t is then no test: its interval would have no width however few they are. */
export function isSpreadless({ test, magnitude }: Pick<Seen, 'test' | 'magnitude'>): boolean {
  return test.se <= rounding * magnitude
}

/**
 * Why values without any spread tell nothing: so few can be alike by chance, as an exact test of as many could not go below α (two-sided
 * for a difference, one-sided for its absence). Null where there are enough.
 */
export function tooFewAlike(seen: Seen): string | null {
  const { test, magnitude, n, paired, alpha } = seen
  const sides = Math.abs(test.difference) <= rounding * magnitude ? 1 : 2
  const enough = (a: number, b: number): boolean =>
    ((paired ? smallestSignFlipP(a) : smallestPermutationP(a, b)) * sides) / 2 <= alpha
  if (enough(n[0], n[1])) return null
  let fewest = 2
  while (!enough(fewest, fewest)) fewest++
  return paired
    ? `${n[0]} ${noun(n[0], 'pair')} with the same difference to the last digit: no spread was seen, and so few can be alike by chance; ${fewest} such pairs are the fewest that tell`
    : `${n[0]} ${noun(n[0], 'run')} of A and ${n[1]} of B, alike in each arm to the last digit: no spread was seen, and so few can be alike by chance; ${fewest} of each are the fewest that tell`
}
