import { tQuantile } from './student-t.ts'

/** What is known of a difference: new minus base, in the metric's unit. */
export interface KnownDifference {
  readonly difference: number
  readonly se: number
  readonly degrees: number
}

/** Three-valued: a difference was shown, its absence (within the margin, or on the bad side only) was, or neither. */
export type DifferenceVerdict = 'different' | 'equivalent' | 'no_regression' | 'inconclusive'

export interface EquivalenceTest {
  /** 1 − 2α interval of the two one-sided tests. */
  readonly interval: readonly [low: number, high: number]
  /** 1 − α two-sided interval excludes 0. */
  readonly significant: boolean
  /** The interval lies inside ±margin. */
  readonly equivalent: boolean
  /** The one-sided bound on the worse side lies inside the margin. */
  readonly noRegression: boolean
  /** `different` first, then `equivalent`, then `no_regression`. */
  readonly verdict: DifferenceVerdict
}

/**
 * Schuirmann's two one-sided tests (1987) of |difference| < margin, with the ordinary test beside them. `worse` says in
 * which direction the metric gets worse. A difference may be both shown and within the margin: real and irrelevant.
 */
export function testEquivalence(
  known: KnownDifference,
  margin: number,
  options: { readonly alpha?: number; readonly worse?: 'higher' | 'lower' } = {},
): EquivalenceTest {
  const alpha = options.alpha ?? 0.05
  const half = known.se === 0 ? 0 : tQuantile(1 - alpha, known.degrees) * known.se
  const wide = known.se === 0 ? 0 : tQuantile(1 - alpha / 2, known.degrees) * known.se
  const low = known.difference - half
  const high = known.difference + half
  const significant = Math.abs(known.difference) > wide
  const equivalent = low > -margin && high < margin
  const noRegression = options.worse === 'lower' ? low > -margin : high < margin
  const verdict = significant
    ? 'different'
    : equivalent
      ? 'equivalent'
      : noRegression
        ? 'no_regression'
        : 'inconclusive'
  return { interval: [low, high], significant, equivalent, noRegression, verdict }
}
