import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import {
  add,
  compare,
  divide,
  multiply,
  subtract,
  toDecimalText,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from '../stats/rational.ts'
import { gpusFor, poissonPeakToMean, replicasFor, replicasOverZones } from './replicas.ts'

/** How a margin is meant. `unsaid`: the user gave a share and not its reading. */
export type MarginKind = 'derate' | 'uplift'

export interface FleetDemand {
  /** Peak demand, requests per second, as the mean of the busiest minute. */
  readonly peak: RationalInput
  /** What one replica was measured to carry within its objective, requests per second. */
  readonly perReplica: RationalInput
  readonly margin: { readonly share: RationalInput; readonly kind: MarginKind | 'unsaid' }
  /** Busiest replica's load over the mean, at least 1. */
  readonly imbalance: RationalInput
  /** Replicas that may be lost. */
  readonly failures: number
  /** Equal zones of which `lost` may be lost; null: one zone that stays. */
  readonly zones: { readonly count: number; readonly lost: number } | null
  /** GPUs of one replica: the size of its tensor-parallel group. */
  readonly gpusPerReplica: number
  /** Peaks inside the busiest minute to size for: the Poisson P99 of a window, seconds. Null: the mean of the minute. */
  readonly burstWindowSeconds: number | null
}

/** One reading of the margin, carried to a number of replicas. */
export interface FleetReading {
  readonly margin: MarginKind
  readonly usable: Rational
  readonly need: Rational
  /** Replicas that carry the demand. */
  readonly serving: number
  /** With those that may be lost; 0 without demand. */
  readonly replicas: number
  readonly gpus: number
  /** As on a whiteboard, a step an entry. */
  readonly working: readonly string[]
}

export interface FleetSize {
  /** The reading that was asked for, or both. */
  readonly readings: readonly FleetReading[]
  /** Null where the two readings differ and none was chosen. */
  readonly chosen: FleetReading | null
  /** Factor of the burst on the peak, 1 without. */
  readonly burst: Rational
}

const one: Rational = { num: 1n, den: 1n }

/**
 * Replicas of a demand: need = peak·burst·imbalance ÷ (per·(1 − margin)) or peak·burst·imbalance·(1 + margin) ÷ per, rounded up, and
 * what may be lost on top (DESIGN §6). All exact. Throws PLIM_NUMBER for a margin of 100 %, too few zones and the like.
 */
export function fleetSize(demand: FleetDemand): FleetSize {
  const burst = burstFactor(demand)
  const kinds: readonly MarginKind[] =
    demand.margin.kind === 'unsaid' ? ['derate', 'uplift'] : [demand.margin.kind]
  const readings = kinds.map((kind) => reading(demand, kind, burst))
  const [first, second] = readings
  const agree = second === undefined || second.replicas === first?.replicas
  return { readings, chosen: agree ? (first ?? null) : null, burst }
}

function burstFactor({ peak, burstWindowSeconds }: FleetDemand): Rational {
  const rate = toNumber(toRational(peak))
  if (burstWindowSeconds === null || rate <= 0) return one
  const factor = poissonPeakToMean(rate, burstWindowSeconds, 0.99)
  return toRational(Number(factor.toFixed(6)))
}

function reading(demand: FleetDemand, margin: MarginKind, burst: Rational): FleetReading {
  const { failures, gpusPerReplica } = demand
  if (!Number.isInteger(gpusPerReplica) || gpusPerReplica < 1) {
    throw new PlimsollError('PLIM_NUMBER', 'a replica has at least one GPU', {
      received: String(gpusPerReplica),
    })
  }
  const peak = multiply(toRational(demand.peak), burst)
  const found = replicasFor({
    peak,
    perReplica: demand.perReplica,
    margin: demand.margin.share,
    marginKind: margin,
    imbalance: demand.imbalance,
    failures,
  })
  const replicas = replicasToSurvive(found.serving, demand)
  return {
    margin,
    usable: found.usable,
    need: found.need,
    serving: found.serving,
    replicas,
    gpus: gpusFor(replicas, gpusPerReplica),
    working: working(demand, margin, { ...found, peak, burst, replicas }),
  }
}

/** Replicas so that `serving` are left after the losses planned for: of single replicas or of whole zones, whichever takes more. */
export function replicasToSurvive(
  serving: number,
  { failures, zones }: Pick<FleetDemand, 'failures' | 'zones'>,
): number {
  if (serving === 0) return 0
  return Math.max(
    serving + failures,
    zones === null ? 0 : replicasOverZones(serving, zones.count, zones.lost),
  )
}

interface Worked {
  readonly usable: Rational
  readonly need: Rational
  readonly serving: number
  readonly peak: Rational
  readonly burst: Rational
  readonly replicas: number
}

function working(demand: FleetDemand, margin: MarginKind, worked: Worked): readonly string[] {
  const { failures, zones, gpusPerReplica } = demand
  const share = toRational(demand.margin.share)
  const per = text(toRational(demand.perReplica))
  const imbalance = toRational(demand.imbalance)
  const steps: string[] = []
  if (toRational(demand.peak).num === 0n) return ['no demand needs no replica, whatever may fail']
  let load = worked.peak
  if (compare(worked.burst, one) !== 0) {
    steps.push(
      `the P99 of Poisson arrivals over ${demand.burstWindowSeconds} s is ${text(worked.burst)}x their mean: ${text(toRational(demand.peak))} × ${text(worked.burst)} = ${text(load)}`,
    )
  }
  if (compare(imbalance, one) !== 0) {
    const before = text(load)
    load = multiply(load, imbalance)
    steps.push(
      `the busiest replica gets ${text(imbalance)}x the mean: ${before} × ${text(imbalance)} = ${text(load)}`,
    )
  }
  if (share.num !== 0n && margin === 'derate') {
    const kept = subtract(one, share)
    steps.push(`each is run at ${percent(kept)}: ${per} × ${text(kept)} = ${text(worked.usable)}`)
  } else if (share.num !== 0n) {
    const before = text(load)
    load = multiply(load, add(one, share))
    steps.push(`the peak is ${percent(share)} higher: ${before} × ${text(add(one, share))} = ${text(load)}`)
  }
  steps.push(
    `${text(load)} ÷ ${text(worked.usable)} = ${text(divide(load, worked.usable))}${worked.need.den === 1n ? '' : ` → ${worked.serving}`}`,
  )
  if (zones !== null) {
    steps.push(
      `${zones.lost} of ${zones.count} zones may be lost: ⌈${worked.serving} ÷ ${zones.count - zones.lost}⌉ × ${zones.count} = ${replicasOverZones(worked.serving, zones.count, zones.lost)}`,
    )
  }
  if (failures > 0) {
    const who = failures === 1 ? 'one may die' : `${failures} may die`
    steps.push(`${who}: N − ${failures} ≥ ${worked.serving} → ${worked.serving + failures}`)
  }
  if (zones !== null && failures > 0) steps.push(`the larger of both: ${worked.replicas}`)
  if (gpusPerReplica > 1) {
    steps.push(
      `${worked.replicas} ${noun(worked.replicas, 'replica')} × ${gpusPerReplica} ${noun(gpusPerReplica, 'GPU')} = ${worked.replicas * gpusPerReplica} GPUs`,
    )
  }
  return steps
}

/** Replicas that the planned losses take of so many: single ones, or the fullest zones, whichever are more. */
export function replicasLost(
  replicas: number,
  { failures, zones }: Pick<FleetDemand, 'failures' | 'zones'>,
): number {
  const byZones =
    zones === null
      ? 0
      : Math.floor(replicas / zones.count) * zones.lost + Math.min(zones.lost, replicas % zones.count)
  return Math.min(replicas, Math.max(failures, byZones))
}

/**
 * What the busiest replica has to carry when the planned losses have happened, bursts included where they are sized for, as a share of
 * what it was measured to carry.
 */
export function survivorLoad(demand: FleetDemand, chosen: FleetReading): Rational | null {
  const left = chosen.replicas - replicasLost(chosen.replicas, demand)
  if (left <= 0) return null
  const peak = multiply(toRational(demand.peak), burstFactor(demand))
  const load = multiply(peak, toRational(demand.imbalance))
  return divide(load, multiply(toRational(demand.perReplica), toRational(left)))
}

function text(value: Rational): string {
  return toDecimalText(value, 4)
}

function percent(value: Rational): string {
  return `${toDecimalText(multiply(value, { num: 100n, den: 1n }), 4)} %`
}
