import { exceedanceMemory } from './autocorrelation.ts'
import { coverageAt, leastCoverage, type MeasuredCoverage } from './coverage.ts'
import { nearestRank, percentileShare, sortAscending, type Percentile } from './percentile.ts'
import { oneSidedUpperRank, orderStatisticInterval } from './percentile-interval.ts'
import { subtract, toNumber, type Rational, type RationalInput } from './rational.ts'

/** Below this many independent tail events an interval of a percentile is not shown. */
export const tailClustersForInterval = 10
/** Below this many the percentile of the run itself is biased low. */
export const tailClustersForEstimate = 3
/** So many independent swings of the load carry an interval of any percentile. */
export const swingsForInterval = 60
/** And so many of them on the rarer side of a percentile carry that of a middle one. */
const swingsBeyond = 3

const one: Rational = { num: 1n, den: 1n }

/**
 * How many independent swings of the load (`swings.ts`) an interval of a percentile needs: 3 ÷ min(p, 1 − p), at most 60. A run of
 * fewer may have missed the congestion that makes the tail, and no figure inside its tail tells: chosen by docs/calibration.md, where
 * without this rule seven regimes were shown that held 44–79 % of the time.
 */
export function swingsNeeded(p: Percentile): number {
  return Math.min(swingsForInterval, swingsBeyond / rarerSide(percentileShare(p)))
}

/** What stands behind a percentile: its independent tail events, and the independent swings of the load. */
export interface IntervalBasis {
  readonly tailClusters: number
  /** Undefined: the figure does not depend on the load. Null: the times of the requests are not known. */
  readonly swings?: number | null | undefined
}

/** Why the percentile gets no two-sided interval; null where it gets one. */
export function refuseInterval(p: Percentile, { tailClusters, swings }: IntervalBasis): string | null {
  const coverage = coverageAt(tailClusters)
  if (tailClusters < tailClustersForInterval || coverage === null || coverage.share < leastCoverage) {
    const biased =
      tailClusters < tailClustersForEstimate ? '; the estimate itself is unreliable and biased low' : ''
    return `only ${tailClusters.toFixed(1)} independent tail events, an interval needs ${tailClustersForInterval}${biased}`
  }
  if (swings === undefined) return null
  const needed = swingsNeeded(p)
  if (swings === null) return 'the times of the requests are not known, nor how often the load swung'
  if (swings >= needed) return null
  return `the load swung only ${Math.floor(swings)} times, an interval of this percentile needs ${Math.ceil(needed)}: a longer run`
}

/** A percentile with the interval that its effective sample size allows. */
export interface EffectiveInterval {
  /** Nearest rank over all values; null for none. */
  readonly estimate: number | null
  readonly low: number | null
  readonly high: number | null
  /** The one-sided upper end at the same confidence, as `effectiveUpperBound`; it needs fewer values than the interval. */
  readonly upper: number | null
  readonly nEff: number | null
  readonly tailClusters: number | null
  /** How often a nominal 95 % interval of so many tail events was measured to hold (docs/calibration.md); null where none is given. */
  readonly measuredCoverage: MeasuredCoverage | null
  /** Why an end is missing, or null where both stand. */
  readonly why: string | null
}

/**
 * The within-run interval of a percentile (within-run: it knows nothing of what differs between runs): ranks for
 * floor(n_eff) independent values, scaled back to n. None where `refuseInterval` says why; an end is also null where no order
 * statistic bounds it. `swings`: the independent swings of the load (`swings.ts`), undefined for a figure that does not depend on it.
 */
