import { PlimsollError } from '../base/errors.ts'
import { binomialCdf, binomialTail, clopperPearsonUpper } from './binomial.ts'
import { percentileShare, type Percentile } from './percentile.ts'
import {
  ceil,
  multiply,
  rational,
  subtract,
  toNumber,
  toRational,
  type Rational,
  type RationalInput,
} from './rational.ts'

/** 1-based ranks; null: no order statistic bounds the percentile on that side, whatever the largest value is. */
export interface OrderStatisticInterval {
  readonly lowRank: number | null
  readonly highRank: number | null
  /** The true probability that the interval covers, at least the confidence asked for. */
  readonly coverage: number
}

const one: Rational = { num: 1n, den: 1n }
/** An exact tie is looked for among this many trials; a wider one cannot fall on a decimal confidence. */
const exactTrials = 2000

/**
 * The distribution-free interval [x(l), x(u)] of a percentile from `n` independent values: l is the largest rank with
 * P(B(n, p) ≤ l − 1) ≤ α/2 and u the smallest with P(B ≤ u − 1) ≥ 1 − α/2 (David and Nagaraja, "Order Statistics", §7.1).
 * `confidence` is 0.95, `0.95` or `95%`.
 */
export function orderStatisticInterval(
  n: number,
  p: Percentile,
  confidence: RationalInput,
): OrderStatisticInterval {
  const share = percentileShare(p)
  const alpha = alphaOf(confidence)
  const tail = multiply(alpha, { num: 1n, den: 2n })
  const lowRank = lowestRank(n, share, tail)
  const highRank = highestRank(n, share, tail)
  const level = toNumber(share)
  const complement = toNumber(subtract(one, share))
  const below = lowRank === null ? 0 : binomialCdf(lowRank - 1, n, level, complement)
  const above = highRank === null ? 0 : binomialTail(highRank - 1, n, level, complement)
  return { lowRank, highRank, coverage: 1 - below - above }
}

/** The rank of the one-sided upper bound: the smallest u with P(B ≥ u) ≤ α; null when the sample has none (pⁿ > α). */
export function oneSidedUpperRank(n: number, p: Percentile, confidence: RationalInput): number | null {
  return highestRank(n, percentileShare(p), alphaOf(confidence))
}

/** The rank of the one-sided lower bound: the largest l with P(B ≤ l − 1) ≤ α; null when there is none. */
export function oneSidedLowerRank(n: number, p: Percentile, confidence: RationalInput): number | null {
  return lowestRank(n, percentileShare(p), alphaOf(confidence))
}

/** How many independent values a percentile needs; multiply by the autocorrelation time of a real run. */
export interface SamplesNeeded {
  /** 10 values beyond the percentile: enough to show it at all. */
  readonly tenBeyond: number
  /** 100 values beyond it: its tail count is known to about 10 %. */
  readonly hundredBeyond: number
  /** The relative standard error of the tail count is exactly 10 %: 100·p ÷ (1 − p). */
  readonly tenPercent: number
  /** A one-sided upper bound exists: pⁿ ≤ α. */
  readonly oneSidedUpper: number
  /** A two-sided interval exists: pⁿ ≤ α/2 and (1 − p)ⁿ ≤ α/2. */
  readonly twoSided: number
}

/** The sample-size table at one level and confidence; null entries do not occur, p = 0 and p = 100 are refused. */
export function samplesNeeded(p: Percentile, confidence: RationalInput): SamplesNeeded {
  const share = percentileShare(p)
  const rest = subtract(one, share)
  if (share.num === 0n || rest.num === 0n) {
    throw new PlimsollError('PLIM_NUMBER', 'the minimum and maximum have no sample size that proves them', {
      expected: 'a percentile above 0 and below 100',
    })
  }
  const alpha = alphaOf(confidence)
  const tail = multiply(alpha, { num: 1n, den: 2n })
  const wholeOver = (count: bigint): number => Number(ceil(rational(count * rest.den, rest.num)))
  return {
    tenBeyond: wholeOver(10n),
    hundredBeyond: wholeOver(100n),
    tenPercent: Number(ceil(rational(100n * share.num * rest.den, share.den * rest.num))),
    oneSidedUpper: smallestPower(share, alpha),
    twoSided: Math.max(smallestPower(share, tail), smallestPower(rest, tail)),
  }
}

