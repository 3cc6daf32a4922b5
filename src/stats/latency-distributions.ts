import type { Distribution } from './mixture.ts'
import { normalCdf, normalQuantile, normalTail } from './normal.ts'

/** Exponential with the given mean. */
export function exponentialDistribution(mean: number): Distribution {
  return {
    cdf: (x) => (x <= 0 ? 0 : -Math.expm1(-x / mean)),
    tail: (x) => (x <= 0 ? 1 : Math.exp(-x / mean)),
    quantile: (p) => -mean * Math.log1p(-p),
  }
}

/** Lognormal with the given median and σ of the logarithm. */
export function lognormalDistribution(median: number, sigma: number): Distribution {
  const z = (x: number): number => Math.log(x / median) / sigma
  return {
    cdf: (x) => (x <= 0 ? 0 : normalCdf(z(x))),
    tail: (x) => (x <= 0 ? 1 : normalTail(z(x))),
    quantile: (p) => median * Math.exp(sigma * normalQuantile(p)),
  }
}

/** Uniform between two ends. */
export function uniformDistribution(low: number, high: number): Distribution {
  const share = (x: number): number => Math.min(1, Math.max(0, (x - low) / (high - low)))
  return {
    cdf: share,
    tail: (x) => Math.min(1, Math.max(0, (high - x) / (high - low))),
    quantile: (p) => low + p * (high - low),
  }
}

/** Pareto from `scale` on, with tail index `alpha`. */
export function paretoDistribution(scale: number, alpha: number): Distribution {
  const tail = (x: number): number => (x <= scale ? 1 : (scale / x) ** alpha)
  return { cdf: (x) => 1 - tail(x), tail, quantile: (p) => scale * Math.exp(-Math.log1p(-p) / alpha) }
}

/** σ of a lognormal from its median and one quantile: ln(x_p ÷ median) ÷ z_p. */
export function lognormalSigma(median: number, value: number, p: number): number {
  return Math.log(value / median) / normalQuantile(p)
}
