import { PlimsollError } from '../base/errors.ts'
import { compare, divide, floor, parseRational, rational, toNumber, type Rational } from './rational.ts'

/**
 * The level of a percentile. Text is in percent as people write it: `99`, `99.9`, `p99`, `99.9%`. A `Rational` is the
 * share in [0, 1], so that `p99` is 99/100.
 */
export type Percentile = string | Rational

/**
 * Which definition of a sample percentile: Hyndman and Fan, "Sample quantiles in statistical packages", The American
 * Statistician 50 (1996), types 1 to 9; or `floor`, the 0-based element floor(n·p) that some load generators take.
 */
export type PercentileType = '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | 'floor'

const zero: Rational = { num: 0n, den: 1n }
const one: Rational = { num: 1n, den: 1n }
const hundred: Rational = { num: 100n, den: 1n }
const half: Rational = { num: 1n, den: 2n }

/** position = (n + spread)·p + shift for the interpolating types, Hyndman and Fan's a = b families. */
const positions: Readonly<
  Record<'4' | '5' | '6' | '7' | '8' | '9', readonly [spread: Rational, shift: Rational]>
> = {
  4: [zero, zero],
  5: [zero, half],
  6: [one, zero],
  7: [rational(-1n), one],
  8: [rational(1n, 3n), rational(1n, 3n)],
  9: [rational(1n, 4n), rational(3n, 8n)],
}

/** The share in [0, 1] of a percentile. Throws PLIM_NUMBER outside it. */
export function percentileShare(p: Percentile): Rational {
  const share =
    typeof p === 'string' ? divide(parseRational(p.replace(/^p/i, '').replace(/%$/, '')), hundred) : p
  if (compare(share, zero) < 0 || compare(share, one) > 0) {
    throw new PlimsollError('PLIM_NUMBER', 'a percentile lies between 0 and 100', {
      expected: 'a level such as 50, 99 or 99.9',
      received: typeof p === 'string' ? p : `${p.num}/${p.den}`,
    })
  }
  return share
}

/**
 * The 1-based rank of the nearest-rank percentile (type 1) of `n` values: max(1, ceil(p·n)), in integers, so that p99.9
 * of 1,000 is 999 and not the maximum. `n` at least 1.
 */
export function nearestRank(n: number, p: Percentile): number {
  const { num, den } = percentileShare(p)
  const rank = Number((num * BigInt(n) + den - 1n) / den)
  return Math.max(1, rank)
}

/**
 * The percentile of ascending values by exact rank; null for no values. The default is type 1, which always is one of the
 * values. Infinite values are allowed and stay infinite.
 */
export function percentile(
  sortedAscending: ArrayLike<number>,
  p: Percentile,
  type: PercentileType = '1',
): number | null {
  const n = sortedAscending.length
  if (n === 0) return null
  const share = percentileShare(p)
  switch (type) {
    case '1':
      return valueAt(sortedAscending, nearestRank(n, share))
    case '2': {
      const rank = nearestRank(n, share)
      const low = valueAt(sortedAscending, rank)
      const tie = (share.num * BigInt(n)) % share.den === 0n && rank < n && share.num > 0n
      return tie ? interpolate(low, valueAt(sortedAscending, rank + 1), 0.5) : low
    }
    case '3': {
      // Nearest order statistic to n·p, the even one of two equally near.
      const doubled = rational(2n * share.num * BigInt(n), share.den)
      const below = floor(rational(share.num * BigInt(n), share.den))
      const side = compare(doubled, rational(2n * below + 1n))
      const rank = side > 0 || (side === 0 && below % 2n === 1n) ? below + 1n : below
      return valueAt(sortedAscending, clampRank(Number(rank), n))
    }
    case 'floor':
      return valueAt(sortedAscending, clampRank(Number((share.num * BigInt(n)) / share.den) + 1, n))
    default: {
      const [spread, shift] = positions[type]
      const position = rational(
        (BigInt(n) * spread.den + spread.num) * share.num * shift.den + shift.num * spread.den * share.den,
        spread.den * share.den * shift.den,
      )
      const below = floor(position)
      const fraction = toNumber(rational(position.num - below * position.den, position.den))
      const low = valueAt(sortedAscending, clampRank(Number(below), n))
      return interpolate(low, valueAt(sortedAscending, clampRank(Number(below) + 1, n)), fraction)
    }
  }
}

/** The key of a percentile in JSON documents and rows: `p99`, `p99_9`. */
export function percentileKey(p: string): string {
  return `p${p.trim().replace(/^p/i, '').replace(/%$/, '').replace('.', '_')}`
}

/** A sorted copy, ascending, of numbers without NaN; infinities are kept. */
export function sortAscending(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).sort()
}

function valueAt(sorted: ArrayLike<number>, rank: number): number {
  return sorted[rank - 1] as number
}

function clampRank(rank: number, n: number): number {
  return Math.min(n, Math.max(1, rank))
}

function interpolate(low: number, high: number, fraction: number): number {
  if (fraction === 0 || low === high) return low
  return low + fraction * (high - low)
}
