import { PlimsollError } from '../base/errors.ts'
import { percentileShare, type Percentile } from './percentile.ts'
import {
  add,
  compare,
  divide,
  multiply,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from './rational.ts'

/** A distribution of positive values as a mixture needs it. */
export interface Distribution {
  readonly cdf: (x: number) => number
  /** P(X > x), where that is known more exactly than 1 − cdf. */
  readonly tail: (x: number) => number
  readonly quantile: (p: number) => number
}

/** One segment of traffic or one replica, with its share. */
export interface MixturePart {
  readonly weight: number
  readonly distribution: Distribution
}

/** Quantile of a mixture, the smallest x with Σ wF(x) ≥ p, by bisection between the parts' own quantiles. `p` in (0, 1). */
export function mixtureQuantile(parts: readonly MixturePart[], p: number): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const used = parts.filter(({ weight }) => weight > 0)
  if (used.length === 0) throw new PlimsollError('PLIM_NUMBER', 'a mixture needs a part with weight')
  const rest = (1 - p) * total
  const target = p * total
  // In the upper half the tails are compared: 1 − F loses digits there.
  const reached = (x: number): boolean => {
    const sum = used.reduce(
      (acc, { weight, distribution }) =>
        acc + weight * (p > 0.5 ? distribution.tail(x) : distribution.cdf(x)),
      0,
    )
    return p > 0.5 ? sum <= rest * (1 + 1e-14) : sum >= target * (1 - 1e-14)
  }
  const quantiles = used.map(({ distribution }) => distribution.quantile(p))
  let low = Math.min(...quantiles)
  let high = Math.max(...quantiles)
  if (reached(low)) return low
  for (let step = 0; step < 200; step++) {
    const middle = low + (high - low) / 2
    if (middle <= low || middle >= high) break
    if (reached(middle)) high = middle
    else low = middle
  }
  return high
}

/** How a blended percentile moved: because the mix did, and because the segments did. */
export interface MixDecomposition {
  readonly total: number
  /** After's mix over before's segments, minus before. */
  readonly mix: number
  readonly within: number
}

/** Splits the move of a blended quantile by the counterfactual of the new mix over the old segments. */
export function decomposeMix(
  before: readonly MixturePart[],
  after: readonly MixturePart[],
  p: number,
): MixDecomposition {
  const start = mixtureQuantile(before, p)
  const end = mixtureQuantile(after, p)
  const counterfactual = mixtureQuantile(
    before.map(({ distribution }, i) => ({ distribution, weight: after[i]?.weight ?? 0 })),
    p,
  )
  return { total: end - start, mix: counterfactual - start, within: end - counterfactual }
}

/**
 * Population stability index Σ(a − b)·ln(a ÷ b) of two mixes of the same segments; above 0.1 the mix has shifted. A
 * segment that is absent on one side counts as one in a million there, so that it stays finite.
 */
export function populationStability(before: readonly number[], after: readonly number[]): number {
  const floor = 1e-6
  const totals = [before, after].map((shares) => shares.reduce((sum, share) => sum + share, 0))
  let sum = 0
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const b = Math.max(floor, (before[i] ?? 0) / (totals[0] as number))
    const a = Math.max(floor, (after[i] ?? 0) / (totals[1] as number))
    sum += (a - b) * Math.log(a / b)
  }
  return sum
}

/** What is known of one replica: some quantiles, level and value as text or numbers. */
export interface ReplicaKnots {
  readonly weight?: RationalInput
  readonly knots: readonly (readonly [level: RationalInput, value: RationalInput])[]
}

/** Where a fleet's percentile must lie; null: unbounded by what is known. */
export interface FleetBounds {
  readonly low: number | null
  readonly high: number | null
}

/**
 * Bounds of a fleet's percentile from quantiles of its replicas alone. Each F_i(x) lies between the largest known level
 * with x_q ≤ x and the smallest with x_q > x; the sums are exact, since ties (4 × 1 % = 1 %) decide.
 */
export function fleetPercentileBounds(replicas: readonly ReplicaKnots[], p: Percentile): FleetBounds {
  const share = percentileShare(p)
  const parts = replicas.map(({ weight, knots }) => ({
    weight: toRational(weight ?? 1),
    knots: knots.map(([level, value]) => ({ level: toRational(level), value: toRational(value) })),
  }))
  const total = parts.reduce((sum, { weight }) => add(sum, weight), zero)
  if (total.num <= 0n) return { low: null, high: null }
  const candidates = parts
    .flatMap(({ knots }) => knots.map(({ value }) => value))
    .sort((a, b) => compare(a, b))
  // F_i(x) < q strictly below a known x_q, so a sum that needs every bound to be met is not reached there.
  const couldReach = (x: Rational | null): boolean => {
    let sum = zero
    let strict = false
    for (const { weight, knots } of parts) {
      const ahead = knots.filter(({ value }) => x === null || compare(value, x) > 0).map(({ level }) => level)
      sum = add(sum, multiply(weight, extreme(ahead, -1, one)))
      strict ||= ahead.length > 0 && weight.num > 0n
    }
    const side = compare(divide(sum, total), share)
    return strict ? side > 0 : side >= 0
  }
  const mustReach = (x: Rational): boolean => {
    const sum = parts.reduce((acc, { weight, knots }) => {
      const reached = knots.filter(({ value }) => compare(value, x) <= 0).map(({ level }) => level)
      return add(acc, multiply(weight, extreme(reached, 1, zero)))
    }, zero)
    return compare(divide(sum, total), share) >= 0
  }
  const low = couldReach(null) ? undefined : candidates.find(couldReach)
  const high = candidates.find(mustReach)
  return { low: low === undefined ? null : toNumber(low), high: high === undefined ? null : toNumber(high) }
}

const zero: Rational = { num: 0n, den: 1n }
const one: Rational = { num: 1n, den: 1n }

function extreme(levels: readonly Rational[], sign: 1 | -1, fallback: Rational): Rational {
  return (
    levels.reduce<Rational | null>(
      (best, level) => (best === null || compare(level, best) * sign > 0 ? level : best),
      null,
    ) ?? fallback
  )
}
