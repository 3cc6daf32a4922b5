import { coverageAt, leastCoverage } from './coverage.ts'
import { laggedProducts } from './fourier.ts'
import { nearestRank, percentileShare, sortAscending, type Percentile } from './percentile.ts'
import { oneSidedUpperRank, orderStatisticInterval } from './percentile-interval.ts'
import { subtract, toNumber, type Rational, type RationalInput } from './rational.ts'

/** Integrated autocorrelation time and what it leaves of the sample. */
export interface AutocorrelationTime {
  /** τ = 1 + 2Σρ_k over the window; null where the indicator never changes, which says nothing about dependence. */
  readonly tau: number | null
  /** n ÷ max(1, τ); null with τ. */
  readonly nEff: number | null
  /** The lag where Sokal's window closed. */
  readonly window: number | null
}

/** Below this many independent tail events an interval of a percentile is not shown. */
export const tailClustersForInterval = 10
/** Below this many the percentile of the run itself is biased low. */
export const tailClustersForEstimate = 3

const one: Rational = { num: 1n, den: 1n }
/** Lags that are summed one by one before a Fourier transform is the cheaper way. */
const directLags = 256

/**
 * Autocorrelation time of the indicator x > `threshold`, in arrival order: biased autocorrelations ρ_k, summed up to
 * Sokal's window, the smallest M ≥ 5τ(M) (Sokal, "Monte Carlo methods in statistical mechanics", 1997).
 */
export function exceedanceIact(
  valuesInArrivalOrder: ArrayLike<number>,
  threshold: number,
): AutocorrelationTime {
  const n = valuesInArrivalOrder.length
  const indicator = new Float64Array(n)
  let count = 0
  for (let i = 0; i < n; i++) {
    if ((valuesInArrivalOrder[i] as number) > threshold) {
      indicator[i] = 1
      count++
    }
  }
  if (count === 0 || count === n) return { tau: null, nEff: null, window: null }
  return windowed(indicatorCorrelation(indicator, count), n)
}

/** Numbers of batches whose means are looked at for slow memory. */
const batchCounts = [20, 40] as const
/** Shorter batches say nothing that the window does not. */
const shortestBatch = 5

/**
 * Autocorrelation time of the indicator x > `threshold` as intervals are computed with: the larger of Sokal's and of those by batch
 * means, b·Var(batch mean) ÷ Var(indicator) for 20 and 40 batches. A queue behind long requests has a fast part, which closes
 * Sokal's window at once, and a slow one that only long batches show: without them a nominal 95 % was measured to hold 64 % of the
 * time in an engine at 90 % load, with them 88 % (docs/calibration.md; batch means: Law and Carson 1979).
 */
export function exceedanceMemory(
  valuesInArrivalOrder: ArrayLike<number>,
  threshold: number,
): AutocorrelationTime {
  const found = exceedanceIact(valuesInArrivalOrder, threshold)
  if (found.tau === null) return found
  const n = valuesInArrivalOrder.length
  const slow = batchCounts.map((batches) => batchIact(valuesInArrivalOrder, threshold, batches) ?? 0)
  const tau = Math.max(found.tau, ...slow)
  return { tau, nEff: n / Math.max(1, tau), window: found.window }
}

/** b·Var(batch mean) ÷ (p(1 − p)) of the indicator x > `threshold`; null for batches under five values, or without both kinds of values. */
export function batchIact(values: ArrayLike<number>, threshold: number, batches: number): number | null {
  const length = Math.floor(values.length / batches)
  if (length < shortestBatch || batches < 2) return null
  const shares = new Float64Array(batches)
  let total = 0
  for (let batch = 0; batch < batches; batch++) {
    let above = 0
    for (let i = batch * length; i < (batch + 1) * length; i++) if ((values[i] as number) > threshold) above++
    shares[batch] = above / length
    total += above
  }
  const share = total / (batches * length)
  if (share === 0 || share === 1) return null
  const squares = shares.reduce((sum, each) => sum + (each - share) ** 2, 0)
  return (length * squares) / (batches - 1) / (share * (1 - share))
}

/** Sokal's time of any series of values; null where it is constant or empty. */
export function iact(values: ArrayLike<number>): AutocorrelationTime {
  const deviations = deviationsOf(values)
  if (deviations === null) return { tau: null, nEff: null, window: null }
  const n = deviations.length
  let squares = 0
  for (let i = 0; i < n; i++) squares += (deviations[i] as number) ** 2
  let transformed: Float64Array | null = null
  return windowed((lag) => {
    if (lag > directLags) {
      transformed ??= laggedProducts(deviations)
      return (transformed[lag] as number) / (transformed[0] as number)
    }
    let products = 0
    for (let i = 0; i + lag < n; i++) products += (deviations[i] as number) * (deviations[i + lag] as number)
    return products / squares
  }, n)
}

