import { compare, multiply, subtract, toRational, type RationalInput } from '../stats/rational.ts'
import { elasticity, flatElasticity } from '../stats/saturation.ts'

/** One tested load of a sweep. */
export interface WallPoint {
  /** What was varied: requests in flight of a closed loop, or a rate. */
  readonly load: number
  /** Output tokens (or requests) per second. */
  readonly throughput: number
  /** Mean requests in flight; the load itself in a closed loop. */
  readonly inFlight?: number
  /** Whether every objective holds; null: not asked or not known. */
  readonly passes: boolean | null
  /** `passes` rests on the estimate alone, the sample is too small for an upper end. */
  readonly indicative?: boolean
}

/** What is known of one limit at a tested load. */
export interface LimitEvidence {
  /** The one-sided 95 % end is within the limit. */
  readonly proven: boolean
  readonly estimateWithin: boolean
}

/**
 * Whether a tested load passes: `yes` where every limit is proven, `indicative` where at least every estimate is within its limit, else
 * `no`. Null without limits.
 */
export function passing(limits: readonly LimitEvidence[]): 'yes' | 'indicative' | 'no' | null {
  if (limits.length === 0) return null
  if (limits.every(({ proven }) => proven)) return 'yes'
  return limits.every(({ proven, estimateWithin }) => proven || estimateWithin) ? 'indicative' : 'no'
}

/** Where more load brings no more throughput. */
export interface SaturationWall {
  /** Smallest tested load with at least `share` of the best throughput; null without points, and where nothing came back. */
  readonly load: number | null
  readonly peakLoad: number | null
  readonly peakThroughput: number | null
  /** False when the best is the last point and throughput still rose with elasticity ≥ 0.1. */
  readonly reached: boolean
  /** Of the last two points; null with one. */
  readonly elasticity: number | null
}

/** Smallest tested load with throughput ≥ 95 % of the sweep's best; where nothing came back there is no best. */
export function saturationWall(
  points: readonly WallPoint[],
  tolerance: RationalInput = '0.05',
): SaturationWall {
  const sorted = byLoad(points)
  const last = sorted.at(-1)
  if (last === undefined)
    return { load: null, peakLoad: null, peakThroughput: null, reached: false, elasticity: null }
  const peak = sorted.reduce((best, point) => (point.throughput > best.throughput ? point : best))
  if (!(peak.throughput > 0))
    return { load: null, peakLoad: null, peakThroughput: null, reached: false, elasticity: null }
  const bar = multiply(subtract({ num: 1n, den: 1n }, toRational(tolerance)), toRational(peak.throughput))
  const wall = sorted.find((point) => compare(toRational(point.throughput), bar) >= 0) as WallPoint
  const before = sorted.at(-2)
  const rise =
    before === undefined ? null : elasticity(before.load, before.throughput, last.load, last.throughput)
  const stillRising = peak === last && (rise === null || rise >= flatElasticity)
  return {
    load: wall.load,
    peakLoad: peak.load,
    peakThroughput: peak.throughput,
    reached: !stillRising,
    elasticity: rise,
  }
}

/** Up to where the objectives hold. */
export interface SloWall {
  /** Last load of the unbroken passing prefix; null when the first point fails. */
  readonly load: number | null
  readonly throughput: number | null
  /** A point that fails was tested. When not, the wall lies at or beyond `load`. */
  readonly reached: boolean
  /** The point at the wall, or the first failing one, rests on its estimate alone. */
  readonly indicative: boolean
  /** Passing points above a failing one: reported, not used. */
  readonly passingAbove: readonly number[]
}

