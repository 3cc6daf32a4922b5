import type { Random } from '../base/random.ts'
import { mean } from './describe.ts'
import { percentile, sortAscending, type Percentile } from './percentile.ts'
import { choose } from './ranks.ts'

/** A p value by rearranging the data, exact or drawn. */
export interface ResampledP {
  readonly p: number
  /** Arrangements looked at. */
  readonly arrangements: number
  readonly exact: boolean
  /** The smallest p that this many values can give. */
  readonly smallestP: number
}

/** Up to this many arrangements all are looked at. */
const allArrangements = 1 << 18

/** The smallest two-sided p that so many pairs can give: all signs alike, or all turned. */
export function smallestSignFlipP(pairs: number): number {
  return Math.min(1, 2 ** (1 - pairs))
}

/** The smallest two-sided p that two samples of these sizes can give: the split that was seen, and its mirror where there is one. */
export function smallestPermutationP(n: number, m: number): number {
  return Math.min(1, (n === m ? 2 : 1) / choose(n + m, n))
}

/**
 * Two-sided sign-flip test of paired differences: the share of sign patterns whose |Σ| is at least the observed. All 2ⁿ
 * up to n = 18, beyond that `draws` from `random`. Null without differences.
 */
export function signFlip(differences: readonly number[], random: Random, draws = 100_000): ResampledP | null {
  const n = differences.length
  if (n === 0) return null
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0))
  const bar = observed * (1 - 1e-12)
  const smallestP = smallestSignFlipP(n)
  let extreme = 0
  if (2 ** n <= allArrangements) {
    const count = 2 ** n
    for (let pattern = 0; pattern < count; pattern++) {
      let sum = 0
      for (let i = 0; i < n; i++)
        sum += ((pattern >> i) & 1) === 1 ? (differences[i] as number) : -(differences[i] as number)
      if (Math.abs(sum) >= bar) extreme++
    }
    return { p: extreme / count, arrangements: count, exact: true, smallestP }
  }
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    for (const value of differences) sum += random.next() < 0.5 ? value : -value
    if (Math.abs(sum) >= bar) extreme++
  }
  // The data themselves are one of the arrangements: p is never 0 (Phipson and Smyth 2010).
  return { p: (extreme + 1) / (draws + 1), arrangements: draws, exact: false, smallestP }
}

/**
 * Two-sided permutation test of two means: the share of splits whose |difference| is at least the observed. All splits up
 * to 262,144, beyond that `draws` from `random`. Null when a sample is empty.
 */
export function permutationTest(
  first: readonly number[],
  second: readonly number[],
  random: Random,
  draws = 100_000,
): ResampledP | null {
  const n = first.length
  const m = second.length
  if (n === 0 || m === 0) return null
  const pool = [...first, ...second]
  const total = pool.reduce((sum, value) => sum + value, 0)
  // |mean₁ − mean₂| grows with |Σ₁ − n·mean|: one sum decides.
  const distance = (sum: number): number => Math.abs(sum - (n * total) / (n + m))
  const observed = distance(first.reduce((sum, value) => sum + value, 0))
  const largest = pool.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-300)
  const bar = observed - 1e-12 * largest * (n + m)
  const splits = choose(n + m, n)
  const smallestP = smallestPermutationP(n, m)
  let extreme = 0
  if (splits <= allArrangements) {
    const visit = (start: number, left: number, sum: number): void => {
      if (left === 0) {
        if (distance(sum) >= bar) extreme++
        return
      }
      for (let i = start; i <= pool.length - left; i++) visit(i + 1, left - 1, sum + (pool[i] as number))
    }
    visit(0, n, 0)
    return { p: extreme / splits, arrangements: splits, exact: true, smallestP }
  }
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    // The first n of a partial Fisher–Yates shuffle.
    for (let i = 0; i < n; i++) {
      const j = i + Math.floor(random.next() * (pool.length - i))
      const kept = pool[i] as number
      pool[i] = pool[j] as number
      pool[j] = kept
      sum += pool[i] as number
    }
    if (distance(sum) >= bar) extreme++
  }
  return { p: (extreme + 1) / (draws + 1), arrangements: draws, exact: false, smallestP }
}

/**
 * Standard error of the mean under the circular block bootstrap (Politis and Romano 1992), in closed form: the standard
 * deviation of all n circular block means ÷ √(n ÷ block). Null for no values.
 */
export function blockBootstrapSe(values: ArrayLike<number>, block: number): number | null {
  const n = values.length
  const centre = mean(values)
  if (centre === null || block < 1) return null
  let squares = 0
  for (let start = 0; start < n; start++) {
    let sum = 0
    for (let i = 0; i < block; i++) sum += values[(start + i) % n] as number
    squares += (sum / block - centre) ** 2
  }
  return Math.sqrt((squares / n) * (block / n))
}

/** A percentile resampled in blocks. */
export interface BootstrapInterval {
  readonly estimate: number
  readonly low: number
  readonly high: number
  /** Mean of the resampled percentiles. */
  readonly mean: number
}

/**
 * Circular block bootstrap of a nearest-rank percentile, percentile interval. It covers too little of a tail in an
 * autocorrelated run, so it stands only beside `effectiveInterval`. Block starts are floor(u·n ÷ 2³²) of one draw each.
 */
export function blockBootstrap(
  values: ArrayLike<number>,
  p: Percentile,
  options: {
    readonly block: number
    readonly resamples: number
    readonly confidence?: readonly [Percentile, Percentile]
  },
  random: Random,
): BootstrapInterval | null {
  const n = values.length
  const estimate = percentile(sortAscending(values), p)
  if (estimate === null) return null
  const [lowLevel, highLevel] = options.confidence ?? ['2.5', '97.5']
  const found = new Float64Array(options.resamples)
  const sample = new Float64Array(n)
  for (let resample = 0; resample < options.resamples; resample++) {
    for (let filled = 0; filled < n;) {
      const start = Number((BigInt(random.nextUint32()) * BigInt(n)) >> 32n)
      for (let i = 0; i < options.block && filled < n; i++)
        sample[filled++] = values[(start + i) % n] as number
    }
    found[resample] = percentile(sample.slice().sort(), p) as number
  }
  const centre = mean(found) as number
  found.sort()
  return {
    estimate,
    low: percentile(found, lowLevel) as number,
    high: percentile(found, highLevel) as number,
    mean: centre,
  }
}
