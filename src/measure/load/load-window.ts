import type { Phase } from '../record/request-row.ts'
import type { LoadPlan, LoadWindow } from './load-options.ts'

/** The part of the run that an intended send at `plannedMs` belongs to. A request that was never intended is in `drain`. */
export function phaseOf(plannedMs: number | null, window: LoadWindow): Phase {
  if (plannedMs === null) return 'drain'
  if (plannedMs < window.warmupMs) return 'warmup'
  if (window.measureMs === null || plannedMs < window.warmupMs + window.measureMs) return 'measure'
  return 'drain'
}

/** When sending stops, ms after the origin; null when only the plan's end stops it. */
export function sendEndMs(window: LoadWindow): number | null {
  if (window.measureMs === null) return null
  return window.warmupMs + window.measureMs + (window.cooldownMs ?? 0)
}

/**
 * Where the window ended. A given length: there, unless the requests were used up before it. Without one, or then, an open loop's
 * window ends one mean gap behind its last intended send, (t_last − t_first) · n ÷ (n − 1) after the first, so that n requests at λ/s
 * take n/λ seconds; a closed loop's, and that of requests which were all planned at one moment, ends with the last answer. A stop
 * ends any window.
 */
export function windowEndMs(
  window: LoadWindow,
  plan: LoadPlan,
  { lastDoneMs, sent, stoppedAtMs }: LoadEnd,
): number {
  const given = window.measureMs === null ? Number.POSITIVE_INFINITY : window.warmupMs + window.measureMs
  const usedUp = plan.kind === 'open' ? plan.usedUp === true : plan.count !== null && sent >= plan.count
  const planned = window.measureMs === null || usedUp ? planEndMs(plan, lastDoneMs) : given
  return Math.max(window.warmupMs, Math.min(stoppedAtMs, given, planned))
}

/** How a load ended, ms after the run's origin. */
export interface LoadEnd {
  readonly lastDoneMs: number
  /** Requests that were sent. */
  readonly sent: number
  /** Infinite where nothing stopped it. */
  readonly stoppedAtMs: number
}

function planEndMs(plan: LoadPlan, lastDoneMs: number): number {
  if (plan.kind === 'open' && plan.requests.length > 1) {
    const first = plan.requests[0]!.plannedMs ?? 0
    const last = plan.requests.at(-1)!.plannedMs ?? 0
    const n = plan.requests.length
    if (last > first) return first + ((last - first) * n) / (n - 1)
  }
  return lastDoneMs
}
