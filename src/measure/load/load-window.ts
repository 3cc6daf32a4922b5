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
 * Where the window ended. A given length: there. Without one, an open loop's window ends one mean gap behind its last intended
 * send, (t_last − t_first) · n ÷ (n − 1) after the first, so that n requests at λ/s take n/λ seconds; a closed loop's, and that
 * of requests which were all planned at one moment, ends with the last answer. A stop ends any window.
 */
export function windowEndMs(
  window: LoadWindow,
  plan: LoadPlan,
  lastDoneMs: number,
  stoppedAtMs: number = Number.POSITIVE_INFINITY,
): number {
  return Math.max(window.warmupMs, Math.min(stoppedAtMs, plannedEndMs(window, plan, lastDoneMs)))
}

function plannedEndMs(window: LoadWindow, plan: LoadPlan, lastDoneMs: number): number {
  if (window.measureMs !== null) return window.warmupMs + window.measureMs
  if (plan.kind === 'open' && plan.requests.length > 1) {
    const first = plan.requests[0]!.plannedMs ?? 0
    const last = plan.requests.at(-1)!.plannedMs ?? 0
    const n = plan.requests.length
    if (last > first) return first + ((last - first) * n) / (n - 1)
  }
  return lastDoneMs
}
