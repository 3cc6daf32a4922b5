import { randomStream, type Random } from '../base/random.ts'
import { PlimsollError } from '../base/errors.ts'
import type { LabTail } from '../report/lab-documents.ts'
import { standardDeviation, mean } from '../stats/describe.ts'
import {
  exponentialDistribution,
  lognormalDistribution,
  paretoDistribution,
} from '../stats/latency-distributions.ts'
import { binomialTail } from '../stats/binomial.ts'
import { nearestRank, percentileShare } from '../stats/percentile.ts'
import { rational, subtract, toNumber } from '../stats/rational.ts'
import { anySlow, exponentialPercentileScatter, neededPerCall } from '../stats/tail-at-scale.ts'
import type { Distribution } from '../stats/mixture.ts'

export interface LabTailOptions {
  readonly seed: string
  readonly percentile: string
  readonly shape: LabTail['shape']
  readonly sizes: readonly number[]
  /** How often each percentile is drawn; fewer where that would be more than `mostValues` values. */
  readonly repeats: number
  readonly calls: number
  /** Share of the calls that are slow. */
  readonly slow: number
  readonly tasks: number
}

const shapes: Readonly<Record<LabTail['shape'], Distribution>> = {
  exponential: exponentialDistribution(1),
  lognormal: lognormalDistribution(1, 1),
  pareto: paretoDistribution(1, 1.5),
}
const bins = 48
const mostValues = 6_000_000

/** The two experiments on tails: percentiles of few values, and tasks of many calls. The same seed draws the same. */
export function labTail(options: LabTailOptions): LabTail {
  const { percentile, shape, calls, slow, tasks } = options
  const share = percentileShare(percentile)
  const rest = toNumber(subtract(rational(1n), share))
  const distribution = shapes[shape]
  const truth = distribution.quantile(toNumber(share))
  const drawn = options.sizes.map((n, index) => {
    const repeats = Math.max(20, Math.min(options.repeats, Math.floor(mostValues / n)))
    const random = randomStream(options.seed, 'lab-tail', index)
    return { n, repeats, estimates: drawEstimates(random, distribution, n, repeats, percentile) }
  })
  const spread = drawn.flatMap(({ estimates }) => Array.from(estimates))
  const sorted = Float64Array.from(spread).sort()
  const low = Math.min(sorted[Math.floor(0.005 * sorted.length)]!, truth)
  const high = Math.max(sorted[Math.ceil(0.99 * sorted.length) - 1]!, truth)
  const random = randomStream(options.seed, 'lab-tail-agent')
  const simulated = drawTasks(random, calls, slow, tasks)
  return {
    schema: 'plimsoll.lab/1',
    kind: 'tail',
    seed: options.seed,
    shape,
    percentile,
    truth,
    axis: [low, high],
    rows: drawn.map(({ n, repeats, estimates }) => {
      const closed = exponentialPercentileScatter(n, percentile)
      return {
        n,
        repeats,
        closed_form: {
          mean: shape === 'exponential' ? (closed?.mean ?? null) : null,
          sd: shape === 'exponential' ? (closed?.sd ?? null) : null,
          underestimates: binomialTail(nearestRank(n, percentile) - 1, n, toNumber(share), rest),
        },
        simulated: {
          mean: mean(estimates)!,
          sd: standardDeviation(estimates) ?? 0,
          underestimates: estimates.reduce((sum, value) => sum + (value < truth ? 1 : 0), 0) / repeats,
        },
        histogram: histogram(estimates, low, high),
      }
    }),
    agent: {
      calls,
      slow,
      tasks,
      closed_form: anySlow(slow, calls),
      simulated,
      standard_error: Math.sqrt((simulated * (1 - simulated)) / tasks),
      needed_per_call: neededPerCall(0.01, calls),
    },
  }
}

function drawEstimates(
  random: Random,
  distribution: Distribution,
  n: number,
  repeats: number,
  percentile: string,
): Float64Array {
  const at = nearestRank(n, percentile) - 1
  const values = new Float64Array(n)
  const estimates = new Float64Array(repeats)
  for (let repeat = 0; repeat < repeats; repeat++) {
    // The quantile function keeps order: ranking the uniforms and mapping one of them is the same and much quicker.
    for (let i = 0; i < n; i++) values[i] = random.next()
    values.sort()
    estimates[repeat] = distribution.quantile(values[at]!)
  }
  return estimates
}

function histogram(values: Float64Array, low: number, high: number): readonly number[] {
  const counts = Array.from({ length: bins }, () => 0)
  for (const value of values) {
    const bin = Math.floor(((value - low) / (high - low || 1)) * bins)
    const inside = Math.min(bins - 1, Math.max(0, bin))
    counts[inside] = counts[inside]! + 1
  }
  return counts
}

/** Share of tasks with at least one slow call, every call of every task drawn. */
function drawTasks(random: Random, calls: number, slow: number, tasks: number): number {
  if (calls * tasks > 100_000_000) {
    throw new PlimsollError('PLIM_NUMBER', 'so many calls take longer than one would wait', {
      expected: 'at most 100M calls in all',
      received: `${tasks} tasks of ${calls}`,
    })
  }
  let hit = 0
  for (let task = 0; task < tasks; task++) {
    let isSlow = false
    for (let call = 0; call < calls; call++) isSlow = random.next() < slow || isSlow
    if (isSlow) hit++
  }
  return hit / tasks
}
