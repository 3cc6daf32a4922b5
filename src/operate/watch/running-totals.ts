import { counterIncrease, histogramIncrease, samplesOf } from '../../measure/wire/prometheus-counter.ts'
import { addHistograms, type HistogramValue } from '../../measure/wire/prometheus-histogram.ts'
import { seriesKey, type Scrape } from '../../measure/wire/prometheus-text.ts'
import { selects, type Matcher } from '../slo/label-matchers.ts'

/*
 * What was observed since the watch began, as totals that only rise: increases between neighbouring scrapes added up, so that a restart
 * in the middle of a window loses only what the dead process did not tell.
 */

export interface Totals {
  readonly histograms: ReadonlyMap<string, HistogramValue>
  readonly counters: ReadonlyMap<string, number>
  readonly resets: number
}

/** Part of a counter that is kept under a key of its own. */
export interface CountedPart {
  readonly key: string
  readonly metric: string
  readonly matchers: readonly Matcher[]
}

export const noTotals: Totals = { histograms: new Map(), counters: new Map(), resets: 0 }

/** The totals after one more scrape. Series that are new in it are taken from here on: how old they are is not known. */
export function addedScrape(
  totals: Totals,
  before: Scrape,
  after: Scrape,
  names: {
    readonly histograms: readonly string[]
    readonly counters: readonly string[]
    readonly parts?: readonly CountedPart[]
  },
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
  for (const { key, metric, matchers } of names.parts ?? []) {
    const increase = partIncrease(before, after, metric, matchers)
    if (increase !== null) counters.set(key, (counters.get(key) ?? 0) + increase)
  }
  return { histograms, counters, resets }
}

/**
 * By how much part of a counter rose. A series that was not there before is younger than the page before, and counts from 0: a failure's
 * series is made by the first failure. Null where the page has none of the counter at all.
 */
function partIncrease(
  before: Scrape,
  after: Scrape,
  metric: string,
  matchers: readonly Matcher[],
): number | null {
  if (samplesOf(after, metric).length === 0) return null
  const { series } = counterIncrease(before, after, metric)
  const values = new Map(samplesOf(after, metric).map(({ labels, value }) => [seriesKey(labels), value]))
  return series
    .filter(({ labels, kind }) => kind !== 'gone' && selects(matchers, labels))
    .reduce((sum, { labels, increase }) => sum + (increase ?? finite(values.get(seriesKey(labels)))), 0)
}

function finite(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? value : 0
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
