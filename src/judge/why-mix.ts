import type { Warning } from '../base/warnings.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import { mixShift } from './traps.ts'

/** Values of one side by segment. */
export type Segments = ReadonlyMap<string, readonly number[]>

export interface SegmentShift {
  readonly segment: string
  readonly n: readonly [before: number, after: number]
  readonly share: readonly [before: number, after: number]
  /** The percentile inside the segment; null where it has no values. */
  readonly percentile: readonly [before: number | null, after: number | null]
  /** Relative; null without both. */
  readonly change: number | null
}

/** Why a percentile moved: because other requests came (mix), and because the same requests took longer (within). */
export interface PercentileShift {
  readonly before: number
  readonly after: number
  readonly total: number
  /** The new mix over the old service, minus before. */
  readonly mix: number
  readonly within: number
  readonly segments: readonly SegmentShift[]
  /** The trap: the mix moved it, and no segment moved by over 5 %. */
  readonly warning: Warning | null
}

/**
 * Splits the move of a percentile (`level` in per cent, as text) by the counterfactual "after's mix of segments, before's values in
 * each" (statistics reference, Q5). A segment that only came after has no earlier values: its own stand in, so that its coming is mix.
 * Null where a side has no values.
 */
export function percentileShift(before: Segments, after: Segments, level: string): PercentileShift | null {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const [totalBefore, totalAfter] = [count(before), count(after)]
  const share = Number(level) / 100
  const start = weightedPercentile(equally(before), share)
  const end = weightedPercentile(equally(after), share)
  if (start === null || end === null) return null
  const counterfactual =
    weightedPercentile(
      names.flatMap((name) => {
        const asked = after.get(name) ?? []
        const served = before.get(name) ?? asked
        return served.map((value) => ({ value, weight: asked.length / served.length }))
      }),
      share,
    ) ?? start
  const segments = names.map((segment): SegmentShift => {
    const [old, now] = [before.get(segment) ?? [], after.get(segment) ?? []]
    const inside = [percentile(sortAscending(old), level), percentile(sortAscending(now), level)] as const
    return {
      segment,
      n: [old.length, now.length],
      share: [old.length / totalBefore, now.length / totalAfter],
      percentile: inside,
      change: inside[0] === null || inside[1] === null || inside[0] === 0 ? null : inside[1] / inside[0] - 1,
    }
  })
  const trap = mixShift(
    segments.map((segment) => segment.share[0]),
    segments.map((segment) => segment.share[1]),
    segments.map(({ change }) => change ?? 0),
    start === 0 ? 0 : end / start - 1,
  )
  return {
    before: start,
    after: end,
    total: end - start,
    mix: counterfactual - start,
    within: end - counterfactual,
    segments,
    warning: trap.warning,
  }
}

interface Weighted {
  readonly value: number
  readonly weight: number
}

/** The smallest value with at least `share` of the weight at or under it: nearest rank, for equal weights. */
export function weightedPercentile(values: readonly Weighted[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a.value - b.value)
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0)
  if (sorted.length === 0 || total <= 0) return null
  let reached = 0
  for (const { value, weight } of sorted) {
    reached += weight
    // Sums of weights are off by their last bits; a tie must not become the next value.
    if (reached >= share * total - 1e-9 * total && weight > 0) return value
  }
  return sorted.at(-1)?.value ?? null
}

function equally(segments: Segments): readonly Weighted[] {
  return [...segments.values()].flat().map((value) => ({ value, weight: 1 }))
}

function count(segments: Segments): number {
  return [...segments.values()].reduce((sum, values) => sum + values.length, 0)
}

/** Bins of lengths, at most four, with edges at round numbers near the quartiles of both sides. */
export function lengthBins(lengths: readonly number[]): (length: number) => string {
  const sorted = sortAscending(lengths)
  const edges = [
    ...new Set(
      ['25', '50', '75'].map((level) => roundEdge(percentile(sorted, level) ?? 0)).filter((edge) => edge > 0),
    ),
  ].filter((edge) => edge > (sorted[0] ?? 0) && edge <= (sorted.at(-1) ?? 0))
  return (length) => {
    const above = edges.filter((edge) => length >= edge)
    const from = above.at(-1)
    const to = edges[above.length]
    if (from === undefined && to === undefined) return 'all'
    if (from === undefined) return `under ${to}`
    return to === undefined ? `${from} and over` : `${from}–${to - 1}`
  }
}

/** Two figures: 1,234 is an edge of 1,200. */
function roundEdge(value: number): number {
  if (value < 10) return Math.round(value)
  const step = 10 ** (Math.floor(Math.log10(value)) - 1)
  return Math.round(value / step) * step
}
