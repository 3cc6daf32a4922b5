import { median } from './describe.ts'
import { normalCdf, normalQuantile } from './normal.ts'

/** Mann and Whitney's comparison of two samples. */
export interface MannWhitney {
  /** Pairs in which the first is larger, ties counted half. */
  readonly u: number
  /** Two-sided. */
  readonly p: number
  readonly method: 'exact' | 'normal'
  /** The smallest p that samples of these sizes can give; above α nothing can ever be shown. */
  readonly smallestP: number
}

/** Beyond this many values the exact distribution is replaced by the normal one. */
const exactValues = 100

/**
 * Mann–Whitney U. Exact up to 100 values, ties included, by the permutation distribution of the mid-rank sum; beyond,
 * normal with tie and continuity correction. Null when a sample is empty.
 */
export function mannWhitney(first: ArrayLike<number>, second: ArrayLike<number>): MannWhitney | null {
  const n = first.length
  const m = second.length
  if (n === 0 || m === 0) return null
  const doubled = doubledRanks([...Array.from(first), ...Array.from(second)])
  let sum = 0
  for (let i = 0; i < n; i++) sum += doubled[i] as number
  const u = sum / 2 - (n * (n + 1)) / 2
  const smallestP = Math.min(1, 2 / choose(n + m, n))
  if (n + m > exactValues) return { u, p: normalP(u, n, m, doubled), method: 'normal', smallestP }
  const counts = subsetSums(doubled, n)
  const centre = n * (n + m + 1)
  const distance = Math.abs(sum - centre)
  let extreme = 0
  let total = 0
  counts.forEach((count, value) => {
    total += count
    if (Math.abs(value - centre) >= distance) extreme += count
  })
  return { u, p: Math.min(1, extreme / total), method: 'exact', smallestP }
}

/** A shift between two samples with a distribution-free interval. */
export interface ShiftEstimate {
  readonly estimate: number
  readonly low: number | null
  readonly high: number | null
  /** The order statistic of the differences used at each end; null when the samples are too small for the confidence. */
  readonly k: number | null
  readonly coverage: number | null
}

/**
 * Hodges and Lehmann's estimate: the median of all differences first − second, and Moses' interval, the k-th smallest and
 * largest of them, k the largest with P(U ≤ k − 1) ≤ α/2 in the exact distribution without ties. Null when a sample is empty.
 */
export function hodgesLehmann(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  confidence = 0.95,
): ShiftEstimate | null {
  const n = first.length
  const m = second.length
  const differences: number[] = []
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++) differences.push((first[i] as number) - (second[j] as number))
  const estimate = median(differences)
  if (estimate === null) return null
  differences.sort((a, b) => a - b)
  const tail = (1 - confidence) / 2
  const { k, below } = n + m > exactValues ? normalCount(n, m, tail) : exactCount(n, m, tail)
  if (k === 0) return { estimate, low: null, high: null, k: null, coverage: null }
  return {
    estimate,
    low: differences[k - 1] as number,
    high: differences[differences.length - k] as number,
    k,
    coverage: 1 - 2 * below,
  }
}

/**
 * P(U = 0 … n·m) without ties, by Mann and Whitney's recursion on the largest value, which belongs to the first sample
 * with probability n ÷ (n + m) and then beats all m: P_{n,m}(u) = (n·P_{n−1,m}(u − m) + m·P_{n,m−1}(u)) ÷ (n + m).
 */
export function uDistribution(n: number, m: number): Float64Array {
  let fewer: Float64Array[] = Array.from({ length: m + 1 }, () => new Float64Array(1).fill(1))
  for (let i = 1; i <= n; i++) {
    const rows: Float64Array[] = [new Float64Array(1).fill(1)]
    for (let j = 1; j <= m; j++) {
      const row = new Float64Array(i * j + 1)
      const without = fewer[j] as Float64Array
      const beside = rows[j - 1] as Float64Array
      for (let u = 0; u <= i * j; u++) {
        const won = u >= j ? (without[u - j] ?? 0) : 0
        row[u] = (i * won + j * (beside[u] ?? 0)) / (i + j)
      }
      rows.push(row)
    }
    fewer = rows
  }
  return fewer[m] as Float64Array
}

/** The largest k with P(U ≤ k − 1) ≤ tail, and that probability. */
function exactCount(n: number, m: number, tail: number): { readonly k: number; readonly below: number } {
  const distribution = uDistribution(n, m)
  let below = 0
  let k = 0
  for (; k < distribution.length; k++) {
    const next = below + (distribution[k] as number)
    if (next > tail * (1 + 1e-12)) break
    below = next
  }
  return { k, below }
}

function normalCount(n: number, m: number, tail: number): { readonly k: number; readonly below: number } {
  const spread = Math.sqrt((n * m * (n + m + 1)) / 12)
  const k = Math.max(0, Math.floor((n * m) / 2 + 0.5 + normalQuantile(tail) * spread))
  return { k, below: normalCdf((k - 0.5 - (n * m) / 2) / spread) }
}

/** Twice the mid-ranks: whole numbers, in the order of the values. */
function doubledRanks(values: readonly number[]): Int32Array {
  const order = values.map((_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number))
  const ranks = new Int32Array(values.length)
  for (let start = 0; start < order.length;) {
    let end = start
    while (end + 1 < order.length && values[order[end + 1] as number] === values[order[start] as number])
      end++
    for (let i = start; i <= end; i++) ranks[order[i] as number] = start + end + 2
    start = end + 1
  }
  return ranks
}

/** How many subsets of `size` have each sum. */
function subsetSums(values: Int32Array, size: number): Float64Array {
  const total = values.reduce((sum, value) => sum + value, 0)
  const rows = Array.from({ length: size + 1 }, () => new Float64Array(total + 1))
  ;(rows[0] as Float64Array)[0] = 1
  let reached = 0
  values.forEach((value, index) => {
    reached += value
    for (let k = Math.min(size, index + 1); k >= 1; k--) {
      const to = rows[k] as Float64Array
      const from = rows[k - 1] as Float64Array
      for (let sum = reached; sum >= value; sum--)
        to[sum] = (to[sum] as number) + (from[sum - value] as number)
    }
  })
  return rows[size] as Float64Array
}

function normalP(u: number, n: number, m: number, doubled: Int32Array): number {
  const total = n + m
  const counts = new Map<number, number>()
  for (const rank of doubled) counts.set(rank, (counts.get(rank) ?? 0) + 1)
  let ties = 0
  for (const count of counts.values()) ties += count ** 3 - count
  const spread = Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))))
  if (spread === 0) return 1
  const distance = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5)
  return Math.min(1, 2 * normalCdf(-distance / spread))
}

/** n over k as a double. */
export function choose(n: number, k: number): number {
  let product = 1
  for (let i = 1; i <= Math.min(k, n - k); i++) product = (product * (n - Math.min(k, n - k) + i)) / i
  return Math.round(product) <= Number.MAX_SAFE_INTEGER ? Math.round(product) : product
}
