import { smallestCount } from '../stats/smallest-count.ts'
import { tQuantile, noncentralTCdf } from '../stats/student-t.ts'
import { normalQuantile } from '../stats/normal.ts'
import { pairedPower, runsByRuleOfTwo, runsByT, tTestPower } from '../stats/power.ts'

/** Runs an arm (or pairs) that would tell; null where no number of up to a million does. */
export interface RunsNeeded {
  /** For a true difference as large as the one seen: its interval by two standard errors just excludes 0. */
  readonly rule_of_two: number | null
  /** The same with Student's t: an even chance to see it. */
  readonly t: number | null
  /** Enough to see it with the power asked for. */
  readonly power: number | null
  /** Enough to show that there is nothing beyond the margin, if truly nothing changed, with that power. */
  readonly equivalence: number | null
  /** The smaller of the two last: what to do next. */
  readonly to_tell: number | null
}

interface Design {
  /** Standard deviation of a run, or of the difference of a pair. */
  readonly noiseSd: number
  readonly paired: boolean
  /** Runs an arm, or pairs. */
  readonly n: number
}

interface Level {
  readonly alpha: number
  readonly power: number
}

/**
 * The smallest true difference, in the unit, that the design sees with the power asked for, to six figures: a secant on the power of
 * the noncentral t from (t₁₋α/₂ + t_power)·se, which is within a few per cent.
 */
export function detectable({ noiseSd, paired, n }: Design, { alpha, power }: Level): number {
  if (noiseSd === 0) return 0
  const known = { sd: noiseSd, alpha }
  const degrees = paired ? n - 1 : 2 * n - 2
  const se = noiseSd * Math.sqrt((paired ? 1 : 2) / n)
  const excess = (delta: number): number =>
    (paired ? pairedPower(n, delta, known) : tTestPower(n, delta, known)) - power
  let before = (tQuantile(1 - alpha / 2, degrees) + tQuantile(power, degrees)) * se
  let excessBefore = excess(before)
  let delta = before * 0.98
  for (let step = 0; step < 30 && Math.abs(delta - before) > 1e-7 * before; step++) {
    const now = excess(delta)
    if (now === excessBefore) break
    const next = delta - (now * (delta - before)) / (now - excessBefore)
    before = delta
    excessBefore = now
    // Far from the answer a power curve is flat, and a secant leaps.
    delta = Math.min(2 * delta, Math.max(delta / 2, next))
  }
  return delta
}

/** How many runs would settle what these could not: a difference as large as seen, or its absence. */
export function runsToTell(
  difference: number,
  margin: number,
  { noiseSd, paired }: Design,
  { alpha, power }: Level,
): RunsNeeded {
  // A pair is one difference of sd s; an arm of two means has s·√2.
  const perArm = paired ? noiseSd / Math.SQRT2 : noiseSd
  const seen = runsToSee(difference, power, { noiseSd, paired, alpha })
  const equivalence = runsForEquivalence(margin, power, { noiseSd, paired, alpha })
  const known = [seen, equivalence].filter((runs) => runs !== null)
  return {
    rule_of_two: runsByRuleOfTwo(perArm, difference)?.runs ?? null,
    t: paired ? pairsByT(noiseSd, difference, 1 - alpha) : runsByT(noiseSd, difference, 1 - alpha),
    power: seen,
    equivalence,
    to_tell: known.length === 0 ? null : Math.min(...known),
  }
}

interface Noise {
  readonly noiseSd: number
  readonly paired: boolean
  readonly alpha: number
}

/** The fewest runs an arm (or pairs) that see a true difference with the power asked for; null for none, or over a million. */
export function runsToSee(
  difference: number,
  power: number,
  { noiseSd, paired, alpha }: Noise,
): number | null {
  if (difference === 0) return null
  const known = { sd: noiseSd, alpha }
  const z = normalQuantile(1 - alpha / 2)
  const guess = normalRuns(noiseSd / difference, z, z + normalQuantile(power), paired)
  return smallestNear(
    guess,
    (n) => (paired ? pairedPower(n, difference, known) : tTestPower(n, difference, known)) >= power,
  )
}

/**
 * The fewest runs an arm (or pairs) with which the two one-sided tests at α both reject, with the power asked for, when the true
 * difference is 0: 2·P(T′ > t) − 1 with noncentrality margin ÷ se, T′ noncentral t. (A lower bound of the exact power that is
 * tight above one half; Phillips 1990 has the exact form.) Null without a margin.
 */
export function runsForEquivalence(
  margin: number,
  power: number,
  { noiseSd, paired, alpha }: Noise,
): number | null {
  if (!(margin > 0)) return null
  const z = normalQuantile(1 - alpha)
  const guess = normalRuns(noiseSd / margin, z, z + normalQuantile((1 + power) / 2), paired)
  return smallestNear(guess, (n) => {
    const degrees = paired ? n - 1 : 2 * n - 2
    const se = noiseSd * Math.sqrt((paired ? 1 : 2) / n)
    if (se === 0) return true
    const one = 1 - noncentralTCdf(tQuantile(1 - alpha, degrees), degrees, margin / se)
    return 2 * one - 1 >= power
  })
}

/** The normal formula k(z·σ ÷ δ)² with Guenther's correction for t, z² ÷ 4 an arm and z² ÷ 2 for pairs ("Sample sizes for t-tests", 1981). */
function normalRuns(ratio: number, z: number, sum: number, paired: boolean): number {
  return paired ? (sum * ratio) ** 2 + (z * z) / 2 : 2 * (sum * ratio) ** 2 + (z * z) / 4
}

/** Up to here the answer is exact; beyond, the corrected normal formula is within a run of it. */
const exactRuns = 300

function smallestNear(guess: number, enough: (n: number) => boolean): number | null {
  const start = Math.max(2, Math.ceil(guess))
  if (start > 1 << 20) return null
  if (start > exactRuns) return start
  let n = start
  while (!enough(n)) n++
  while (n > 2 && enough(n - 1)) n--
  return n
}

function pairsByT(sd: number, difference: number, confidence: number): number | null {
  if (difference === 0) return null
  return smallestCount(
    (n) => tQuantile(1 - (1 - confidence) / 2, n - 1) * (sd / Math.sqrt(n)) <= Math.abs(difference),
  )
}
