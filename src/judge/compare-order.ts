import { mean } from '../stats/describe.ts'
import { orderBias } from '../stats/replication.ts'
import { tQuantile } from '../stats/student-t.ts'
import { sampleOf, tInterval, welch } from '../stats/two-means.ts'

/** A run's place in the order of all, and its figure on the scale on which it is compared. */
export interface OrderedRun {
  readonly arm: 'A' | 'B'
  readonly startedAtMs: number
  /** Log of the figure (or the figure, for scores). */
  readonly value: number
  /** Runs with the same block are a pair. */
  readonly block: string | null
}

/** What the order of the runs may have done to the difference. */
export interface OrderFindings {
  /** Letters in the order of time: ABBAABBA. */
  readonly order: string
  /** Runs by which B stands later than A on average: a drift of d a run shifts the difference by this times d; 0 is balanced. */
  readonly imbalance: number
  /** Change of the figure from one run to the next, within the arms, relative; null with too few runs. */
  readonly drift_per_run: number | null
  readonly drift_interval: readonly [low: number, high: number] | null
  /** The interval excludes 0. */
  readonly drifts: boolean
  /** What that drift alone would make of the difference: imbalance × drift. */
  readonly drift_bias: number | null
  /** Change in pairs where A went first against pairs where B did; null where one kind has under two pairs. */
  readonly order_effect: number | null
  readonly order_matters: boolean
}

/** Order effects and drift (statistics reference §3.1). Null when a start is unknown or an arm is empty. */
export function orderFindings(runs: readonly OrderedRun[], confidence = 0.95): OrderFindings | null {
  if (runs.some(({ startedAtMs }) => !Number.isFinite(startedAtMs))) return null
  const ordered = [...runs].sort((x, y) => x.startedAtMs - y.startedAtMs)
  const order = ordered.map(({ arm }) => arm).join('')
  const imbalance = orderBias(order, 1)
  if (imbalance === null) return null
  const line = withinArmSlope(ordered, confidence)
  const pairs = orderEffect(ordered, confidence)
  return {
    order,
    imbalance,
    drift_per_run: line?.slope ?? null,
    drift_interval: line === null ? null : [line.low, line.high],
    drifts: line !== null && (line.low > 0 || line.high < 0),
    drift_bias: line === null ? null : line.slope * imbalance,
    order_effect: pairs?.effect ?? null,
    order_matters: pairs?.matters ?? false,
  }
}

/** Slope over the place in the order, each arm about its own mean; n − 3 degrees of freedom (two means and a slope). */
function withinArmSlope(
  ordered: readonly OrderedRun[],
  confidence: number,
): { readonly slope: number; readonly low: number; readonly high: number } | null {
  const points = (['A', 'B'] as const).flatMap((arm) => {
    const own = ordered.flatMap((run, place) => (run.arm === arm ? [{ place, value: run.value }] : []))
    const place = mean(own.map((each) => each.place)) ?? 0
    const value = mean(own.map((each) => each.value)) ?? 0
    return own.map((each) => ({ x: each.place - place, y: each.value - value }))
  })
  const degrees = points.length - 3
  const squares = points.reduce((sum, { x }) => sum + x * x, 0)
  if (degrees < 1 || squares === 0) return null
  const slope = points.reduce((sum, { x, y }) => sum + x * y, 0) / squares
  const residual = points.reduce((sum, { x, y }) => sum + (y - slope * x) ** 2, 0)
  const half = tQuantile(1 - (1 - confidence) / 2, degrees) * Math.sqrt(residual / degrees / squares)
  return { slope, low: slope - half, high: slope + half }
}

/** Whether B − A differs between the pairs that began with A and those that began with B. */
function orderEffect(
  ordered: readonly OrderedRun[],
  confidence: number,
): { readonly effect: number; readonly matters: boolean } | null {
  const blocks = new Map<string, OrderedRun[]>()
  for (const run of ordered) {
    if (run.block === null) return null
    blocks.set(run.block, [...(blocks.get(run.block) ?? []), run])
  }
  const first: Record<'A' | 'B', number[]> = { A: [], B: [] }
  for (const pair of blocks.values()) {
    const a = pair.find(({ arm }) => arm === 'A')
    const b = pair.find(({ arm }) => arm === 'B')
    const opener = pair[0]
    if (a === undefined || b === undefined || opener === undefined || pair.length !== 2) return null
    first[opener.arm].push(b.value - a.value)
  }
  const afterA = sampleOf(first.A)
  const afterB = sampleOf(first.B)
  if (afterA === null || afterB === null) return null
  const test = welch(afterA, afterB)
  const [low, high] = tInterval(test, confidence)
  return { effect: test.difference, matters: low > 0 || high < 0 }
}
