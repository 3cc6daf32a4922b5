import { PlimsollError } from '../../base/errors.ts'
import { drainTime } from '../../stats/queueing.ts'
import {
  ceil,
  divide,
  multiply,
  subtract,
  toRational,
  type Rational,
  type RationalInput,
} from '../../stats/rational.ts'

/** Least seconds to bring weights onto a device: bytes ÷ bytes per second. A start never takes less. */
export function weightLoadSeconds(weightBytes: number, bytesPerSecond: number): number {
  if (!(bytesPerSecond > 0)) {
    throw new PlimsollError('PLIM_NUMBER', 'a bandwidth is above 0', { received: String(bytesPerSecond) })
  }
  return weightBytes / bytesPerSecond
}

/** Bytes of the same weights at another precision. */
export function quantizedBytes(weightBytes: number, fromBits: number, toBits: number): number {
  return (weightBytes * toBits) / fromBits
}

/** Shards that load side by side over their own links and one shared link: the slower of the two. */
export function shardedLoadSeconds(
  weightBytes: number,
  shards: number,
  bytesPerSecondPerShard: number,
  sharedBytesPerSecond: number,
): number {
  return Math.max(
    weightLoadSeconds(weightBytes / shards, bytesPerSecondPerShard),
    weightLoadSeconds(weightBytes, sharedBytesPerSecond),
  )
}

/** The parts of a start, seconds. */
export interface ColdStart {
  readonly loadSeconds: number
  readonly scheduleSeconds: number
  readonly initSeconds: number
  readonly warmupSeconds: number
  readonly probePeriodSeconds: number
}

/** From the decision to the first request served: readiness is seen up to one probe period late. */
export function coldStartSeconds(start: ColdStart): { readonly min: number; readonly max: number } {
  const min = start.loadSeconds + start.scheduleSeconds + start.initSeconds + start.warmupSeconds
  return { min, max: min + start.probePeriodSeconds }
}

/** Arrival rate at which to order a replica while demand grows by `rampPerSecond` a second: C − ramp·T_cold. */
export function triggerRate(
  capacity: RationalInput,
  rampPerSecond: RationalInput,
  coldStart: RationalInput,
): Rational {
  return subtract(toRational(capacity), multiply(toRational(rampPerSecond), toRational(coldStart)))
}

/** Replicas to keep warm so that a ramp is met while the next one starts: ⌈ramp·T_cold ÷ usable⌉, exact. */
export function warmPool(
  rampPerSecond: RationalInput,
  coldStart: RationalInput,
  usablePerReplica: RationalInput,
): number {
  const growth = multiply(toRational(rampPerSecond), toRational(coldStart))
  return Math.max(0, Number(ceil(divide(growth, toRational(usablePerReplica)))))
}

/** Seconds until a backlog is gone with `replicas` serving; null when they cannot keep up. */
export function drainSeconds(
  waiting: number,
  arrivalRate: number,
  completionRatePerReplica: number,
  replicas: number,
): number | null {
  return drainTime(waiting, completionRatePerReplica * replicas, arrivalRate)
}
