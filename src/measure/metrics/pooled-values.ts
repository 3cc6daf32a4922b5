import { seriesMemory } from '../../stats/autocorrelation.ts'
import { coverageAt } from '../../stats/coverage.ts'
import { meanOf } from '../../stats/describe.ts'
import { refuseInterval } from '../../stats/effective-interval.ts'
import {
  oneSidedLowerRank,
  oneSidedUpperRank,
  orderStatisticInterval,
} from '../../stats/percentile-interval.ts'
import { percentileKey, percentileShare } from '../../stats/percentile.ts'
import { rational, subtract, toNumber } from '../../stats/rational.ts'
import type { ValueSource } from '../../stats/value-source.ts'
import { confidenceOf, oneLook, type DecisionTails } from './decision-tails.ts'
import { createOrderIndex, type OrderIndex } from './order-index.ts'
import { levelsOf, namedPercentiles, percentileAt, type PercentileOptions } from './percentile-levels.ts'
import type { Interval, IntervalCoverage, MetricSummary } from './run-summary.ts'
import { intervalCoverage } from './summarize-values.ts'

/** Many values a request (gaps), pooled: requests in order of intended send, `ends[r]` = values of the requests 0 … r. */
export interface PooledValues extends ValueSource {
  readonly ends: Uint32Array
}

/** Values that are held, 32 MB. More of them are read from their rows whenever they are gone through. */
const heldValues = 1 << 22
/** Values of a piece, 512 kB: they stay in the processor's cache. */
const pieceValues = 1 << 16

/** What can be gone through more than once. */
export type Many<Of> = Iterable<Of> & { readonly length: number }

/** Pools the list of each of these that has one. A list is read at once and not kept. */
export function pool<Of>(
  all: Many<Of>,
  listOf: (one: Of) => ArrayLike<number> | null,
  limit: number = heldValues,
): PooledValues {
  const found = new Uint32Array(all.length)
  let lists = 0
  let length = 0
  let held: Float64Array | null = new Float64Array(Math.min(limit, pieceValues))
  for (const one of all) {
    const list = listOf(one)
    if (list === null) continue
    if (held !== null && length + list.length > held.length) held = grown(held, length + list.length, limit)
    if (held !== null) copy(list, 0, list.length, held, length)
    length += list.length
    found[lists++] = length
  }
  const ends = found.subarray(0, lists)
  if (held === null) return { length, ends, each: (visit) => eachPiece(all, listOf, visit) }
  const values = held.subarray(0, length)
  return { length, ends, each: (visit) => visit(values) }
}

function copy(from: ArrayLike<number>, start: number, count: number, into: Float64Array, at: number): void {
  for (let index = 0; index < count; index++) into[at + index] = from[start + index] as number
}

/** Twice the room, or null where that is more than may be held. */
function grown(values: Float64Array, needed: number, limit: number): Float64Array | null {
  if (needed > limit) return null
  const larger = new Float64Array(Math.min(limit, Math.max(needed, values.length * 2)))
  larger.set(values)
  return larger
}

function eachPiece<Of>(
  all: Many<Of>,
  listOf: (one: Of) => ArrayLike<number> | null,
  visit: (values: Float64Array) => void,
): void {
  const piece = new Float64Array(pieceValues)
  let filled = 0
  for (const one of all) {
    const list = listOf(one)
    if (list === null) continue
    for (let at = 0; at < list.length;) {
      if (filled === pieceValues) {
        visit(piece)
        filled = 0
      }
      const count = Math.min(list.length - at, pieceValues - filled)
      copy(list, at, count, piece, filled)
      at += count
      filled += count
    }
  }
  if (filled > 0) visit(piece.subarray(0, filled))
}

