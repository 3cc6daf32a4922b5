import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  counterIncrease,
  histogramIncrease,
  samplesOf,
  sumOf,
} from '../src/measure/wire/prometheus-counter.ts'
import {
  bucketAt,
  fractionAtMost,
  histogramMean,
  histogramOf,
  histogramQuantile,
} from '../src/measure/wire/prometheus-histogram.ts'
import { formatPrometheusNumber } from '../src/measure/wire/prometheus-number.ts'
import { type Scrape, parsePrometheusText } from '../src/measure/wire/prometheus-text.ts'

interface Expect {
  samples?: { name: string; labels: Record<string, string>; value: number | string; timestamp_ms?: number }[]
  bad_lines?: number
  bad_exemplars?: number
  counter_sum?: { name: string; value: number }
  families?: Record<string, string>
  histogram?: { name: string; count: number; sum: number; buckets: [number | string, number][] }
  lookup?: Record<string, { le?: string; good?: number; error?: string; below?: string; above?: string }>
  quantiles?: {
    family: string
    q: number
    value: number | null
    reason?: string
    at_least?: boolean
    note?: string
  }[]
  interval_s?: number
  increase?: Record<string, number | null>
  increase_total?: number
  rate_per_s?: number
  resets?: number
  new_series?: number
  mean_ttft_s?: number
  'fraction_le_0.5'?: number
}

const folder = new URL('cases/', import.meta.url)
const sidecars = readdirSync(folder).filter((name) => /^prom-.*\.json$/.test(name))

/** JSON has no NaN and no infinities; the cases write them as text, as the format does. */
const plain = (value: number): number | string =>
  Number.isFinite(value) ? value : formatPrometheusNumber(value)

describe.each(sidecars)('%s', (name) => {
  const sidecar = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as {
    files: string[]
    content_type?: string
    expect: Expect
  }
  const scrapes = sidecar.files.map((file) =>
    parsePrometheusText(readFileSync(new URL(file, folder), 'utf8'), {
      source: file,
      ...(sidecar.content_type === undefined ? {} : { contentType: sidecar.content_type }),
    }),
  )
  const scrape = scrapes[0] as Scrape
  const expected = sidecar.expect

  it.runIf(expected.samples !== undefined)('reads every sample', () => {
    const samples = scrape.families
      .flatMap((family) => family.samples)
      .map((sample) => ({
        name: sample.name,
        labels: { ...sample.labels },
        value: plain(sample.value),
        ...(sample.timestampMs === null ? {} : { timestamp_ms: sample.timestampMs }),
      }))
    expect(samples).toEqual(expected.samples)
  })

  it.runIf(expected.bad_lines !== undefined)('counts the bad lines', () => {
    expect(scrape.problems.filter((problem) => problem.kind === 'line')).toHaveLength(expected.bad_lines ?? 0)
  })

  it.runIf(expected.bad_exemplars !== undefined)('keeps a sample whose exemplar is bad', () => {
    expect(scrape.problems.map((problem) => problem.kind)).toEqual(
      Array.from({ length: expected.bad_exemplars ?? 0 }, () => 'exemplar'),
    )
  })

  it.runIf(expected.families !== undefined)('groups families and leaves _created out of sums', () => {
    const types = Object.fromEntries(scrape.families.map((family) => [family.name, family.type]))
    expect(types).toEqual(expected.families)
    const sum = expected.counter_sum
    expect(sumOf(scrape, sum?.name ?? '')).toBe(sum?.value ?? null)
    const wanted = expected.histogram
    const histogram = histogramOf(scrape, wanted?.name ?? '')
    expect({ count: histogram?.count, sum: histogram?.sum }).toEqual({
      count: wanted?.count,
      sum: wanted?.sum,
    })
    expect(histogram?.buckets.map(({ le, count }) => [plain(le), count])).toEqual(wanted?.buckets)
  })

  it.runIf(expected.lookup !== undefined)('finds buckets by number', () => {
    const histogram = histogramOf(scrape, scrape.families[0]?.name ?? '')
    if (histogram === null) throw new Error('no histogram')
    const found = Object.keys(expected.lookup ?? {}).map((threshold) => {
      const { kind, ...rest } = bucketAt(histogram, threshold)
      return [threshold, kind === 'found' ? rest : { error: kind, ...rest }]
    })
    expect(Object.fromEntries(found)).toEqual(expected.lookup)
  })

  it.runIf(expected.quantiles !== undefined)('takes quantiles', () => {
    const got = (expected.quantiles ?? []).map(({ family, q }) => {
      const histogram = histogramOf(scrape, family)
      if (histogram === null) throw new Error('no histogram')
      const estimate = histogramQuantile(histogram, q)
      if (estimate.kind === 'none') return { family, q, value: null, reason: estimate.reason }
      const value = Number(estimate.value.toFixed(12))
      return { family, q, value, ...(estimate.atLeast ? { at_least: true } : {}) }
    })
    expect(got).toEqual((expected.quantiles ?? []).map(({ note: _note, ...wanted }) => wanted))
  })

  it.runIf(expected.increase !== undefined)('tells increases from resets and new series', () => {
    const [before, after] = scrapes as [Scrape, Scrape]
    const counter = counterIncrease(before, after, 'tok_total')
    const bySeries = counter.series.map((one) => [
      Object.entries(one.labels)
        .map(([label, value]) => `${label}=${value}`)
        .join(','),
      one.increase,
    ])
    expect(Object.fromEntries(bySeries)).toEqual(expected.increase)
    expect(counter.total).toBe(expected.increase_total)
    expect((counter.total ?? 0) / (expected.interval_s ?? 1)).toBe(expected.rate_per_s)
    expect([counter.resets, counter.newSeries]).toEqual([expected.resets, expected.new_series])
    const { increase } = histogramIncrease(before, after, 'ttft_seconds')
    if (increase === null) throw new Error('no histogram')
    expect(histogramMean(increase)).toBe(expected.mean_ttft_s)
    expect(fractionAtMost(increase, '0.5')).toBe(expected['fraction_le_0.5'])
  })

  it('names a position for everything that it refuses', () => {
    for (const { where } of scrape.problems) {
      expect(where.file).toBe(sidecar.files[0])
      expect(where.line).toBeGreaterThan(0)
      expect(where.column).toBeGreaterThan(0)
    }
    expect(samplesOf(scrape, 'no such series')).toEqual([])
  })
})
