import { kishEffectiveSize, mean } from './describe.ts'
import { normalQuantile } from './normal.ts'

/** A ratio of sums Σy ÷ Σx over clusters (tokens of requests): its sample size is the clusters. */
export interface RatioEstimate {
  readonly ratio: number
  /** Delta method: √(Σ(y − Rx)² ÷ (n − 1) ÷ n) ÷ x̄; null below two clusters. */
  readonly se: number | null
  readonly n: number
  /** Kish's effective number of clusters, weights x. */
  readonly nEff: number
}

/** The ratio of sums of paired values (gap time and gaps of each request); null where Σx is 0. */
export function ratioOfSums(ys: ArrayLike<number>, xs: ArrayLike<number>): RatioEstimate | null {
  const n = Math.min(ys.length, xs.length)
  const centreX = mean(xs)
  const nEff = kishEffectiveSize(xs)
  const centreY = mean(ys)
  if (centreX === null || centreY === null || centreX === 0 || nEff === null) return null
  const ratio = centreY / centreX
  let squares = 0
  for (let i = 0; i < n; i++) squares += ((ys[i] as number) - ratio * (xs[i] as number)) ** 2
  const se = n < 2 ? null : Math.sqrt(squares / (n - 1) / n) / Math.abs(centreX)
  return { ratio, se, n, nEff }
}

/** A relative change with its interval. */
export interface RelativeChange {
  /** Second ÷ first. */
  readonly ratio: number
  readonly low: number
  readonly high: number
}

/** Second ÷ first of two positive means, interval on the log scale by the delta method; null where a mean is not positive. */
export function ratioOfMeans(
  first: { readonly mean: number; readonly se: number },
  second: { readonly mean: number; readonly se: number },
  confidence = 0.95,
): RelativeChange | null {
  if (!(first.mean > 0 && second.mean > 0)) return null
  const ratio = second.mean / first.mean
  const half =
    normalQuantile(1 - (1 - confidence) / 2) * Math.hypot(first.se / first.mean, second.se / second.mean)
  return { ratio, low: ratio * Math.exp(-half), high: ratio * Math.exp(half) }
}
