import { smallestCount } from './smallest-count.ts'
import { noncentralTCdf, tQuantile } from './student-t.ts'
import { normalQuantile } from './normal.ts'

/** Two arms of `n` runs each, standard deviation `sd` of a run, two-sided level `alpha`. */
export interface TwoArmDesign {
  readonly sd: number
  readonly alpha?: number
}

/** Standard error of a difference of two means of `n` runs: sd·√(2/n). */
export function differenceSe(sd: number, n: number): number {
  return sd * Math.sqrt(2 / n)
}

/** Half the width of the t interval of that difference; null below two runs. */
export function tHalfWidth(sd: number, n: number, confidence = 0.95): number | null {
  return n < 2 ? null : tQuantile(1 - (1 - confidence) / 2, 2 * n - 2) * differenceSe(sd, n)
}

/** Chance that a t test of two arms of `n` sees a true difference `delta` (noncentral t). */
export function tTestPower(n: number, delta: number, design: TwoArmDesign): number {
  const degrees = 2 * n - 2
  const critical = tQuantile(1 - (design.alpha ?? 0.05) / 2, degrees)
  const noncentrality = Math.abs(delta) / differenceSe(design.sd, n)
  return (
    1 - noncentralTCdf(critical, degrees, noncentrality) + noncentralTCdf(-critical, degrees, noncentrality)
  )
}

/** The same for `n` pairs with standard deviation `sd` of a difference. */
export function pairedPower(n: number, delta: number, design: TwoArmDesign): number {
  const critical = tQuantile(1 - (design.alpha ?? 0.05) / 2, n - 1)
  const noncentrality = (Math.abs(delta) * Math.sqrt(n)) / design.sd
  return 1 - noncentralTCdf(critical, n - 1, noncentrality) + noncentralTCdf(-critical, n - 1, noncentrality)
}

/** Standard deviation of a paired difference: σ√(2(1 − r)). */
export function pairedDeviation(sd: number, correlation: number): number {
  return sd * Math.sqrt(2 * (1 - correlation))
}

/** Runs an arm needs by the rule of two, 2·sd·√(2/n) ≤ delta: real-valued, and rounded up. Null for no difference. */
export function runsByRuleOfTwo(
  sd: number,
  delta: number,
): { readonly real: number; readonly runs: number } | null {
  if (delta === 0) return null
  const real = 8 * (sd / delta) ** 2
  return { real, runs: Math.max(2, Math.ceil(real - 1e-12 * real)) }
}

/** The fewest runs an arm whose t interval is no wider than `delta` on each side: an even chance to see it. Null for no difference. */
export function runsByT(sd: number, delta: number, confidence = 0.95): number | null {
  return smallestRuns(delta, (n) => (tHalfWidth(sd, n, confidence) as number) <= Math.abs(delta))
}

/** The fewest runs an arm with the power asked for; null for no difference. */
export function runsForPower(delta: number, power: number, design: TwoArmDesign): number | null {
  return smallestRuns(delta, (n) => tTestPower(n, delta, design) >= power)
}

/** The fewest pairs with the power asked for, `sd` that of a difference; null for no difference. */
export function pairsForPower(delta: number, power: number, design: TwoArmDesign): number | null {
  return smallestRuns(delta, (n) => pairedPower(n, delta, design) >= power)
}

/** The planning formula 2(z_{1−α/2} + z_power)²σ² ÷ δ², rounded up: a run or two short of the t answer. */
export function runsByNormal(delta: number, power: number, design: TwoArmDesign): number | null {
  if (delta === 0) return null
  const z = normalQuantile(1 - (design.alpha ?? 0.05) / 2) + normalQuantile(power)
  return Math.ceil(2 * (z * (design.sd / delta)) ** 2)
}

/** The smallest true difference that two arms of `n` runs see with the power asked for; null below two runs. */
export function minimumDetectableEffect(n: number, power: number, design: TwoArmDesign): number | null {
  if (n < 2) return null
  if (design.sd === 0) return 0
  return solveEffect((delta) => tTestPower(n, delta, design) - power, differenceSe(design.sd, n))
}

/** The same for pairs, `sd` that of a difference. */
export function minimumDetectablePairedEffect(n: number, power: number, design: TwoArmDesign): number | null {
  if (n < 2) return null
  if (design.sd === 0) return 0
  return solveEffect((delta) => pairedPower(n, delta, design) - power, design.sd / Math.sqrt(n))
}

function smallestRuns(delta: number, enough: (n: number) => boolean): number | null {
  return delta === 0 ? null : smallestCount(enough)
}

/** Illinois false position on a power curve, which rises with the effect. */
function solveEffect(excess: (delta: number) => number, scale: number): number {
  let low = 0
  let high = 3 * scale
  let below = excess(low)
  let above = excess(high)
  while (above < 0) {
    low = high
    below = above
    high *= 2
    above = excess(high)
  }
  for (let step = 0; step < 100 && high - low > 1e-12 * high; step++) {
    const next = high - (above * (high - low)) / (above - below)
    const value = excess(next)
    if (value === 0) return next
    if (value > 0) {
      high = next
      above = value
      below /= 2
    } else {
      low = next
      below = value
      above /= 2
    }
    if (Math.abs(value) < 1e-13) return next
  }
  return (low + high) / 2
}
