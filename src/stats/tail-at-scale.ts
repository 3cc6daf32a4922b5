import { binomialTail } from './binomial.ts'
import { nearestRank, percentileShare, type Percentile } from './percentile.ts'
import { subtract, toNumber } from './rational.ts'

/** Chance that at least one of `calls` independent calls is slow, each with chance `q`: 1 − (1 − q)^k. */
export function anySlow(q: number, calls: number): number {
  return -Math.expm1(calls * Math.log1p(-q))
}

/** What may be said without independence: any value from q to min(1, k·q). */
export function anySlowBounds(q: number, calls: number): { readonly low: number; readonly high: number } {
  return { low: calls === 0 ? 0 : q, high: Math.min(1, calls * q) }
}

/** The same when calls of one task go wrong together: beta-binomial with intra-task correlation `icc` in [0, 1). */
export function anySlowCorrelated(q: number, calls: number, icc: number): number {
  if (icc === 0) return anySlow(q, calls)
  if (icc >= 1) return calls === 0 ? 0 : q
  const size = 1 / icc - 1
  let logNone = 0
  for (let i = 0; i < calls; i++) logNone += Math.log1p((-q * size) / (size + i))
  return -Math.expm1(logNone)
}

/** The chance q that a call may have so that a task of `calls` has at most `taskQ`: 1 − (1 − Q)^{1/k}. */
export function neededPerCall(taskQ: number, calls: number): number {
  return -Math.expm1(Math.log1p(-taskQ) / calls)
}

/** Relative standard error of the count beyond a percentile: √(p ÷ (n(1 − p))). Null at p = 1 or without values. */
export function tailCountError(p: Percentile, n: number): number | null {
  const share = percentileShare(p)
  const rest = toNumber(subtract({ num: 1n, den: 1n }, share))
  return rest === 0 || n === 0 ? null : Math.sqrt(toNumber(share) / (n * rest))
}

/** Asymptotic relative standard error of the percentile's value: √(p(1 − p) ÷ n) ÷ (f(x)·x), f the density at x. */
export function quantileValueError(p: number, n: number, density: number, value: number): number {
  return Math.sqrt((p * (1 - p)) / n) / (density * value)
}

/** How a nearest-rank percentile of `n` exponential values scatters around the truth. */
export interface PercentileScatter {
  readonly rank: number
  readonly mean: number
  readonly sd: number
  readonly cv: number
  /** Chance that the estimate is below the true percentile. */
  readonly underestimates: number
}

/**
 * Exact mean and deviation of the order statistic of exponential values (Rényi 1953): E = Σ 1/i, Var = Σ 1/i² for
 * i = n − k + 1 … n, times the mean. The chance to lie under the truth holds for every distribution.
 */
export function exponentialPercentileScatter(n: number, p: Percentile, mean = 1): PercentileScatter | null {
  if (n < 1) return null
  const rank = nearestRank(n, p)
  const { sum, squares } = reciprocalSums(n - rank, n)
  const sd = Math.sqrt(squares)
  const share = percentileShare(p)
  const complement = toNumber(subtract({ num: 1n, den: 1n }, share))
  return {
    rank,
    mean: mean * sum,
    sd: mean * sd,
    cv: sd / sum,
    underestimates: binomialTail(rank - 1, n, toNumber(share), complement),
  }
}

/** How many terms are added one by one; behind them the sums are taken from their expansions, whose next terms are below 1e-17. */
const addedTerms = 1000

/** Σ 1/i and Σ 1/i² over `from` < i ≤ `to`, in the same time however many they are (Euler and Maclaurin). */
function reciprocalSums(from: number, to: number): { readonly sum: number; readonly squares: number } {
  let sum = 0
  let squares = 0
  const start = Math.min(to, from + addedTerms)
  for (let i = start; i > from; i--) {
    sum += 1 / i
    squares += 1 / (i * i)
  }
  const count = to - start
  if (count === 0) return { sum, squares }
  // 1/start − 1/to and its powers as products, so that nothing is lost where the two are close.
  const gap = count / (start * to)
  const over = (power: number): number => start ** -power - to ** -power
  return {
    sum: sum + Math.log1p(count / start) - gap / 2 + over(2) / 12 - over(4) / 120,
    squares: squares + gap - over(2) / 2 + over(3) / 6 - over(5) / 30,
  }
}
