import { nearestRank, type Percentile } from '../../stats/percentile.ts'

const mantissaBits = 7
const shift = 20 - mantissaBits
/** 2⁻¹⁰ ms to 2³⁰ ms (12 days). */
const lowest = (1023 - 10) << mantissaBits
const counters = 40 << mantissaBits

/**
 * Counts of times by the leading bits of the double that holds them: exponent and seven bits of mantissa. A value read back
 * is the middle of its bucket, within 0.4 %. One store and one add a value, the memory constant.
 */
export class LatencySketch {
  count = 0
  private sum = 0
  private largest = 0
  private readonly counts = new Int32Array(counters)
  private readonly value = new Float64Array(1)
  private readonly words = new Int32Array(this.value.buffer)

  record(ms: number): void {
    this.value[0] = ms
    let index = ((this.words[1] as number) >> shift) - lowest
    if (index < 0) index = 0
    else if (index >= counters) index = counters - 1
    this.counts[index] = (this.counts[index] as number) + 1
    this.count += 1
    this.sum += ms
    if (ms > this.largest) this.largest = ms
  }

  mean(): number | null {
    return this.count === 0 ? null : this.sum / this.count
  }

  max(): number | null {
    return this.count === 0 ? null : this.largest
  }

  /** Nearest rank; null without values. */
  percentile(p: Percentile): number | null {
    if (this.count === 0) return null
    const rank = nearestRank(this.count, p)
    if (rank === this.count) return this.largest
    let seen = 0
    for (let index = 0; index < counters; index++) {
      seen += this.counts[index] as number
      if (seen >= rank) return Math.min(this.largest, this.middle(index))
    }
    return this.largest
  }

  private middle(index: number): number {
    this.words[0] = 0
    this.words[1] = ((index + lowest) << shift) | (1 << (shift - 1))
    return this.value[0] as number
  }
}