/** Biased autocorrelations ρ_0 … ρ_{n−1}; null where the series is constant or empty. */
export function autocorrelations(values: ArrayLike<number>): Float64Array | null {
  const deviations = deviationsOf(values)
  if (deviations === null) return null
  const covariance = laggedProducts(deviations)
  const scale = covariance[0] as number
  return covariance.map((value) => value / scale)
}

/** The values less their mean; null where they are all equal, or none. */
function deviationsOf(values: ArrayLike<number>): Float64Array | null {
  const n = values.length
  let varies = false
  for (let i = 1; i < n && !varies; i++) varies = values[i] !== values[0]
  if (!varies) return null
  let sum = 0
  for (let i = 0; i < n; i++) sum += values[i] as number
  const deviations = new Float64Array(n)
  for (let i = 0; i < n; i++) deviations[i] = (values[i] as number) - sum / n
  return deviations
}

/** τ of a first-order autoregression: (1 + ρ) ÷ (1 − ρ). */
export function ar1Iact(rho: number): number {
  return (1 + rho) / (1 - rho)
}

/** Independent tail events in a run of `n`: n(1 − p) ÷ τ. */
export function tailClusters(n: number, p: Percentile, tau: number): number {
  const rest = subtract(one, percentileShare(p))
  return toNumber({ num: rest.num * BigInt(n), den: rest.den }) / tau
}

/** A percentile with the interval that its effective sample size allows. */
export interface EffectiveInterval {
  /** Nearest rank over all values; null for none. */
  readonly estimate: number | null
  readonly low: number | null
  readonly high: number | null
  readonly nEff: number | null
  readonly tailClusters: number | null
  /** How often a nominal 95 % interval of so many tail events was measured to hold (docs/calibration.md); null where none is given. */
  readonly measuredCoverage: number | null
  /** Why an end is missing, or null where both stand. */
  readonly why: string | null
}

/**
 * The within-run interval of a percentile (within-run: it knows nothing of what differs between runs): ranks for
 * floor(n_eff) independent values, scaled back to n. None below ten tail clusters; an end is also null where no order
 * statistic bounds it, or where so few tail events were measured to hold under 80 % of the time (`coverage.ts`).
 */
export function effectiveInterval(
  valuesInArrivalOrder: ArrayLike<number>,
  p: Percentile,
  confidence: RationalInput,
  sorted: ArrayLike<number> = sortAscending(valuesInArrivalOrder),
): EffectiveInterval {
  const prepared = prepare(valuesInArrivalOrder, p, sorted)
  const { n, estimate, nEff, clusters } = prepared
  const base = { estimate, low: null, high: null, nEff, tailClusters: clusters, measuredCoverage: null }
  if (nEff === null || clusters === null) return { ...base, why: prepared.why }
  const coverage = coverageAt(clusters)
  if (clusters < tailClustersForInterval || coverage === null || coverage < leastCoverage) {
    const biased =
      clusters < tailClustersForEstimate ? '; the estimate itself is unreliable and biased low' : ''
    return {
      ...base,
      why: `only ${clusters.toFixed(1)} independent tail events, an interval needs ${tailClustersForInterval}${biased}`,
    }
  }
  const effective = Math.floor(nEff)
  const { lowRank, highRank } = orderStatisticInterval(effective, p, confidence)
  return {
    ...base,
    measuredCoverage: coverage,
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
  const above = toNumber(subtract(one, share))
  return nEff * Math.min(above, toNumber(share))
}

function tooFew(effective: number, side: 'lower' | 'upper'): string {
  return `no ${side} bound: ${effective} effective samples are too few for this percentile`
}

function valueAtRank(sorted: ArrayLike<number>, rank: number): number {
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] as number
}

function windowed(correlation: (lag: number) => number, n: number): AutocorrelationTime {
  let tau = 1
  let lag = 0
  while (lag < n - 1) {
    lag++
    tau += 2 * correlation(lag)
    // A tie M = 5τ is one whatever the last bits of the sum say.
    if (lag >= 5 * tau - 1e-9) break
  }
  return { tau, nEff: n / Math.max(1, tau), window: lag }
}

/** ρ_k of a 0/1 series with `count` ones: by walking the ones at short lags, by Fourier transform beyond. */
function indicatorCorrelation(indicator: Float64Array, count: number): (lag: number) => number {
  const n = indicator.length
  const centre = count / n
  const ones = new Int32Array(count)
  const before = new Int32Array(n + 1)
  let found = 0
  for (let i = 0; i < n; i++) {
    if (indicator[i] === 1) ones[found++] = i
    before[i + 1] = found
  }
  const scale = count * (1 - centre)
  let transformed: Float64Array | null = null
  return (lag) => {
    if (lag > directLags) {
      transformed ??= laggedProducts(indicator.map((value) => value - centre))
      return (transformed[lag] as number) / (transformed[0] as number)
    }
    let together = 0
    for (const position of ones) if (position + lag < n && indicator[position + lag] === 1) together++
    const head = before[n - lag] as number
    const rear = count - (before[lag] as number)
    return (together - centre * (head + rear) + (n - lag) * centre * centre) / scale
  }
}