/** The SLO wall; null when no point was judged. A point that is not known to pass ends the prefix. */
export function sloWall(points: readonly WallPoint[]): SloWall | null {
  const sorted = byLoad(points)
  if (sorted.every((point) => point.passes === null)) return null
  const firstFailing = sorted.findIndex((point) => point.passes !== true)
  const prefix = firstFailing === -1 ? sorted : sorted.slice(0, firstFailing)
  const wall = prefix.at(-1)
  const decisive = [wall, sorted[firstFailing]]
  return {
    load: wall?.load ?? null,
    throughput: wall?.throughput ?? null,
    reached: firstFailing !== -1,
    indicative: decisive.some((point) => point?.indicative === true),
    passingAbove: sorted.slice(prefix.length).flatMap((point) => (point.passes === true ? [point.load] : [])),
  }
}

export type WallName = 'slo' | 'saturation' | 'memory'

/** The largest tested load under every wall that was reached. */
export interface Capacity {
  /** Null when no point passes, or none lies under a wall. */
  readonly load: number | null
  readonly throughput: number | null
  /** The wall that is met first; null when none was reached. */
  readonly binding: WallName | null
  /** No wall was reached: the capacity is at least `load`. */
  readonly atLeast: boolean
}

/** Capacity of a sweep: the largest tested load on or under every wall that was reached. `memoryWall` is in requests in flight; null: not known. */
export function capacity(
  points: readonly WallPoint[],
  saturation: SaturationWall,
  slo: SloWall | null,
  memoryWall: number | null,
): Capacity {
  const sorted = byLoad(points)
  const under = (allowed: (point: WallPoint) => boolean): WallPoint | null => {
    const past = sorted.findIndex((point) => !allowed(point))
    return (past === -1 ? sorted.at(-1) : sorted[past - 1]) ?? null
  }
  const walls: { name: WallName; point: WallPoint | null }[] = []
  if (slo !== null && slo.reached)
    walls.push({ name: 'slo', point: under((p) => slo.load !== null && p.load <= slo.load) })
  if (saturation.reached)
    walls.push({ name: 'saturation', point: under((p) => p.load <= (saturation.load as number)) })
  if (memoryWall !== null && sorted.some((point) => held(point) > memoryWall)) {
    walls.push({ name: 'memory', point: under((point) => held(point) <= memoryWall) })
  }
  const first = walls.reduce<(typeof walls)[number] | null>(
    (least, wall) => (least === null || loadOf(wall.point) < loadOf(least.point) ? wall : least),
    null,
  )
  const point = first === null ? (sorted.at(-1) ?? null) : first.point
  return {
    load: point?.load ?? null,
    throughput: point?.throughput ?? null,
    binding: first?.name ?? null,
    atLeast: first === null && point !== null,
  }
}

/** Throughput between two tested loads on a straight line: a note beside the tested point, never a capacity. Null outside. */
export function interpolateThroughput(points: readonly WallPoint[], load: number): number | null {
  const sorted = byLoad(points)
  const upper = sorted.findIndex((point) => point.load >= load)
  const above = sorted[upper]
  if (above === undefined) return null
  if (above.load === load) return above.throughput
  const below = sorted[upper - 1]
  if (below === undefined) return null
  return (
    below.throughput +
    ((above.throughput - below.throughput) * (load - below.load)) / (above.load - below.load)
  )
}

/**
 * What a token takes of its user's time by Little's law in a closed loop, N ÷ X in ms: the mean TPOT where all N decode all the
 * time, else more, since waits for first tokens lie in it: (TTFT + (tokens − 1) · TPOT) ÷ tokens.
 */
export function littleTpotMs(inFlight: number, tokensPerSecond: number): number | null {
  return tokensPerSecond > 0 ? (1000 * inFlight) / tokensPerSecond : null
}

/** Whether a recommendation stays inside what was tested. */
export function insideTestedRange(requested: number, points: readonly Pick<WallPoint, 'load'>[]): boolean {
  return points.some((point) => point.load >= requested)
}

function byLoad(points: readonly WallPoint[]): WallPoint[] {
  return points.toSorted((a, b) => a.load - b.load)
}

function held(point: WallPoint): number {
  return point.inFlight ?? point.load
}

function loadOf(point: WallPoint | null): number {
  return point === null ? Number.NEGATIVE_INFINITY : point.load
}
