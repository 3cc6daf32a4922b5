/** Sends of one run: how many, from the first to the last, ms on a clock that all of the runs share. */
export interface SendSpan {
  readonly n: number
  readonly firstMs: number
  readonly lastMs: number
}

export interface MergedRate {
  /** Requests per second of each, (n − 1) ÷ (last − first): n sends have n − 1 gaps. */
  readonly each: readonly (number | null)[]
  /** Of all together while any of them sent: Σ gaps ÷ the time covered. */
  readonly merged: number | null
  /** What dividing by the whole span would give. */
  readonly wholeSpan: number | null
  /** Time between runs in which nothing was sent, ms. */
  readonly idleMs: number
}

/**
 * The rate of several runs read together. Time that no run covers does not count: two runs of 10/s an hour apart are 10/s. Runs that
 * overlap add up, since their covered time is counted once.
 */
export function mergedRate(spans: readonly SendSpan[]): MergedRate {
  const each = spans.map(({ n, firstMs, lastMs }) =>
    n > 1 && lastMs > firstMs ? ((n - 1) * 1000) / (lastMs - firstMs) : null,
  )
  const sorted = [...spans].sort((a, b) => a.firstMs - b.firstMs)
  let coveredMs = 0
  let idleMs = 0
  let endMs: number | null = null
  for (const { firstMs, lastMs } of sorted) {
    if (endMs === null || firstMs > endMs) {
      idleMs += endMs === null ? 0 : firstMs - endMs
      coveredMs += lastMs - firstMs
      endMs = lastMs
    } else if (lastMs > endMs) {
      coveredMs += lastMs - endMs
      endMs = lastMs
    }
  }
  const gaps = spans.reduce((sum, { n }) => sum + Math.max(0, n - 1), 0)
  const total = spans.reduce((sum, { n }) => sum + n, 0)
  const first = sorted[0]
  const wholeMs = first === undefined || endMs === null ? 0 : endMs - first.firstMs
  return {
    each,
    merged: coveredMs > 0 ? (gaps * 1000) / coveredMs : null,
    wholeSpan: wholeMs > 0 ? (total * 1000) / wholeMs : null,
    idleMs,
  }
}

export function isFinite(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}
