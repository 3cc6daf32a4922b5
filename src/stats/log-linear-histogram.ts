import { PlimsollError } from '../base/errors.ts'
import { nearestRank, type Percentile } from './percentile.ts'

/** The layout that makes a log-linear histogram: whole values from 1 to `highest`, `digits` significant decimal digits. */
export interface LogLinearLayout {
  readonly highest: number
  readonly digits: 1 | 2 | 3 | 4 | 5
  /** Linear steps in each octave pair: the smallest power of two ≥ 2·10^digits. */
  readonly subBuckets: number
  readonly buckets: number
  /** Counters in all: (buckets + 1)·subBuckets ÷ 2. */
  readonly counters: number
}

/** The layout of Gil Tene's HdrHistogram with lowest discernible value 1. Throws PLIM_NUMBER where it cannot be made. */
export function logLinearLayout(highest: number, digits: 1 | 2 | 3 | 4 | 5): LogLinearLayout {
  if (!(Number.isSafeInteger(highest) && highest >= 2)) {
    throw new PlimsollError('PLIM_NUMBER', 'the highest value of a histogram is a whole number above 1', {
      received: String(highest),
    })
  }
  const subBuckets = 2 ** Math.ceil(Math.log2(2 * 10 ** digits))
  let buckets = 1
  for (let reach = subBuckets; reach <= highest; reach *= 2) buckets++
  return { highest, digits, subBuckets, buckets, counters: ((buckets + 1) * subBuckets) / 2 }
}

/** The largest value that is counted together with `value`. */
export function highestEquivalent(layout: LogLinearLayout, value: number): number {
  const unit = unitOf(layout, value)
  return (Math.floor(value / unit) + 1) * unit - 1
}

/**
 * Counts of whole values (µs, say) with a bounded relative error, mergeable without loss. Ranks are exact (type 1); a
 * value read back is the highest equivalent one, at most one unit of its bucket above the true one.
 */
export class LogLinearHistogram {
  readonly layout: LogLinearLayout
  private readonly counts: Float64Array
  private total = 0
  private largest = 0

  constructor(highest: number, digits: 1 | 2 | 3 | 4 | 5 = 3) {
    this.layout = logLinearLayout(highest, digits)
    this.counts = new Float64Array(this.layout.counters)
  }

  get count(): number {
    return this.total
  }

  /** The largest value recorded, exactly; null without any. */
  get max(): number | null {
    return this.total === 0 ? null : this.largest
  }

  /** Counts a value, rounded to a whole number. False where it is negative, not finite or above the highest: not counted. */
  record(value: number, times = 1): boolean {
    const whole = Math.round(value)
    if (!(whole >= 0 && whole <= this.layout.highest)) return false
    const index = this.indexOf(whole)
    this.counts[index] = (this.counts[index] as number) + times
    this.total += times
    if (whole > this.largest) this.largest = whole
    return true
  }

  /** Adds another histogram of the same layout. */
  merge(other: LogLinearHistogram): void {
    if (other.layout.highest !== this.layout.highest || other.layout.digits !== this.layout.digits) {
      throw new PlimsollError('PLIM_NUMBER', 'only histograms of one layout can be added', {
        expected: `${this.layout.digits} digits up to ${this.layout.highest}`,
        received: `${other.layout.digits} digits up to ${other.layout.highest}`,
      })
    }
    for (let i = 0; i < this.counts.length; i++)
      this.counts[i] = (this.counts[i] as number) + (other.counts[i] as number)
    this.total += other.total
    this.largest = Math.max(this.largest, other.largest)
  }

  /** Nearest-rank percentile, the highest equivalent value; null without values. */
  percentile(p: Percentile): number | null {
    if (this.total === 0) return null
    const rank = nearestRank(this.total, p)
    let seen = 0
    for (let i = 0; i < this.counts.length; i++) {
      seen += this.counts[i] as number
      if (seen >= rank) return Math.min(this.largest, highestEquivalent(this.layout, this.valueAt(i)))
    }
    return this.largest
  }

  private indexOf(value: number): number {
    const half = this.layout.subBuckets / 2
    const unit = unitOf(this.layout, value)
    return Math.log2(unit) * half + Math.floor(value / unit)
  }

  /** The lowest value of a counter. */
  private valueAt(index: number): number {
    const half = this.layout.subBuckets / 2
    if (index < this.layout.subBuckets) return index
    const bucket = Math.floor(index / half) - 1
    return (index - bucket * half) * 2 ** bucket
  }
}

/** Width of the counter that holds a value. */
function unitOf(layout: LogLinearLayout, value: number): number {
  let unit = 1
  // 2^k·subBuckets > value: doubles hold the powers exactly, so a comparison is safe where a logarithm is not.
  while (unit * layout.subBuckets <= value) unit *= 2
  return unit
}
