import { mean, variance } from './describe.ts'
import { tQuantile, tTwoSided } from './student-t.ts'

/** n, mean and standard deviation of one arm. */
export interface Sample {
  readonly n: number
  readonly mean: number
  readonly sd: number
}

/** A t test of a difference; `difference` is first minus second. */
export interface TTest {
  readonly difference: number
  readonly se: number
  /** Null where the standard error is 0: no noise was seen, and no t can be formed. */
  readonly t: number | null
  readonly degrees: number
  readonly p: number | null
}

/** What a sample is, for the tests; null below two values, where no spread is known. */
export function sampleOf(values: ArrayLike<number>): Sample | null {
  const centre = mean(values)
  const square = variance(values)
  return centre === null || square === null ? null : { n: values.length, mean: centre, sd: Math.sqrt(square) }
}

/** Welch's test of two means with unequal variances, Satterthwaite's degrees of freedom (Welch 1947). */
export function welch(first: Sample, second: Sample): TTest {
  const a = (first.sd * first.sd) / first.n
  const b = (second.sd * second.sd) / second.n
  const se = Math.sqrt(a + b)
  const degrees =
    se === 0 ? first.n + second.n - 2 : (a + b) ** 2 / ((a * a) / (first.n - 1) + (b * b) / (second.n - 1))
  return tTest(first.mean - second.mean, se, degrees)
}

/** Student's paired test of values that belong together by index; null below two pairs or with unequal lengths. */
export function pairedT(first: ArrayLike<number>, second: ArrayLike<number>): TTest | null {
  if (first.length !== second.length) return null
  const differences = Array.from(first, (value, i) => value - (second[i] as number))
  const sample = sampleOf(differences)
  return sample === null ? null : tTest(sample.mean, sample.sd / Math.sqrt(sample.n), sample.n - 1)
}

/** difference ± t·se at a two-sided confidence. */
export function tInterval(test: TTest, confidence = 0.95): readonly [low: number, high: number] {
  const half = test.se === 0 ? 0 : tQuantile(1 - (1 - confidence) / 2, test.degrees) * test.se
  return [test.difference - half, test.difference + half]
}

function tTest(difference: number, se: number, degrees: number): TTest {
  if (se === 0) return { difference, se, t: null, degrees, p: null }
  const t = difference / se
  return { difference, se, t, degrees, p: tTwoSided(t, degrees) }
}