/**
 * How many independent values stand behind the share of pooled values above a threshold. The values of one request hang
 * together and so do neighbouring requests: the sample are the requests. With x_r values of g_r above and the share
 * q = Σx ÷ Σg, the residuals e_r = x_r − q·g_r give the variance of the ratio, τ·Σe² ÷ (Σg)² (ratio estimator over clusters,
 * Cochran, "Sampling Techniques", §6; τ = the residuals' `seriesMemory` in order of arrival), and
 * n_eff = q(1 − q) ÷ variance, at most Σg. Null where no value lies above the threshold, or all do.
 */
export function pooledEffectiveSize(pooled: PooledValues, threshold: number): number | null {
  return pooledEffectiveSizes(pooled, [threshold])[0] ?? null
}

/** The same for several thresholds, ascending, in one pass over the values. */
export function pooledEffectiveSizes(
  pooled: PooledValues,
  thresholds: readonly number[],
): readonly (number | null)[] {
  const { ends } = pooled
  const limits = Float64Array.from(thresholds)
  const above = limits.map(() => 0)
  const counts = thresholds.map(() => new Float64Array(ends.length))
  // The request whose values are being read, and how many of its values and of those before it are still to come.
  let request = 0
  let left = ends[0] ?? 0
  const closeRequests = (): void => {
    while (left === 0 && request < ends.length) {
      for (let limit = 0; limit < limits.length; limit++) counts[limit]![request] = above[limit] ?? 0
      above.fill(0)
      request++
      left = (ends[request] ?? 0) - (ends[request - 1] ?? 0)
    }
  }
  closeRequests()
  pooled.each((values) => {
    for (let at = 0; at < values.length;) {
      const end = Math.min(values.length, at + left)
      left -= end - at
      countAbove(values, at, end, limits, above)
      at = end
      closeRequests()
    }
  })
  return counts.map((count) => effectiveSize(count, pooled))
}

function countAbove(
  values: Float64Array,
  start: number,
  end: number,
  limits: Float64Array,
  above: Float64Array,
): void {
  const lowest = limits[0] ?? Number.POSITIVE_INFINITY
  for (let at = start; at < end; at++) {
    const value = values[at] as number
    // Few values pass the first limit, fewer the next: most need one comparison.
    if (!(value > lowest)) continue
    for (let limit = 0; limit < limits.length && value > (limits[limit] as number); limit++) above[limit]!++
  }
}

/** `above` has how many values of each request lie above the threshold; it is overwritten. */
function effectiveSize(above: Float64Array, { length, ends }: PooledValues): number | null {
  let total = 0
  for (let request = 0; request < above.length; request++) total += above[request] ?? 0
  if (total === 0 || total === length) return null
  const share = total / length
  let squares = 0
  let before = 0
  for (let request = 0; request < ends.length; request++) {
    const end = ends[request] ?? 0
    const residual = (above[request] ?? 0) - share * (end - before)
    above[request] = residual
    squares += residual * residual
    before = end
  }
  const tau = Math.max(1, seriesMemory(above).tau ?? 1)
  if (squares === 0) return length
  return Math.min(length, (share * (1 - share) * length * length) / (tau * squares))
}

const one = rational(1n)

