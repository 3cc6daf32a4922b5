import type { Rows } from '../measure/record/rows.ts'
import { slopeTest } from '../stats/regression.ts'
import { classifySteadyState, type SteadyState } from '../stats/steady-state.ts'

/** Whether a run's window looks the same from its beginning to its end. */
export interface Steadiness {
  /** Null: too short to tell (under 50 bins). */
  readonly kind: 'flat' | 'warmup' | 'slowdown' | 'no_steady_state' | null
  /** Ms to leave out at the start of the window, the largest over the series; 0 where nothing is to be cut. */
  readonly cutMs: number
  /** The series that decided, and its evidence in a sentence. */
  readonly reason: string
}

/** Bins of a second: the shortest that still hold several steps of a slow engine. */
const binMs = 1000
/** A trend below this share of the mean over the window changes no decision. */
const materialGrowth = 0.1

/**
 * Classifies the window on two series of one-second bins, requests in flight and mean TTFT (statistics reference §6: MSER-5
 * and the comparison of halves). Because MSER also finds a truncation point in short stretches of pure noise, a run is called
 * unsteady only when a straight line through the same series, its interval widened for lag-1 correlation, confirms a change
 * of over 10 %.
 */
export function steadiness(
  rows: Rows,
  window: { readonly startMs: number; readonly endMs: number },
): Steadiness {
  const bins = Math.floor((window.endMs - window.startMs) / binMs)
  if (bins < 50) {
    return { kind: null, cutMs: 0, reason: `${Math.max(0, bins)} s are too short to tell; 50 s are needed` }
  }
  const found = [
    judgeSeries('requests in flight', inFlightSeries(rows, window.startMs, bins)),
    judgeSeries('TTFT', meanTtftSeries(rows, window.startMs, bins)),
  ].filter((each) => each !== null)
  const unsteady = found.find((each) => each.kind === 'no_steady_state')
  if (unsteady !== undefined) return { kind: 'no_steady_state', cutMs: 0, reason: unsteady.reason }
  const settling = found.filter((each) => each.kind === 'warmup' || each.kind === 'slowdown')
  const longest = settling.sort((a, b) => b.cut - a.cut)[0]
  if (longest !== undefined) {
    return { kind: longest.kind, cutMs: longest.cut * binMs, reason: longest.reason }
  }
  return { kind: 'flat', cutMs: 0, reason: 'no trend in the window' }
}

interface SeriesJudgement {
  readonly kind: 'flat' | 'warmup' | 'slowdown' | 'no_steady_state'
  readonly cut: number
  readonly reason: string
}

function judgeSeries(name: string, series: Float64Array | null): SeriesJudgement | null {
  if (series === null) return null
  const state: SteadyState = classifySteadyState(series, { better: 'lower' })
  const reason = `${name}: ${state.reason}`
  if (state.kind === 'too_short') return null
  if (state.kind !== 'no_steady_state') return { kind: state.kind, cut: state.cut, reason }
  const line = slopeTest(series)
  const moved =
    line !== null && (line.low > 0 || line.high < 0) && Math.abs(line.growth ?? 1) > materialGrowth
  return moved ? { kind: 'no_steady_state', cut: 0, reason } : { kind: 'flat', cut: 0, reason }
}

/** Mean requests in flight in each bin, from actual send to the end of the exchange. */
export function inFlightSeries(rows: Rows, startMs: number, bins: number): Float64Array {
  const busyMs = new Float64Array(bins)
  for (const row of rows) {
    if (row.sent_ms === null || row.planned_ms === null) continue
    const from = row.sent_ms - startMs
    const to = (row.done_ms === null ? row.sent_ms : row.planned_ms + row.done_ms) - startMs
    const last = Math.min(bins - 1, Math.floor(to / binMs))
    for (let bin = Math.max(0, Math.floor(from / binMs)); bin <= last; bin++) {
      busyMs[bin]! += Math.max(0, Math.min(to, (bin + 1) * binMs) - Math.max(from, bin * binMs))
    }
  }
  return busyMs.map((ms) => ms / binMs)
}

/** Mean TTFT of the requests that were intended in each bin; null when a bin has none. */
function meanTtftSeries(rows: Rows, startMs: number, bins: number): Float64Array | null {
  const sums = new Float64Array(bins)
  const counts = new Float64Array(bins)
  for (const row of rows) {
    if (row.planned_ms === null || row.ttft_ms === null) continue
    const bin = Math.floor((row.planned_ms - startMs) / binMs)
    if (bin < 0 || bin >= bins) continue
    sums[bin]! += row.ttft_ms
    counts[bin]! += 1
  }
  return counts.every((count) => count > 0) ? sums.map((sum, bin) => sum / counts[bin]!) : null
}
