import type { ExposedMetric } from '../../../measure/wire/prometheus-exposition.ts'

/** A classic histogram as an engine keeps it: finite upper bounds, rising, and what fell under each. */
export class ExposedHistogram {
  readonly bounds: readonly number[]
  readonly bucketCounts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.bucketCounts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** `times` observations of one value. */
  observe(value: number, times = 1): void {
    let low = 0
    let high = this.bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (value <= (this.bounds[middle] as number)) high = middle
      else low = middle + 1
    }
    this.bucketCounts[low] = (this.bucketCounts[low] as number) + times
    this.sum += value * times
  }
}

/** The page's histogram of some series, which have the same bounds. */
export function exposedHistogram(
  name: string,
  help: string,
  series: readonly { readonly labels: Readonly<Record<string, string>>; readonly of: ExposedHistogram }[],
): ExposedMetric {
  return {
    kind: 'histogram',
    name,
    help,
    bounds: series[0]?.of.bounds ?? [],
    series: series.map(({ labels, of }) => ({ labels, bucketCounts: of.bucketCounts, sum: of.sum })),
  }
}
