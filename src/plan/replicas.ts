import { PlimsollError } from '../base/errors.ts'
import { binomialTail } from '../stats/binomial.ts'
import { poissonCdf, poissonQuantile } from '../stats/poisson.ts'
import {
  add,
  ceil,
  compare,
  divide,
  floor,
  multiply,
  subtract,
  toDecimalText,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from '../stats/rational.ts'

/** What a fleet must carry. Numbers as the user wrote them: the ceilings are exact. */
export interface Demand {
  /** Peak demand, in the unit of `perReplica`. */
  readonly peak: RationalInput
  /** What one replica was measured to carry. */
  readonly perReplica: RationalInput
  /** Share kept free, 0 to below 1. */
  readonly margin?: RationalInput
  /** `derate`: a replica is used to (1 − margin) of its capacity. `uplift`: the demand is taken as (1 + margin) of itself. */
  readonly marginKind?: 'derate' | 'uplift'
  /** Busiest replica's load over the mean, at least 1. */
  readonly imbalance?: RationalInput
  /** Replicas that may be lost. */
  readonly failures?: number
}

export interface ReplicaCount {
  /** Capacity of one replica that the plan uses. */
  readonly usable: Rational
  /** Replicas needed, before rounding up. */
  readonly need: Rational
  readonly serving: number
  /** serving + failures; 0 without demand, whatever is to be survived. */
  readonly total: number
}

const one: Rational = { num: 1n, den: 1n }

/** need = peak·imbalance ÷ (per·(1 − margin)), serving = ⌈need⌉. Throws PLIM_NUMBER for a margin of 100 % and the like. */
export function replicasFor(demand: Demand): ReplicaCount {
  const peak = toRational(demand.peak)
  const perReplica = toRational(demand.perReplica)
  const margin = toRational(demand.margin ?? 0)
  const imbalance = toRational(demand.imbalance ?? 1)
  const failures = demand.failures ?? 0
  require(peak.num >= 0n, 'a peak demand is not negative', demand.peak)
  require(perReplica.num > 0n, 'a replica carries more than nothing', demand.perReplica)
  require(margin.num >= 0n, 'a margin is not negative', demand.margin)
  require(compare(imbalance, one) >= 0, 'the busiest replica carries at least the mean', demand.imbalance)
  require(Number.isInteger(failures) && failures >= 0, 'failures to survive are a whole number', failures)
  const derate = (demand.marginKind ?? 'derate') === 'derate'
  require(!derate || compare(margin, one) < 0, 'a margin of 100 % leaves no capacity to use', demand.margin)
  const usable = derate ? multiply(perReplica, subtract(one, margin)) : perReplica
  const load = multiply(multiply(peak, imbalance), derate ? one : add(one, margin))
  const need = divide(load, usable)
  const serving = Number(ceil(need))
  return { usable, need, serving, total: serving === 0 ? 0 : serving + failures }
}

/** Replicas in `zones` equal zones so that `serving` are left when `lost` zones fail: ⌈s ÷ (Z − k)⌉·Z. */
export function replicasOverZones(serving: number, zones: number, lost: number): number {
  require(zones > lost && lost >= 0, 'more zones than are lost are needed', `${lost} of ${zones}`)
  return Math.ceil(serving / (zones - lost)) * zones
}

/** GPUs of replicas that each span several. */
export function gpusFor(replicas: number, gpusPerReplica: number): number {
  return replicas * gpusPerReplica
}

/** Chance that at least `need` of `deployed` replicas are up, each with the given availability, independently. */
export function chanceEnoughUp(need: number, deployed: number, availability: number): number {
  return binomialTail(need - 1, deployed, availability)
}

/** Peak to mean over `windowSeconds` that Poisson arrivals alone reach: quantile `q` of the count ÷ its mean. */
export function poissonPeakToMean(ratePerSecond: number, windowSeconds: number, q: number): number {
  const mean = ratePerSecond * windowSeconds
  return poissonQuantile(q, mean) / mean
}

/** Share of windows whose Poisson count stays within `uplift` times its mean. */
export function upliftCovers(
  ratePerSecond: RationalInput,
  windowSeconds: RationalInput,
  uplift: RationalInput,
): number {
  const mean = multiply(toRational(ratePerSecond), toRational(windowSeconds))
  return poissonCdf(Number(floor(multiply(mean, toRational(uplift)))), toNumber(mean))
}

function require(holds: boolean, sentence: string, received: RationalInput | undefined): void {
  if (holds) return
  const text = typeof received === 'object' ? toDecimalText(received) : String(received)
  throw new PlimsollError('PLIM_NUMBER', sentence, { received: text })
}
