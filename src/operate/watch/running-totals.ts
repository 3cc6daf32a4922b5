import { counterIncrease, histogramIncrease } from '../../measure/wire/prometheus-counter.ts'
import { addHistograms, type HistogramValue } from '../../measure/wire/prometheus-histogram.ts'
import type { Scrape } from '../../measure/wire/prometheus-text.ts'

/*
 * What was observed since the watch began, as totals that only rise: increases between neighbouring scrapes added up, so that a restart
 * in the middle of a window loses only what the dead process did not tell.
 */

export interface Totals {
  readonly histograms: ReadonlyMap<string, HistogramValue>
  readonly counters: ReadonlyMap<string, number>
  readonly resets: number
}

export const noTotals: Totals = { histograms: new Map(), counters: new Map(), resets: 0 }

/** The totals after one more scrape. Series that are new in it are taken from here on: how old they are is not known. */
export function addedScrape(
  totals: Totals,
  before: Scrape,
  after: Scrape,
  names: { readonly histograms: readonly string[]; readonly counters: readonly string[] },
): Totals {
  const histograms = new Map(totals.histograms)
  const counters = new Map(totals.counters)
  let { resets } = totals
  for (const name of names.histograms) {
    const { increase, resets: seen } = histogramIncrease(before, after, name)
    resets += seen > 0 ? 1 : 0
    if (increase === null) continue
    const old = histograms.get(name)
    histograms.set(name, old === undefined ? increase : addHistograms([old, increase]))
  }
  for (const name of names.counters) {
    const { total } = counterIncrease(before, after, name)
    if (total !== null) counters.set(name, (counters.get(name) ?? 0) + total)
  }
  return { histograms, counters, resets }
}

/** What lies between two totals; null where the later one has nothing of that name. */
export function histogramBetween(from: Totals, to: Totals, name: string): HistogramValue | null {
  const later = to.histograms.get(name)
  if (later === undefined) return null
  const earlier = from.histograms.get(name)
  if (earlier === undefined) return later
  return {
    buckets: later.buckets.map((bucket) => ({
      ...bucket,
      count: bucket.count - (earlier.buckets.find(({ le }) => le === bucket.le)?.count ?? 0),
    })),
    sum: later.sum === null || earlier.sum === null ? null : later.sum - earlier.sum,
    count: later.count === null || earlier.count === null ? null : later.count - earlier.count,
  }
}

export function counterBetween(from: Totals, to: Totals, name: string): number | null {
  const later = to.counters.get(name)
  return later === undefined ? null : later - (from.counters.get(name) ?? 0)
}
