import { parsePrometheusNumber } from '../../measure/wire/prometheus-number.ts'
import { mean } from '../../stats/describe.ts'
import { ceil, divide, toRational, type RationalInput } from '../../stats/rational.ts'

/*
 * plimsoll's own rule for a scaler that must not believe a silence: what is not known keeps the fleet as it is, and says so. Unknown is
 * not idle; a true 0 is.
 */

/** A reading as it came: a number, its text, or nothing. */
export type RawReading = number | string | null | undefined

/**
 * The finite, non-negative number of a reading; null for NaN, the infinities, empty, absent, beyond a double, and below 0: no queue is
 * that short, so it is a mark of something unknown.
 */
export function knownReading(raw: RawReading): number | null {
  if (raw === null || raw === undefined) return null
  const value = typeof raw === 'string' ? parsePrometheusNumber(raw.trim()) : raw
  return value !== null && Number.isFinite(value) && value >= 0 ? value : null
}

export interface HoldBounds {
  readonly min: number
  readonly max: number
}

export interface HeldDecision {
  readonly desired: number
  /** Nothing was known: the fleet stays as it is. */
  readonly held: boolean
}

/** ⌈reading ÷ target⌉, exact, or the current number where the reading is not known; within the bounds either way, as the HPA holds them. */
export function desiredOrHeld(
  current: number,
  raw: RawReading,
  targetPerReplica: RationalInput,
  bounds: HoldBounds,
): HeldDecision {
  const reading = knownReading(raw)
  const wanted =
    reading === null ? current : Number(ceil(divide(toRational(reading), toRational(targetPerReplica))))
  return { desired: Math.min(bounds.max, Math.max(bounds.min, wanted)), held: reading === null }
}

/** One look at the monitoring system: a vector that it answered, or that it did not. */
export type Observation =
  | { readonly kind: 'vector'; readonly values: readonly RawReading[] }
  | { readonly kind: 'error' }

/** The sum of a vector, null where it is empty, an error, or holds anything unknown. */
export function observedTotal(observation: Observation): number | null {
  if (observation.kind === 'error' || observation.values.length === 0) return null
  let total = 0
  for (const raw of observation.values) {
    const value = knownReading(raw)
    if (value === null) return null
    total += value
  }
  return total
}

/** KV share and queue of one replica; null is not scraped. */
export interface ReplicaReading {
  readonly pod: string
  readonly kv: number | null
  readonly queue: number | null
}

export interface FleetReading {
  /** Over the replicas that are known; null when none is. */
  readonly meanKv: number | null
  readonly meanQueue: number | null
  readonly unknown: readonly string[]
  /** Never while a replica is unknown: it may be the busy one. */
  readonly mayScaleDown: boolean
  readonly scaleUp: boolean
}

/** What a fleet says with some of its replicas silent: they are left out of the means, never counted as idle. */
export function fleetReading(
  replicas: readonly ReplicaReading[],
  limits: { readonly kv: number; readonly queue: number },
): FleetReading {
  const unknown = replicas.filter(
    ({ kv, queue }) => knownReading(kv) === null || knownReading(queue) === null,
  )
  const known = replicas.filter((replica) => !unknown.includes(replica))
  const meanKv = mean(known.map(({ kv }) => kv ?? 0))
  const meanQueue = mean(known.map(({ queue }) => queue ?? 0))
  const over = (meanKv ?? 0) > limits.kv || (meanQueue ?? 0) > limits.queue
  return {
    meanKv,
    meanQueue,
    unknown: unknown.map(({ pod }) => pod),
    mayScaleDown: unknown.length === 0 && known.length > 0 && !over,
    scaleUp: over,
  }
}

/** A window of a latency histogram and of the requests behind it; null is not known. */
export interface LatencyWindow {
  readonly requests: number | null
  readonly sumSeconds: number | null
  readonly count: number | null
  readonly scraped: boolean
}

export type LatencyAction = 'scale_down_allowed' | 'hold' | 'decide_by_load'

/** 0 ÷ 0 has two meanings: nobody asked (idle, known), or nobody looked (unknown). Only the first may shrink the fleet. */
export function latencyAction(window: LatencyWindow): {
  readonly meanSeconds: number | null
  readonly action: LatencyAction
} {
  const requests = knownReading(window.requests)
  const count = knownReading(window.count)
  const sum = knownReading(window.sumSeconds)
  const meanSeconds = count === null || sum === null || count <= 0 ? null : sum / count
  if (!window.scraped || requests === null) return { meanSeconds: null, action: 'hold' }
  if (requests === 0) return { meanSeconds, action: 'scale_down_allowed' }
  return { meanSeconds, action: meanSeconds === null ? 'hold' : 'decide_by_load' }
}

/** A pod of a replica that spans several: only its leader serves and tells. */
export interface GroupedPod {
  readonly group: string
  readonly role: 'leader' | 'worker'
  readonly kv: number | null
  readonly queue: number | null
}

/** Replicas of multi-pod groups: one a group, read from its leader. A group whose leader is not seen is unknown. */
export function replicasOfGroups(pods: readonly GroupedPod[]): readonly ReplicaReading[] {
  const groups = [...new Set(pods.map(({ group }) => group))]
  return groups.map((group) => {
    const leader = pods.find((pod) => pod.group === group && pod.role === 'leader')
    return { pod: group, kv: leader?.kv ?? null, queue: leader?.queue ?? null }
  })
}

/** A recommendation and when it was made, seconds. */
export interface Recommendation {
  readonly atSeconds: number
  readonly replicas: number
}

/** Stabilised for scaling down: the largest of the recommendations that are no older than the window, the newest included. */
export function stabilizedDown(
  recommendations: readonly Recommendation[],
  nowSeconds: number,
  windowSeconds: number,
): number | null {
  const inWindow = recommendations.filter(
    ({ atSeconds }) => atSeconds <= nowSeconds && nowSeconds - atSeconds <= windowSeconds,
  )
  return inWindow.length === 0 ? null : Math.max(...inWindow.map(({ replicas }) => replicas))
}

/** How often a fleet changed its size, from where it began. */
export function sizeChanges(start: number, sizes: readonly number[]): number {
  return sizes.filter((size, index) => size !== (index === 0 ? start : sizes[index - 1])).length
}
