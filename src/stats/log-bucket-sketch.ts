import { PlimsollError } from '../base/errors.ts'
import { nearestRank, type Percentile } from './percentile.ts'

/** Bucket key of a positive value at relative accuracy α: ⌈log_γ v⌉, γ = (1 + α) ÷ (1 − α) (Masson et al., VLDB 2019). */
export function logBucketKey(value: number, alpha: number): number {
  return Math.ceil(Math.log(value) / logGammaOf(alpha))
}

/** The value that stands for a bucket: 2γ^key ÷ (γ + 1), within α of every value in it. */
export function logBucketValue(key: number, alpha: number): number {
  const gamma = (1 + alpha) / (1 - alpha)
  return (2 * Math.exp(key * Math.log(gamma))) / (gamma + 1)
}

/** Buckets that cover values from `low` to `high`: ⌈ln(high ÷ low) ÷ ln γ⌉. */
export function logBucketCount(low: number, high: number, alpha: number): number {
  return Math.ceil(Math.log(high / low) / logGammaOf(alpha))
}

/**
 * A sketch with a relative error of at most α for any positive value, however wide the range; sums of sketches are exact.
 * Unlike the published DDSketch it reads back the nearest rank (type 1).
 */
export class LogBucketSketch {
  readonly alpha: number
  private readonly counts = new Map<number, number>()
  private zeros = 0
  private total = 0

  constructor(alpha = 0.01) {
    if (!(alpha > 0 && alpha < 1)) {
      throw new PlimsollError('PLIM_NUMBER', 'a relative accuracy lies between 0 and 1', {
        received: String(alpha),
      })
    }
    this.alpha = alpha
  }

  get count(): number {
    return this.total
  }

  /** Counts a value ≥ 0. False where it is negative or not finite: not counted. */
  record(value: number): boolean {
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) return false
    this.total++
    if (value === 0) {
      this.zeros++
      return true
    }
    const key = logBucketKey(value, this.alpha)
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    return true
  }

  /** Adds another sketch of the same accuracy. */
  merge(other: LogBucketSketch): void {
    if (other.alpha !== this.alpha) {
      throw new PlimsollError('PLIM_NUMBER', 'only sketches of one accuracy can be added', {
        expected: String(this.alpha),
        received: String(other.alpha),
      })
    }
    for (const [key, count] of other.counts) this.counts.set(key, (this.counts.get(key) ?? 0) + count)
    this.zeros += other.zeros
    this.total += other.total
  }

  /** Nearest-rank percentile, within α of the true value; null without values. */
  percentile(p: Percentile): number | null {
    if (this.total === 0) return null
    const rank = nearestRank(this.total, p)
    let seen = this.zeros
    if (seen >= rank) return 0
    const keys = [...this.counts.keys()].sort((a, b) => a - b)
    for (const key of keys) {
      seen += this.counts.get(key) as number
      if (seen >= rank) return logBucketValue(key, this.alpha)
    }
    return null
  }
}

function logGammaOf(alpha: number): number {
  return Math.log1p(alpha) - Math.log1p(-alpha)
}
