import { nearestRank } from '../../stats/percentile.ts'

/**
 * A log-linear count of times from 1 µs to 100 minutes for live display and for merging between threads: 32 steps an octave, so
 * a quantile read from it is within 2.2 % of the true one. Figures of a report come from the rows, not from here.
 */
export interface LiveSketch {
  readonly counts: Uint32Array
  total: number
  maxMs: number
}

const stepsPerOctave = 32
const smallestMs = 0.001
const size = 33 * stepsPerOctave

export function liveSketch(): LiveSketch {
  return { counts: new Uint32Array(size), total: 0, maxMs: Number.NEGATIVE_INFINITY }
}

export function addToSketch(sketch: LiveSketch, ms: number): void {
  const bucket = ms <= smallestMs ? 0 : Math.ceil(Math.log2(ms / smallestMs) * stepsPerOctave)
  sketch.counts[Math.min(bucket, size - 1)]!++
  sketch.total++
  if (ms > sketch.maxMs) sketch.maxMs = ms
}

export function mergeSketch(into: LiveSketch, counts: Uint32Array, maxMs: number): void {
  for (let i = 0; i < size; i++) {
    const count = counts[i]!
    into.counts[i]! += count
    into.total += count
  }
  if (maxMs > into.maxMs) into.maxMs = maxMs
}

/** The nearest-rank percentile (`'99'`), as the middle of its bucket; null for an empty sketch. */
export function sketchQuantile(sketch: LiveSketch, percent: string): number | null {
  if (sketch.total === 0) return null
  const rank = nearestRank(sketch.total, percent)
  let seen = 0
  for (let i = 0; i < size; i++) {
    seen += sketch.counts[i]!
    if (seen >= rank) {
      if (i === 0) return smallestMs
      return Math.min(smallestMs * 2 ** ((i - 0.5) / stepsPerOctave), sketch.maxMs)
    }
  }
  return sketch.maxMs
}
