import { slowMemory } from './batch-means.ts'
import { laggedProducts } from './fourier.ts'
import { percentileShare, type Percentile } from './percentile.ts'
import { subtract, toNumber, type Rational } from './rational.ts'

/** Integrated autocorrelation time and what it leaves of the sample. */
export interface AutocorrelationTime {
  /** τ = 1 + 2Σρ_k over the window; null where the indicator never changes, which says nothing about dependence. */
  readonly tau: number | null
  /** n ÷ max(1, τ); null with τ. */
  readonly nEff: number | null
  /** The lag where Sokal's window closed. */
  readonly window: number | null
}

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
  return indicatorIact(exceedances(valuesInArrivalOrder, threshold))
}

/** 1 where a value lies above the threshold, else 0. */
function exceedances(values: ArrayLike<number>, threshold: number): Float64Array {
  const indicator = new Float64Array(values.length)
  for (let i = 0; i < indicator.length; i++) if ((values[i] as number) > threshold) indicator[i] = 1
  return indicator
}

function indicatorIact(indicator: Float64Array): AutocorrelationTime {
  const n = indicator.length
  let count = 0
  for (let i = 0; i < n; i++) count += indicator[i] as number
  if (count === 0 || count === n) return { tau: null, nEff: null, window: null }
  return windowed(indicatorCorrelation(indicator, count), n)
}

/**
 * Autocorrelation time of the indicator x > `threshold` as intervals are computed with: `seriesMemory` of it, which sees the slow
 * part of a queue's memory beside the fast one (measured in docs/calibration.md).
 */
export function exceedanceMemory(
  valuesInArrivalOrder: ArrayLike<number>,
  threshold: number,
): AutocorrelationTime {
  const indicator = exceedances(valuesInArrivalOrder, threshold)
  const found = indicatorIact(indicator)
  return found.tau === null ? found : withBatches(found, indicator)
}

/** Sokal's time and `slowMemory` of any series of values, whichever is larger; null where it is constant or empty. */
export function seriesMemory(values: ArrayLike<number>): AutocorrelationTime {
  const found = iact(values)
  return found.tau === null ? found : withBatches(found, values)
}

function withBatches(found: AutocorrelationTime, values: ArrayLike<number>): AutocorrelationTime {
  const tau = Math.max(found.tau ?? 1, slowMemory(values))
  return { tau, nEff: values.length / Math.max(1, tau), window: found.window }
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