/** Whether `over` of `n` values above a limit prove that the percentile is within it. */
export interface SloProof {
  /** P(B(n, 1 − p) ≤ over): how likely so few would be over the limit if the percentile sat exactly on it. */
  readonly pValue: number
  readonly proven: boolean
  /** The one-sided upper bound (Clopper–Pearson) of the share over the limit. */
  readonly overShareUpper: number
}

/** "P`p` ≤ limit", proven at `confidence` from independent values of which `over` lie above the limit; null without values. */
export function sloProof(
  n: number,
  over: number,
  p: Percentile,
  confidence: RationalInput = '0.95',
): SloProof | null {
  if (n === 0) return null
  const share = percentileShare(p)
  const alpha = alphaOf(confidence)
  const rest = subtract(one, share)
  return {
    pValue: binomialCdf(over, n, toNumber(rest), toNumber(share)),
    proven: cdfAtMost(over, n, rest, alpha),
    overShareUpper: clopperPearsonUpper(over, n, toNumber(alpha)),
  }
}

/**
 * The fewest values in all that let `over` of them lie beyond the percentile and still prove it, as MLPerf's LoadGen stops
 * early: the smallest n with P(B(n, 1 − p) ≤ over) ≤ 1 − confidence.
 */
export function earlyStoppingTotal(p: Percentile, confidence: RationalInput, over: number): number {
  const rest = subtract(one, percentileShare(p))
  const alpha = alphaOf(confidence)
  let high = over + 1
  while (!cdfAtMost(over, high, rest, alpha)) high *= 2
  let low = over
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (cdfAtMost(over, middle, rest, alpha)) high = middle
    else low = middle
  }
  return high
}

/** 1 − confidence, exactly. Throws PLIM_NUMBER unless it lies between 0 and 1. */
export function alphaOf(confidence: RationalInput): Rational {
  const alpha = subtract(one, toRational(confidence))
  if (alpha.num <= 0n || alpha.num >= alpha.den) {
    throw new PlimsollError('PLIM_NUMBER', 'a confidence lies between 0 and 1', {
      expected: 'a level such as 0.95 or 95%',
      received: String(typeof confidence === 'object' ? toNumber(confidence) : confidence),
    })
  }
  return alpha
}

function lowestRank(n: number, p: Rational, tail: Rational): number | null {
  // The largest l in 1…n with P(B ≤ l − 1) ≤ tail; the condition only ever turns false as l grows.
  let low = 0
  let high = n + 1
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (cdfAtMost(middle - 1, n, p, tail)) low = middle
    else high = middle
  }
  return low === 0 ? null : low
}

function highestRank(n: number, p: Rational, tail: Rational): number | null {
  // The smallest u in 1…n with P(B ≥ u) ≤ tail, that is P(n − B ≤ n − u) ≤ tail of the mirrored count.
  const mirrored = lowestRank(n, subtract(one, p), tail)
  return mirrored === null ? null : n + 1 - mirrored
}

/** P(B(n, p) ≤ k) ≤ bound, decided in integers where the floats are too close to tell. */
function cdfAtMost(k: number, n: number, p: Rational, bound: Rational): boolean {
  const probability = binomialCdf(k, n, toNumber(p), toNumber(subtract(one, p)))
  const limit = toNumber(bound)
  if (Math.abs(probability - limit) > 1e-9 * limit || n > exactTrials) return probability <= limit
  const success = p.num
  const failure = p.den - p.num
  let choose = 1n
  let sum = 0n
  for (let i = 0; i <= k; i++) {
    sum += choose * success ** BigInt(i) * failure ** BigInt(n - i)
    choose = (choose * BigInt(n - i)) / BigInt(i + 1)
  }
  return sum * bound.den <= bound.num * p.den ** BigInt(n)
}

/** The smallest n with baseⁿ ≤ bound, 0 < base < 1. */
function smallestPower(base: Rational, bound: Rational): number {
  const real = Math.log(toNumber(bound)) / Math.log1p(-toNumber(subtract(one, base)))
  const near = Math.round(real)
  if (Math.abs(real - near) > 1e-9 * real || near > exactTrials) return Math.max(1, Math.ceil(real))
  const holds = base.num ** BigInt(near) * bound.den <= bound.num * base.den ** BigInt(near)
  return Math.max(1, holds ? near : near + 1)
}
