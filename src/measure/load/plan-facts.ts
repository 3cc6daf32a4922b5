import type { Calibration } from './calibration.ts'
import type { LoadPlan, LoadWindow } from './load-options.ts'

/** What a plan will ask of the server and of this client, shown before a remote host is loaded. */
export interface LoadPlanFacts {
  /** Null in a closed loop without a count. */
  readonly requests: number | null
  /** Until the last send, without the drain; null where answers decide. */
  readonly durationMs: number | null
  readonly peakRequestsPerSecond: number | null
  /** Output events per second at the busiest, one a token; null where it cannot be told beforehand. */
  readonly peakEventsPerSecond: number | null
  /** Events per second that this client was calibrated at. */
  readonly capacityEventsPerSecond: number | null
  /** Null: not known beforehand. */
  readonly enough: boolean | null
}

/**
 * An open loop cannot emit more tokens in a second, over the long run, than the requests sent in its busiest ten seconds ask
 * for: peak = max over windows of 10 s (or the whole plan, if shorter; at least 1 s) of Σ asked tokens ÷ window. A closed loop's is `users` ×
 * `streamTokensPerSecond`, where the caller knows how fast one stream runs.
 */
export function loadPlanFacts(
  plan: LoadPlan,
  window: LoadWindow,
  calibration: Pick<Calibration, 'capacityEventsPerSecond'> | null,
  streamTokensPerSecond: number | null = null,
): LoadPlanFacts {
  const capacity = calibration?.capacityEventsPerSecond ?? null
  const measured = window.measureMs === null ? null : window.warmupMs + window.measureMs
  const lastMs = plan.kind === 'open' ? (plan.requests.at(-1)?.plannedMs ?? 0) : null
  const peakEvents =
    plan.kind === 'open'
      ? peakPerSecond(plan, 10_000, (request) => request.askedOutputTokens)
      : streamTokensPerSecond === null
        ? null
        : plan.users * streamTokensPerSecond
  return {
    requests: plan.kind === 'open' ? plan.requests.length : plan.count,
    durationMs: measured ?? lastMs,
    peakRequestsPerSecond: plan.kind === 'open' ? peakPerSecond(plan, 1000, () => 1) : null,
    peakEventsPerSecond: peakEvents,
    capacityEventsPerSecond: capacity,
    enough: peakEvents === null || capacity === null ? null : peakEvents <= capacity,
  }
}

type OpenPlan = Extract<LoadPlan, { kind: 'open' }>

function peakPerSecond(
  plan: OpenPlan,
  spanMs: number,
  weightOf: (request: OpenPlan['requests'][number]) => number | null,
): number | null {
  // Turns that wait for answers have no time to be counted at.
  if ((plan.turns ?? 1) > 1) return null
  const lastMs = plan.requests.at(-1)?.plannedMs ?? 0
  const windowMs = Math.max(1000, Math.min(spanMs, lastMs))
  let start = 0
  let sum = 0
  let peak = 0
  for (const request of plan.requests) {
    const weight = weightOf(request)
    if (weight === null) return null
    sum += weight
    const from = (request.plannedMs ?? 0) - windowMs
    while ((plan.requests[start]!.plannedMs ?? 0) <= from) sum -= weightOf(plan.requests[start++]!) ?? 0
    peak = Math.max(peak, sum)
  }
  return (peak * 1000) / windowMs
}
