import { nearestRank } from '../../stats/percentile.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { Stutter } from './run-summary.ts'

/** A stream stutters when its worst gap is over this many times the median of its gaps. */
export const stutterFactor = 5

/**
 * Pauses inside streams, over ok requests with at least two gaps. The gap percentiles are each stream's own, and of them the
 * median stream's (`gap_p95_ms`, `gap_p99_ms`): what one user sees, not what one gap of all is; `gap_max_ms` is the worst of
 * all. A stream's p99 of 100 gaps misses a single stall: its largest gap and that gap's share of the stream's time stand beside.
 *
 * A stream stutters when its worst gap is over five times the median of its gaps that are not 0 (events that arrived in one
 * network chunk have gaps of 0, which say nothing of a pause).
 */
export function stutter(rows: readonly RequestRow[]): Stutter {
  const p95: number[] = []
  const p99: number[] = []
  const shares: number[] = []
  let streams = 0
  let stuttering = 0
  let worst: number | null = null
  let scratch = new Float64Array(1024)
  const places = new Map<number, { p95: number; p99: number }>()
  for (const row of rows) {
    const gaps = row.gaps_ms
    if (!row.ok || gaps.length < 2) continue
    if (scratch.length < gaps.length) scratch = new Float64Array(gaps.length * 2)
    const sorted = scratch.subarray(0, gaps.length)
    let total = 0
    for (let index = 0; index < gaps.length; index++) {
      const gap = gaps[index] ?? 0
      sorted[index] = gap
      total += gap
    }
    sorted.sort()
    const largest = sorted[gaps.length - 1] ?? 0
    streams++
    worst = worst === null ? largest : Math.max(worst, largest)
    const place = places.get(gaps.length) ?? {
      p95: nearestRank(gaps.length, '95') - 1,
      p99: nearestRank(gaps.length, '99') - 1,
    }
    places.set(gaps.length, place)
    p95.push(sorted[place.p95] ?? 0)
    p99.push(sorted[place.p99] ?? 0)
    if (total > 0) shares.push(largest / total)
    if (largest > stutterFactor * medianAboveZero(sorted)) stuttering++
  }
  return {
    streams,
    stuttering_streams: stuttering,
    gap_p95_ms: median(p95),
    gap_p99_ms: median(p99),
    gap_max_ms: worst,
    worst_gap_share_max: shares.length === 0 ? null : shares.reduce((a, b) => Math.max(a, b)),
    worst_gap_share_p50: median(shares),
  }
}

/** Of ascending values; infinite where all are 0. */
function medianAboveZero(sorted: Float64Array): number {
  let zeros = 0
  while (zeros < sorted.length && (sorted[zeros] ?? 0) <= 0) zeros++
  const n = sorted.length - zeros
  return n === 0 ? Number.POSITIVE_INFINITY : (sorted[zeros + Math.ceil(n / 2) - 1] ?? 0)
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? null
}