export function effectiveInterval(
  valuesInArrivalOrder: ArrayLike<number>,
  p: Percentile,
  confidence: RationalInput,
  sorted: ArrayLike<number> = sortAscending(valuesInArrivalOrder),
  swings?: number | null,
): EffectiveInterval {
  const prepared = prepare(valuesInArrivalOrder, p, sorted)
  const { n, estimate, nEff, clusters } = prepared
  const missing = { estimate, low: null, high: null, nEff, tailClusters: clusters, measuredCoverage: null }
  if (nEff === null || clusters === null) return { ...missing, upper: null, why: prepared.why }
  const effective = Math.floor(nEff)
  const upperRank = oneSidedUpperRank(effective, p, confidence)
  const upper = upperRank === null ? null : valueAtRank(sorted, Math.ceil((upperRank * n) / effective))
  const base = { ...missing, upper }
  const refusal = refuseInterval(p, { tailClusters: clusters, swings })
  if (refusal !== null) return { ...base, why: refusal }
  const { lowRank, highRank } = orderStatisticInterval(effective, p, confidence)
  return {
    ...base,
    measuredCoverage: coverageAt(clusters),
    low: lowRank === null ? null : valueAtRank(sorted, Math.floor((lowRank * n) / effective)),
    high: highRank === null ? null : valueAtRank(sorted, Math.ceil((highRank * n) / effective)),
    why:
      lowRank === null || highRank === null ? tooFew(effective, lowRank === null ? 'lower' : 'upper') : null,
  }
}

/** A one-sided upper end, as an SLO is judged by it. */
export interface EffectiveUpperBound {
  readonly estimate: number | null
  readonly high: number | null
  readonly nEff: number | null
  readonly tailClusters: number | null
  readonly why: string | null
}

/** The one-sided upper end of a percentile at n_eff; null where pⁿ > α for the effective n (P99 needs 299 at 95 %). */
export function effectiveUpperBound(
  valuesInArrivalOrder: ArrayLike<number>,
  p: Percentile,
  confidence: RationalInput,
  sorted: ArrayLike<number> = sortAscending(valuesInArrivalOrder),
): EffectiveUpperBound {
  const { n, estimate, nEff, clusters, why } = prepare(valuesInArrivalOrder, p, sorted)
  const base = { estimate, nEff, tailClusters: clusters }
  if (nEff === null) return { ...base, high: null, why }
  const effective = Math.floor(nEff)
  const rank = oneSidedUpperRank(effective, p, confidence)
  if (rank === null) return { ...base, high: null, why: tooFew(effective, 'upper') }
  return { ...base, high: valueAtRank(sorted, Math.ceil((rank * n) / effective)), why: null }
}

interface Prepared {
  readonly n: number
  readonly estimate: number | null
  readonly nEff: number | null
  readonly clusters: number | null
  readonly why: string | null
}

function prepare(values: ArrayLike<number>, p: Percentile, sorted: ArrayLike<number>): Prepared {
  const n = sorted.length
  if (n === 0) return { n, estimate: null, nEff: null, clusters: null, why: 'no values' }
  const share = percentileShare(p)
  const estimate = valueAtRank(sorted, nearestRank(n, share))
  const { tau, nEff } = exceedanceMemory(values, estimate)
  if (tau === null || nEff === null) {
    // Nothing above the estimate: all equal, or too few values for a tail. Independence cannot be shown either way.
    const constant = sorted[0] === sorted[n - 1]
    if (!constant) return { n, estimate, nEff: null, clusters: null, why: 'no value lies above the estimate' }
    return { n, estimate, nEff: n, clusters: smallerSide(n, share), why: null }
  }
  return { n, estimate, nEff, clusters: smallerSide(nEff, share), why: null }
}

/** Events on the rarer side of the percentile. */
function smallerSide(nEff: number, share: Rational): number {
  return nEff * rarerSide(share)
}

/** min(p, 1 − p). */
function rarerSide(share: Rational): number {
  return Math.min(toNumber(subtract(one, share)), toNumber(share))
}

function tooFew(effective: number, side: 'lower' | 'upper'): string {
  return `no ${side} bound: ${effective} effective samples are too few for this percentile`
}

function valueAtRank(sorted: ArrayLike<number>, rank: number): number {
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] as number
}
