import { nearestRank, percentile, sortAscending } from '../../stats/percentile.ts'
import type { Rows } from '../record/rows.ts'
import { passingList } from '../record/row-table.ts'
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
export function stutter(rows: Rows): Stutter {
  const p95: number[] = []
  const p99: number[] = []
  const shares: number[] = []
  let streams = 0
  let stuttering = 0
  let worst: number | null = null
  const ranks = new Map<number, { readonly p95: number; readonly p99: number }>()
  let top = new Float64Array(64)
  for (const row of rows) {
    if (!row.ok) continue
    const gaps = passingList(row, 'gaps_ms')
    const n = gaps.length
    if (n < 2) continue
    // Ranks from above: the 11th and the 3rd largest of 200.
    let rank = ranks.get(n)
    if (rank === undefined) {
      rank = { p95: n - nearestRank(n, '95'), p99: n - nearestRank(n, '99') }
      ranks.set(n, rank)
    }
    if (top.length <= rank.p95) top = new Float64Array(rank.p95 * 2)
    const total = keepLargest(gaps, top, rank.p95 + 1)
    const largest = top[0] ?? 0
    streams++
    worst = worst === null ? largest : Math.max(worst, largest)
    p95.push(top[rank.p95] ?? 0)
    p99.push(top[rank.p99] ?? 0)
    if (total > 0) shares.push(largest / total)
    if (isOverMedian(gaps, largest)) stuttering++
  }
  return {
    streams,
    stuttering_streams: stuttering,
    gap_p95_ms: percentile(sortAscending(p95), '50'),
    gap_p99_ms: percentile(sortAscending(p99), '50'),
    gap_max_ms: worst,
    worst_gap_share_max: shares.length === 0 ? null : shares.reduce((a, b) => Math.max(a, b)),
    worst_gap_share_p50: percentile(sortAscending(shares), '50'),
  }
}

/** Puts the `keep` largest into `top`, descending, and returns the sum of all. Sorting each stream would take ten times as long. */
function keepLargest(gaps: ArrayLike<number>, top: Float64Array, keep: number): number {
  let total = 0
  let kept = 0
  // The least of those kept: most gaps are told by one comparison.
  let least = Number.NEGATIVE_INFINITY
  for (let index = 0; index < gaps.length; index++) {
    const gap = gaps[index] as number
    total += gap
    if (gap <= least) continue
    let place = kept < keep ? kept++ : keep - 1
    while (place > 0 && (top[place - 1] as number) < gap) {
      top[place] = top[place - 1] as number
      place--
    }
    top[place] = gap
    if (kept === keep) least = top[keep - 1] as number
  }
  return total
}

/** Whether `largest` is over five times the median of the gaps above 0: whether at least half of these are under its fifth. */
function isOverMedian(gaps: ArrayLike<number>, largest: number): boolean {
  let aboveZero = 0
  let under = 0
  for (let index = 0; index < gaps.length; index++) {
    const gap = gaps[index] as number
    if (gap <= 0) continue
    aboveZero++
    if (gap * stutterFactor < largest) under++
  }
  return aboveZero > 0 && under >= Math.ceil(aboveZero / 2)
}