/** The summary of pooled values: percentiles by exact rank over every value, intervals by the clusters behind them. */
export function summarizePooled(
  pooled: PooledValues,
  options: PercentileOptions,
  swings?: number | null,
): MetricSummary {
  const n = pooled.length
  const index = createOrderIndex(pooled)
  const levels = levelsOf(options)
  const found = new Map<string, number | null>()
  const ci: Record<string, Interval> = {}
  const coverage: Record<string, IntervalCoverage> = {}
  const upper: Record<string, number | null> = {}
  const why: Record<string, string> = {}
  let nEff: number | null = null
  if (n > 0) {
    const estimates = estimatesOf(index, levels, options)
    const ranks: { key: string; low: number | null; high: number | null; upper: number | null }[] = []
    const sizes = pooledEffectiveSizes(
      pooled,
      levels.map((level) => estimates.get(level) ?? Number.POSITIVE_INFINITY),
    )
    for (const [at, level] of levels.entries()) {
      const key = percentileKey(level)
      found.set(level, estimates.get(level) ?? null)
      const effective = sizes[at] ?? null
      if (effective === null) {
        why[key] = 'no value lies above the estimate'
        continue
      }
      nEff = effective
      const whole = Math.floor(effective)
      const scaledUp = (rank: number | null): number | null =>
        rank === null ? null : Math.ceil((rank * n) / whole)
      const tail = effective * tailShare(level)
      const refusal = refuseInterval(level, { tailClusters: tail, swings })
      const upperRank = scaledUp(oneSidedUpperRank(whole, level, '0.95'))
      if (refusal !== null) {
        why[key] = refusal
        ranks.push({ key, low: null, high: null, upper: upperRank })
        continue
      }
      const measured = coverageAt(tail)
      if (measured !== null) coverage[key] = intervalCoverage(measured)
      const { lowRank, highRank } = orderStatisticInterval(whole, level, '0.95')
      ranks.push({
        key,
        low: lowRank === null ? null : Math.floor((lowRank * n) / whole),
        high: scaledUp(highRank),
        upper: upperRank,
      })
    }
    const ends = index.at(ranks.flatMap(({ low, high, upper: above }) => [low ?? 1, high ?? n, above ?? n]))
    ranks.forEach(({ key, low, high, upper: above }, at) => {
      upper[key] = above === null ? null : (ends[3 * at + 2] ?? null)
      if (why[key] !== undefined) return
      ci[key] = [
        low === null ? null : (ends[3 * at] ?? null),
        high === null ? null : (ends[3 * at + 1] ?? null),
      ]
    })
  }
  const [min = null, max = null] = n === 0 ? [] : index.at([1, n])
  return {
    n,
    n_eff: nEff,
    mean: meanOf(pooled),
    min,
    ...namedPercentiles(found),
    max,
    ci,
    ci_coverage: coverage,
    upper,
    why,
    all_attempts: null,
  }
}

/** All estimates with one pass over the values for each definition's ranks. */
function estimatesOf(
  index: OrderIndex,
  levels: readonly string[],
  options: PercentileOptions,
): Map<string, number | null> {
  const ranks: number[] = []
  const collectRanks = (asked: readonly number[]): number[] => {
    ranks.push(...asked)
    return asked.map(() => 0)
  }
  for (const level of levels) percentileAt(index.length, level, options.percentileType, collectRanks)
  index.at(ranks)
  return new Map(
    levels.map((level) => [
      level,
      percentileAt(index.length, level, options.percentileType, (asked) => index.at(asked)),
    ]),
  )
}

function tailShare(level: string): number {
  const share = percentileShare(level)
  return Math.min(toNumber(share), toNumber(subtract(one, share)))
}

/** An estimate with its one-sided ends at an effective size; an end that no order statistic gives is null. */
export interface OneSidedEnds {
  readonly estimate: number
  readonly low: number | null
  readonly high: number | null
  readonly nEff: number
}

/** The one-sided ends of a pooled percentile, as objectives on gaps are judged by them. Null without values. */
export function pooledOneSidedEnds(
  pooled: PooledValues,
  level: string,
  tails: DecisionTails = oneLook,
): OneSidedEnds | null {
  const n = pooled.length
  if (n === 0) return null
  const index = createOrderIndex(pooled)
  const estimate = percentileAt(n, level, '1', (asked) => index.at(asked))
  if (estimate === null) return null
  const nEff = pooledEffectiveSize(pooled, estimate) ?? pooled.ends.length
  const whole = Math.max(1, Math.floor(nEff))
  const low = oneSidedLowerRank(whole, level, confidenceOf(tails.missed))
  const high = oneSidedUpperRank(whole, level, confidenceOf(tails.kept))
  return {
    estimate,
    low: low === null ? null : (index.at([Math.floor((low * n) / whole)])[0] ?? null),
    high: high === null ? null : (index.at([Math.ceil((high * n) / whole)])[0] ?? null),
    nEff,
  }
}
