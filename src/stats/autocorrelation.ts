import { slowMemory } from './batch-means.ts'
import { countBelow } from './count-below.ts'
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
function exceedances(values: ArrayLike<number>, threshold: number): Uint8Array {
  const indicator = new Uint8Array(values.length)
  for (let i = 0; i < indicator.length; i++) if ((values[i] as number) > threshold) indicator[i] = 1
  return indicator
}

function indicatorIact(indicator: Uint8Array): AutocorrelationTime {
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
  const centre = centreOf(values)
  if (centre === null) return { tau: null, nEff: null, window: null }
  const n = values.length
  let squares = 0
  for (let i = 0; i < n; i++) squares += ((values[i] as number) - centre) ** 2
  const farther = transformedCorrelation(values, centre)
  return windowed((lag) => {
    if (lag > directLags) return farther(lag)
    let products = 0
    for (let i = 0; i + lag < n; i++) {
      products += ((values[i] as number) - centre) * ((values[i + lag] as number) - centre)
    }
    return products / squares
  }, n)
}

/** The mean of values that are not all equal; null where they are, or there is none. */
function centreOf(values: ArrayLike<number>): number | null {
  const n = values.length
  let varies = false
  for (let i = 1; i < n && !varies; i++) varies = values[i] !== values[0]
  if (!varies) return null
  let sum = 0
  for (let i = 0; i < n; i++) sum += values[i] as number
  return sum / n
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

/** Lags of the first transform. */
const fewestTransformed = 1 << 12
/** Lags at most of any: 20 MB, or a sixteenth of the series where that is more, so that all of them are n log n. */
const mostTransformed = (n: number): number => Math.max(1 << 18, n >> 4)

/** ρ_k by Fourier transform, for lags that are asked for in their order: some at a time, and more the farther they lie. */
function transformedCorrelation(values: ArrayLike<number>, centre: number): (lag: number) => number {
  const lagsFrom = (first: number): Float64Array => {
    const count = Math.min(
      Math.max(fewestTransformed, 3 * first),
      mostTransformed(values.length),
      values.length - first,
    )
    return laggedProducts(values, first, count, centre)
  }
  let first = 0
  let products: Float64Array = new Float64Array(0)
  let scale = 0
  return (lag) => {
    while (lag >= first + products.length) {
      first += products.length
      products = lagsFrom(first)
      if (first === 0) scale = products[0] as number
    }
    return (products[lag - first] as number) / scale
  }
}

/** ρ_k of a 0/1 series with `count` ones: by walking the ones at short lags, by Fourier transform beyond. */
function indicatorCorrelation(indicator: Uint8Array, count: number): (lag: number) => number {
  const n = indicator.length
  const centre = count / n
  const ones = new Int32Array(count)
  let found = 0
  for (let i = 0; i < n; i++) if (indicator[i] === 1) ones[found++] = i
  const scale = count * (1 - centre)
  const farther = transformedCorrelation(indicator, centre)
  return (lag) => {
    if (lag > directLags) return farther(lag)
    let together = 0
    for (const position of ones) if (position + lag < n && indicator[position + lag] === 1) together++
    const head = countBelow(ones, n - lag)
    const rear = count - countBelow(ones, lag)
    return (together - centre * (head + rear) + (n - lag) * centre * centre) / scale
  }
}
