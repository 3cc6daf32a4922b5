import { noun } from '../../base/noun.ts'
import {
  ceil,
  compare,
  divide,
  floor,
  multiply,
  subtract,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'
import { triggerRate, warmPool } from './cold-start.ts'

/** A tested load: what a replica served and how much it held in flight. */
export interface CurvePoint {
  readonly requestsPerSecond: number
  readonly inFlight: number
}

export interface PolicyBasis {
  /** A replica's requests per second within the objective. */
  readonly requestsPerSecond: RationalInput
  /** Share of it that is used when nothing happens: 1 − margin, or 1 ÷ (1 + margin). */
  readonly usableShare: RationalInput
  /** The tested loads up to the operating point, rising. */
  readonly curve: readonly CurvePoint[]
  /** Growth of the fleet's demand, requests per second each second; null: not known. */
  readonly rampPerSecond: RationalInput | null
  /** From the decision to the first request served, seconds; null: not known. */
  readonly coldStart: { readonly minSeconds: number; readonly maxSeconds: number } | null
  readonly minReplicas: number
  readonly maxReplicas: number
}

export interface ScalePolicy {
  /** The fleet's rate at `minReplicas` at which the next replica is ordered. */
  readonly triggerPerSecond: number
  /** The same per replica: what the scaler aims at. */
  readonly targetPerSecond: number
  /** Requests in flight (running and waiting) per replica at that rate, by the tested curve. */
  readonly targetInFlight: number
  /** Replicas kept beyond the demand, because a start is slower than the ramp. */
  readonly warmPool: number
  /** Requests in flight to add to the fleet's, so that the scaler itself keeps the pool at every size. */
  readonly reserveInFlight: number
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly scaleDownStabilizationSeconds: number
  /** Seconds between two removals. */
  readonly scaleDownPeriodSeconds: number
  readonly working: readonly string[]
}

const one: Rational = { num: 1n, den: 1n }
/** Kubernetes' own default window for scaling down. */
const defaultStabilizationSeconds = 300

/**
 * What a scaler is told. The trigger leaves what the demand grows by while a replica starts: n·C − ramp·T, per replica C − ramp·T ÷ n,
 * and never above the usable share. Where that would cost more replicas at the peak than the growth itself, the growth stands ready as
 * a warm pool: ⌈ramp·T ÷ usable⌉.
 */
export function scalePolicy(basis: PolicyBasis): ScalePolicy {
  const capacity = toRational(basis.requestsPerSecond)
  const usable = multiply(capacity, toRational(basis.usableShare))
  const working = [
    `usable ${text(capacity)} × ${text(toRational(basis.usableShare))} = ${text(usable)} req/s a replica`,
  ]
  const minimum = Math.max(1, basis.minReplicas)
  let target = usable
  let pool = 0
  const { rampPerSecond: ramp, coldStart } = basis
  if (ramp === null || coldStart === null) {
    working.push(
      'no ramp or no cold start is known: the trigger is the usable share, and no warm pool is planned',
    )
  } else {
    const start = coldStart.maxSeconds
    const fleet = multiply(capacity, toRational(minimum))
    const early = divide(triggerRate(fleet, ramp, start), toRational(minimum))
    working.push(
      `demand grows by ${text(toRational(ramp))} × ${start} s = ${text(multiply(toRational(ramp), toRational(start)))} req/s while a replica starts`,
      `order at ${minimum} × ${text(capacity)} − ${text(multiply(toRational(ramp), toRational(start)))} = ${text(multiply(early, toRational(minimum)))} req/s, ${text(early)} a replica`,
    )
    pool = warmPool(ramp, start, usable)
    if (compare(early, usable) >= 0) {
      pool = 0
      working.push('the usable share leaves that much already: nothing more is kept')
    } else if (early.num > 0n && extraReplicas(usable, early, basis.maxReplicas) <= pool) {
      target = early
      pool = 0
    } else {
      working.push(
        `${pool} ${noun(pool, 'replica is', 'replicas are')} kept warm instead, which is less than a lower target would cost at ${basis.maxReplicas} ${noun(basis.maxReplicas, 'replica')}: ⌈${text(multiply(toRational(ramp), toRational(start)))} ÷ ${text(usable)}⌉`,
      )
    }
  }
  const inFlight = inFlightAt(basis.curve, toNumber(target))
  working.push(`in flight at ${text(target)} req/s by the tested loads: ${inFlight}`)
  const downSeconds = Math.max(
    defaultStabilizationSeconds,
    coldStart === null ? 0 : Math.ceil(2 * coldStart.maxSeconds),
  )
  return {
    triggerPerSecond: toNumber(multiply(target, toRational(minimum))),
    targetPerSecond: toNumber(target),
    targetInFlight: inFlight,
    warmPool: pool,
    reserveInFlight: pool * inFlight,
    minReplicas: minimum,
    maxReplicas: Math.max(basis.maxReplicas, minimum) + pool,
    scaleDownStabilizationSeconds: downSeconds,
    scaleDownPeriodSeconds: Math.max(60, coldStart === null ? 0 : Math.ceil(coldStart.maxSeconds)),
    working,
  }
}

/** Replicas that aiming at `early` instead of `usable` costs a fleet of `replicas`. */
function extraReplicas(usable: Rational, early: Rational, replicas: number): number {
  return Number(ceil(multiply(toRational(replicas), divide(subtract(usable, early), usable))))
}

/**
 * Requests in flight at a rate, on straight lines through the tested points and the origin, rounded down and at least 1: a scaler that
 * aims a little lower orders a little earlier. Beyond the last point its own: nothing is extrapolated.
 */
export function inFlightAt(curve: readonly CurvePoint[], requestsPerSecond: number): number {
  const points = [{ requestsPerSecond: 0, inFlight: 0 }, ...rising(curve)]
  const upper = points.findIndex((point) => point.requestsPerSecond >= requestsPerSecond)
  const above = points[upper] ?? points.at(-1)!
  const below = points[upper - 1]
  if (upper <= 0 || below === undefined) return Math.max(1, Math.floor(above.inFlight))
  const share =
    (requestsPerSecond - below.requestsPerSecond) / (above.requestsPerSecond - below.requestsPerSecond)
  return Math.max(1, Math.floor(below.inFlight + share * (above.inFlight - below.inFlight)))
}

/** Points by rate, those left out that served no more than a lighter load did. */
function rising(curve: readonly CurvePoint[]): CurvePoint[] {
  const kept: CurvePoint[] = []
  for (const point of curve.toSorted((a, b) => a.inFlight - b.inFlight)) {
    if (point.requestsPerSecond > (kept.at(-1)?.requestsPerSecond ?? 0)) kept.push(point)
  }
  return kept
}

/** What a user waits behind a backlog: what builds up while a replica starts, and the time to work it off. */
export function backlogDuringStart(
  arrivalPerSecond: RationalInput,
  capacityPerSecond: RationalInput,
  coldStartSeconds: RationalInput,
): { readonly waiting: number; readonly waitSeconds: number } {
  const capacity = toRational(capacityPerSecond)
  const excess = subtract(toRational(arrivalPerSecond), capacity)
  const grown = excess.num > 0n ? multiply(excess, toRational(coldStartSeconds)) : { num: 0n, den: 1n }
  return {
    waiting: Number(ceil(grown)),
    waitSeconds: capacity.num > 0n ? toNumber(divide(grown, capacity)) : 0,
  }
}

/** 1 − margin, or 1 ÷ (1 + margin): the share of a replica that a margin leaves for use. */
export function usableShare(margin: RationalInput, kind: 'derate' | 'uplift'): Rational {
  const share = toRational(margin)
  return kind === 'derate'
    ? subtract(one, share)
    : divide(one, { num: share.num + share.den, den: share.den })
}

function text(value: Rational): string {
  const thousandths = Number(floor(multiply(value, toRational(1000))))
  return String(thousandths / 1000)
}
