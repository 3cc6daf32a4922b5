import type { Rows } from '../record/rows.ts'
import type { LittleCheck } from './run-summary.ts'
import { isCancelled, type RunWindow } from './run-window.ts'

/**
 * Little's law, L = λ·W, as a check of clocks and joins (Little 1961; finite windows: Little and Graves 2008). L is the mean
 * number in flight, integrated over the window from absolute stamps (sent, and sent's clock + service time). λ is the rate of
 * sends in the window. W is the mean time per send, from the latencies (`done − lag`), corrected for the window's edges: what
 * earlier requests still spent inside is added, what these spend after its end is taken off. With that L = λ·W holds exactly
 * when stamps and latencies agree and every request has both; rows that lack an end, or whose lag is not sent − planned, show as
 * a discrepancy. Requests cut at the end of the drain are in flight to the end of the window. Null without any in flight.
 */
export function littleCheck(rows: Rows, window: RunWindow): LittleCheck | null {
  const lengthMs = window.endMs - window.startMs
  if (!(lengthMs > 0)) return null
  let inFlightMs = 0
  let spentMs = 0
  let sends = 0
  for (const row of rows) {
    if (row.sent_ms === null || row.planned_ms === null) continue
    const inside = row.sent_ms >= window.startMs && row.sent_ms < window.endMs
    if (inside) sends++
    const cut = row.outcome === 'censored' && !isCancelled(row)
    const endMs = cut || row.done_ms === null ? Number.POSITIVE_INFINITY : row.planned_ms + row.done_ms
    inFlightMs += overlap(row.sent_ms, endMs, window)
    if (cut) spentMs += overlap(row.sent_ms, Number.POSITIVE_INFINITY, window)
    else if (row.done_ms !== null && row.lag_ms !== null) {
      const serviceMs = row.done_ms - row.lag_ms
      const before = Math.max(0, window.startMs - row.sent_ms)
      const after = Math.max(0, row.sent_ms + serviceMs - window.endMs)
      if (inside) spentMs += serviceMs - after
      else if (before > 0) spentMs += Math.max(0, serviceMs - before - after)
    }
  }
  if (inFlightMs === 0) return null
  return {
    in_flight_mean: inFlightMs / lengthMs,
    arrival_per_s: (sends * 1000) / lengthMs,
    time_in_system_s: sends === 0 ? 0 : spentMs / sends / 1000,
    discrepancy: Math.abs(inFlightMs - spentMs) / inFlightMs,
  }
}

function overlap(startMs: number, endMs: number, window: RunWindow): number {
  return Math.max(0, Math.min(endMs, window.endMs) - Math.max(startMs, window.startMs))
}
