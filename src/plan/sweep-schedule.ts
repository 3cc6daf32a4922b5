import { noun } from '../base/noun.ts'
import { formatPlain } from '../base/units.ts'
import { elasticity, flatElasticity } from '../stats/saturation.ts'

/** What a sweep varies: requests in flight (closed loop) or requests per second (open loop). */
export interface SweepLoad {
  readonly kind: 'concurrency' | 'rate'
  /** Users, or requests per second. */
  readonly value: number
}

/** "1 user", "32 users", "3.4 req/s". */
export function loadWords({ kind, value }: SweepLoad): string {
  return kind === 'rate' ? `${formatPlain(value)} req/s` : `${formatPlain(value)} ${noun(value, 'user')}`
}

/** Which loads to test: a list as given, or found while going. */
export type SweepPlan =
  | { readonly kind: 'given'; readonly loads: readonly SweepLoad[] }
  | {
      readonly kind: 'auto'
      readonly load: SweepLoad['kind']
      readonly first: number
      /** The largest load that is tried. */
      readonly most: number
      /** How many loads between the last passing and the first failing one are tried. */
      readonly refinements: number
    }

/** What the schedule needs to know of a tested point. */
export interface TestedPoint {
  readonly load: SweepLoad
  /** The quantity whose growth shows saturation: output tokens per second. Null when nothing was measured. */
  readonly throughput: number | null
  /** Whether the objective held; null when it cannot be told or there is none. */
  readonly passes: boolean | null
}

/** Two neighbouring loads closer than this ratio are not worth splitting: the wall is known to 20 %. */
const closestRatio = 1.2

/**
 * The next load to test, or null when the sweep is done. Automatic sweeps double until the objective fails, throughput is
 * flat and the memory wall (where known) lies inside the tested range, then bisect geometrically around the SLO wall.
 */
export function nextLoad(
  plan: SweepPlan,
  tested: readonly TestedPoint[],
  memoryWall: number | null,
): SweepLoad | null {
  if (plan.kind === 'given') return untested(plan.loads, tested)[0] ?? null
  const points = [...tested].sort((a, b) => a.load.value - b.load.value)
  const last = points.at(-1)
  if (last === undefined) return { kind: plan.load, value: plan.first }
  if (last.load.value < plan.most && !everyWallIsInside(plan.load, points, memoryWall)) {
    return { kind: plan.load, value: Math.min(plan.most, last.load.value * 2) }
  }
  return splitAroundSloWall(plan.load, points, plan.refinements)
}

/** The given loads that no point has yet, in their order: a sweep that goes on may be given others than it began with. */
export function untested(
  loads: readonly SweepLoad[],
  tested: readonly Pick<TestedPoint, 'load'>[],
): readonly SweepLoad[] {
  return loads.filter(
    ({ kind, value }) => !tested.some(({ load }) => load.kind === kind && load.value === value),
  )
}

function everyWallIsInside(
  kind: SweepLoad['kind'],
  points: readonly TestedPoint[],
  memoryWall: number | null,
): boolean {
  const last = points.at(-1)
  const before = points.at(-2)
  if (last === undefined || before === undefined) return false
  // A load under which nothing came back is past every wall.
  if (last.throughput === null) return true
  const growth = elasticity(before.load.value, before.throughput ?? 0, last.load.value, last.throughput)
  const flat = growth !== null && growth < flatElasticity
  const sloSeen =
    points.every((point) => point.passes === null) || points.some((point) => point.passes === false)
  const memorySeen = kind === 'rate' || memoryWall === null || last.load.value >= memoryWall
  return flat && sloSeen && memorySeen
}

function splitAroundSloWall(
  kind: SweepLoad['kind'],
  points: readonly TestedPoint[],
  refinements: number,
): SweepLoad | null {
  const firstFailing = points.findIndex((point) => point.passes === false)
  if (firstFailing < 0) return null
  const high = points[firstFailing]!.load.value
  const low = firstFailing === 0 ? null : points[firstFailing - 1]!.load.value
  const splits = points.filter((point) => !isPowerOfTwoOf(points[0]!.load.value, point.load.value)).length
  if (splits >= refinements) return null
  const middle = low === null ? high / 2 : Math.sqrt(low * high)
  const value = kind === 'concurrency' ? Math.round(middle) : Number(middle.toPrecision(3))
  if (value <= 0 || value === low || value >= high || (low !== null && high / low < closestRatio)) return null
  return { kind, value }
}

function isPowerOfTwoOf(first: number, value: number): boolean {
  return Number.isInteger(Math.log2(value / first))
}
