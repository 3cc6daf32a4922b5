/*
 * llm-d's Workload Variant Autoscaler (`internal/saturation`, `docs/saturation-scaling-config.md`), in its own doubles: by KV usage and
 * queue of each replica, one replica at a time.
 */

export interface WvaThresholds {
  readonly kvCache: number
  readonly queueLength: number
  readonly kvSpare: number
  readonly queueSpare: number
}

export const wvaDefaults: WvaThresholds = { kvCache: 0.8, queueLength: 5, kvSpare: 0.1, queueSpare: 3 }

export interface WvaReplica {
  readonly kv: number
  readonly queue: number
}

export interface WvaDecision {
  readonly action: 'up' | 'down' | 'hold'
  /** Means over the replicas that are not saturated; null when all are. */
  readonly spareKv: number | null
  readonly spareQueue: number | null
  readonly saturated: number
}

/** v1: up when the mean spare of the unsaturated is short, down when one fewer would leave enough, never while pods are pending. */
export function wvaSaturation(
  replicas: readonly WvaReplica[],
  pending: number,
  thresholds: WvaThresholds = wvaDefaults,
): WvaDecision {
  const free = replicas.filter(({ kv, queue }) => kv < thresholds.kvCache && queue < thresholds.queueLength)
  const saturated = replicas.length - free.length
  if (replicas.length === 0) return { action: 'hold', spareKv: null, spareQueue: null, saturated }
  if (free.length === 0) {
    return { action: pending > 0 ? 'hold' : 'up', spareKv: null, spareQueue: null, saturated }
  }
  const spareKv = plainMean(free.map(({ kv }) => thresholds.kvCache - kv))
  const spareQueue = plainMean(free.map(({ queue }) => thresholds.queueLength - queue))
  const short = spareKv < thresholds.kvSpare || spareQueue < thresholds.queueSpare
  if (short) return { action: pending > 0 ? 'hold' : 'up', spareKv, spareQueue, saturated }
  const fits = pending === 0 && saturated === 0 && survivesOneFewer(free, thresholds)
  return { action: fits ? 'down' : 'hold', spareKv, spareQueue, saturated }
}

function survivesOneFewer(free: readonly WvaReplica[], thresholds: WvaThresholds): boolean {
  const left = free.length - 1
  if (left < 1) return false
  const kv = free.reduce((sum, replica) => sum + replica.kv, 0) / left
  const queue = free.reduce((sum, replica) => sum + replica.queue, 0) / left
  return (
    thresholds.kvCache - kv >= thresholds.kvSpare && thresholds.queueLength - queue >= thresholds.queueSpare
  )
}

/** v2: tokens that are asked for beyond what the ready and pending replicas hold; above 0 more are wanted. */
export function wvaRequiredTokens(
  demandTokens: number,
  scaleUpThreshold: number,
  replicas: { readonly ready: number; readonly pending: number; readonly tokensEach: number },
): number {
  return demandTokens / scaleUpThreshold - (replicas.ready + replicas.pending) * replicas.tokensEach
}

/** Summed as llm-d sums, in plain doubles: its decisions at a threshold are foretold to the last bit. */
function plainMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
