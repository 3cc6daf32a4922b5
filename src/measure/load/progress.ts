import type { RequestRow } from '../record/request-row.ts'
import { addToSketch, liveSketch, sketchQuantile } from './live-sketch.ts'

/** How a run stands. Figures are of everything finished so far, from sketches: for the eye, not for the report. */
export interface LoadProgress {
  readonly elapsedMs: number
  /** Null in a closed loop without a count. */
  readonly planned: number | null
  readonly sent: number
  readonly done: number
  readonly ok: number
  readonly failed: number
  readonly shed: number
  readonly inFlight: number
  /** Sends per second over the last second or so. */
  readonly rateNow: number | null
  readonly ttftP50Ms: number | null
  readonly tpotP50Ms: number | null
  readonly lagP99Ms: number | null
  /** Time left, as far as it can be told. */
  readonly etaMs: number | null
}

/** Follows the rows of a run for its progress line. */
export interface ProgressTracker {
  add(row: RequestRow): void
  at(elapsedMs: number, live: { readonly sent: number; readonly inFlight: number }): LoadProgress
}

/**
 * `planned` as in `LoadProgress`; `lastSendMs` is when the plan says that sending ends, null where only the count ends it.
 */
export function progressTracker(planned: number | null, lastSendMs: number | null): ProgressTracker {
  const ttft = liveSketch()
  const tpot = liveSketch()
  const lag = liveSketch()
  const counts = { done: 0, ok: 0, failed: 0, shed: 0 }
  let earlier: readonly { elapsedMs: number; sent: number }[] = []

  function eta(elapsedMs: number): number | null {
    const untilSent = lastSendMs === null ? null : Math.max(0, lastSendMs - elapsedMs)
    if (planned === null || untilSent !== null) return untilSent
    if (counts.done === 0 || elapsedMs <= 0) return null
    return (elapsedMs * (planned - counts.done)) / counts.done
  }

  return {
    add(row) {
      counts.done++
      if (row.outcome === 'ok') counts.ok++
      if (row.outcome === 'failed') counts.failed++
      if (row.outcome === 'shed') counts.shed++
      if (row.ttft_ms !== null) addToSketch(ttft, row.ttft_ms)
      if (row.tpot_ms !== null) addToSketch(tpot, row.tpot_ms)
      if (row.lag_ms !== null) addToSketch(lag, row.lag_ms)
    },
    at(elapsedMs, { sent, inFlight }) {
      const kept = earlier.filter((point) => point.elapsedMs >= elapsedMs - 1100)
      const oldest = kept[0]
      earlier = [...kept, { elapsedMs, sent }]
      return {
        elapsedMs,
        planned,
        sent,
        ...counts,
        inFlight,
        rateNow:
          oldest === undefined || elapsedMs - oldest.elapsedMs < 200
            ? null
            : ((sent - oldest.sent) * 1000) / (elapsedMs - oldest.elapsedMs),
        ttftP50Ms: sketchQuantile(ttft, '50'),
        tpotP50Ms: sketchQuantile(tpot, '50'),
        lagP99Ms: sketchQuantile(lag, '99'),
        etaMs: eta(elapsedMs),
      }
    },
  }
}
