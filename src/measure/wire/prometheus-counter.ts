import {
  type HistogramSeries,
  type HistogramValue,
  type LabelMatch,
  addHistograms,
  histogramSeries,
  matches,
} from './prometheus-histogram.ts'
import { type Labels, type Sample, type Scrape, seriesKey } from './prometheus-text.ts'

/** All samples called exactly `name` that carry the labels of `match`. `_created` never counts as `_total`. */
export function samplesOf(scrape: Scrape, name: string, match?: LabelMatch): Sample[] {
  return scrape.families.flatMap((family) =>
    family.samples.filter((sample) => sample.name === name && matches(sample.labels, match)),
  )
}

/** The sum over the series of a counter or gauge; null where the page has none. */
export function sumOf(scrape: Scrape, name: string, match?: LabelMatch): number | null {
  const samples = samplesOf(scrape, name, match)
  return samples.length === 0 ? null : samples.reduce((total, sample) => total + sample.value, 0)
}

/** What two scrapes say of one series. */
export interface SeriesIncrease {
  readonly labels: Labels
  /** Null where two scrapes cannot tell: first seen in the second and not known to be younger than the first, or gone. */
  readonly increase: number | null
  /** `reset`: it went down, or says that it was created anew, and so counts from 0. */
  readonly kind: 'continued' | 'reset' | 'new' | 'gone'
}

export interface CounterIncrease {
  readonly series: readonly SeriesIncrease[]
  /** The sum of the increases that are known; null where none is. */
  readonly total: number | null
  readonly resets: number
  readonly newSeries: number
  readonly goneSeries: number
}

export interface IncreaseOptions {
  readonly match?: LabelMatch
  /** When the first scrape was taken, seconds since 1970: a new series whose `_created` is not before it counts from 0. */
  readonly firstScrapeS?: number
}

/** By how much a counter rose between two scrapes of one server, series by series. */
export function counterIncrease(
  before: Scrape,
  after: Scrape,
  name: string,
  options: IncreaseOptions = {},
): CounterIncrease {
  const old = new Map(
    samplesOf(before, name, options.match).map((sample) => [seriesKey(sample.labels), sample]),
  )
  const oldCreated = createdOf(before, name)
  const newCreated = createdOf(after, name)
  const series: SeriesIncrease[] = []
  for (const { labels, value } of samplesOf(after, name, options.match)) {
    const key = seriesKey(labels)
    const previous = old.get(key)
    old.delete(key)
    const created = newCreated.get(key)
    if (previous === undefined) {
      const young =
        created !== undefined && options.firstScrapeS !== undefined && created >= options.firstScrapeS
      series.push({ labels, increase: young ? known(value) : null, kind: 'new' })
      continue
    }
    const reset = value < previous.value || recreated(oldCreated.get(key), created)
    series.push({
      labels,
      increase: known(reset ? value : value - previous.value),
      kind: reset ? 'reset' : 'continued',
    })
  }
  for (const { labels } of old.values()) series.push({ labels, increase: null, kind: 'gone' })
  return summed(series)
}

function summed(series: readonly SeriesIncrease[]): CounterIncrease {
  const increases = series.flatMap(({ increase }) => (increase === null ? [] : [increase]))
  const count = (kind: SeriesIncrease['kind']): number => series.filter((one) => one.kind === kind).length
  return {
    series,
    total: increases.length === 0 ? null : increases.reduce((total, increase) => total + increase, 0),
    resets: count('reset'),
    newSeries: count('new'),
    goneSeries: count('gone'),
  }
}

function createdOf(scrape: Scrape, name: string): Map<string, number> {
  const bare = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name
  const created = [...samplesOf(scrape, `${bare}_created`), ...samplesOf(scrape, `${bare}_total_created`)]
  return new Map(created.map((sample) => [seriesKey(sample.labels), sample.value]))
}

/** A later creation time is a restart, even where the counter has already grown past its old value. */
function recreated(before: number | null | undefined, after: number | null | undefined): boolean {
  return typeof before === 'number' && typeof after === 'number' && after > before
}

function known(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

export interface HistogramIncrease {
  /** The observations between the scrapes, over the series that both (or a reset) tell of; null where there is none. */
  readonly increase: HistogramValue | null
  readonly resets: number
  readonly newSeries: number
  readonly goneSeries: number
}

/** What a histogram observed between two scrapes: a series any of whose counts went down was reset and counts from 0. */
export function histogramIncrease(
  before: Scrape,
  after: Scrape,
  name: string,
  options: IncreaseOptions = {},
): HistogramIncrease {
  const old = new Map(
    histogramSeries(before, name, options.match).map((series) => [seriesKey(series.labels), series]),
  )
  const increases: HistogramValue[] = []
  let resets = 0
  let newSeries = 0
  for (const series of histogramSeries(after, name, options.match)) {
    const key = seriesKey(series.labels)
    const previous = old.get(key)
    old.delete(key)
    if (previous === undefined) {
      newSeries++
      const { createdS } = series
      if (createdS !== null && options.firstScrapeS !== undefined && createdS >= options.firstScrapeS) {
        increases.push(series)
      }
    } else if (wasReset(previous, series)) {
      resets++
      increases.push(series)
    } else increases.push(difference(previous, series))
  }
  const increase = increases.length === 0 ? null : addHistograms(increases)
  return { increase, resets, newSeries, goneSeries: old.size }
}

function wasReset(before: HistogramSeries, after: HistogramSeries): boolean {
  if (recreated(before.createdS, after.createdS)) return true
  if (before.count !== null && after.count !== null && after.count < before.count) return true
  return after.buckets.some((bucket) => bucket.count < countAt(before, bucket.le))
}

function difference(before: HistogramSeries, after: HistogramSeries): HistogramValue {
  return {
    buckets: after.buckets.map((bucket) => ({ ...bucket, count: bucket.count - countAt(before, bucket.le) })),
    sum: before.sum === null || after.sum === null ? null : after.sum - before.sum,
    count: before.count === null || after.count === null ? null : after.count - before.count,
  }
}

function countAt(histogram: HistogramValue, le: number): number {
  return histogram.buckets.find((bucket) => bucket.le === le)?.count ?? 0
}
