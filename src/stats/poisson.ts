import { gammaCdf, gammaTail } from './gamma.ts'

/** P(N ≤ k) of a Poisson count: Q(k + 1, mean). */
export function poissonCdf(k: number, mean: number): number {
  if (k < 0) return 0
  return mean === 0 ? 1 : gammaTail(Math.floor(k) + 1, mean)
}

/** The smallest k with P(N ≤ k) ≥ q, 0 ≤ q < 1. */
export function poissonQuantile(q: number, mean: number): number {
  const enough = (k: number): boolean =>
    q <= 0.5 || k < mean ? poissonCdf(k, mean) >= q : gammaCdf(k + 1, mean) <= 1 - q
  let low = -1
  let high = Math.ceil(mean)
  for (let step = 1; !enough(high); step *= 2) {
    low = high
    high += step
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}
