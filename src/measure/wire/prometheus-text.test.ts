import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PlimsollError, describeError } from '../../base/errors.ts'
import { counterIncrease, histogramIncrease, samplesOf, sumOf } from './prometheus-counter.ts'
import { type ExposedMetric, writeExposition } from './prometheus-exposition.ts'
import {
  addHistograms,
  bucketAt,
  histogramOf,
  histogramQuantile,
  histogramSeries,
} from './prometheus-histogram.ts'
import { formatPrometheusNumber, parseBucketThreshold, parsePrometheusNumber } from './prometheus-number.ts'
import {
  type ParsePrometheusOptions,
  type Scrape,
  findFamily,
  parsePrometheusText,
} from './prometheus-text.ts'

const only = (page: string, options = {}): { scrape: Scrape; kinds: string[]; values: number[] } => {
  const scrape = parsePrometheusText(page, options)
  return {
    scrape,
    kinds: scrape.problems.map((problem) => problem.kind),
    values: scrape.families.flatMap((family) => family.samples.map((sample) => sample.value)),
  }
}

/** The error that a page is refused with, as it is printed; empty when it is not. */
function refusalOf(page: string, options: ParsePrometheusOptions = {}): string {
  try {
    parsePrometheusText(page, options)
    return ''
  } catch (error) {
    return describeError(error as PlimsollError)
  }
}

describe('parsePrometheusText', () => {
  it.each([
    ['a quoted UTF-8 name inside the braces', '{"a.b",x="1"} 2\n', 'a.b', { x: '1' }, 2],
    ['a quoted label name', 'm{"a b"="1"} 2\n', 'm', { 'a b': '1' }, 2],
    ['an unknown escape keeps its backslash', 'm{x="a\\d"} 1\n', 'm', { x: 'a\\d' }, 1],
    ['a page with CR LF', 'm{x="1"} 1\r\n', 'm', { x: '1' }, 1],
    ['a last line without a line feed', 'm 1', 'm', {}, 1],
    ['a name with colons', 'a:b:c 1\n', 'a:b:c', {}, 1],
    ['a label called __proto__', 'm{__proto__="x"} 1\n', 'm', JSON.parse('{"__proto__":"x"}'), 1],
    ['numbers without a leading or trailing digit', 'm .5\n', 'm', {}, 0.5],
    ['a plus sign', 'm +1.e+2\n', 'm', {}, 100],
  ])('reads %s', (_, page, name, labels, value) => {
    const { scrape, kinds } = only(page)
    const sample = scrape.families[0]?.samples[0]
    expect(kinds).toEqual([])
    expect(sample?.name).toBe(name)
    expect(Object.entries(sample?.labels ?? {})).toEqual(Object.entries(labels))
    expect(sample?.value).toBe(value)
  })

  it.each([
    ['a metric without a value', 'm\nok 1\n', 1, 2],
    ['an unclosed brace', 'm{x="1" 1\nok 1\n', 1, 9],
    ['an unclosed quote', 'm{x="1} 1\nok 1\n', 1, 5],
    ['a label without a value', 'm{x} 1\nok 1\n', 1, 4],
    ['a label twice', 'm{x="1",x="2"} 1\nok 1\n', 1, 9],
    ['a colon in a label name', 'm{x:y="1"} 1\nok 1\n', 1, 4],
    ['a name that begins with a digit', 'ok 1\n9m 1\n', 2, 1],
    ['two commas', 'm{x="1",,} 1\nok 1\n', 1, 9],
    ['more after the timestamp', 'm 1 2 3\nok 1\n', 1, 7],
    ['a timestamp with a fraction in the text format', 'm 1 2.5\nok 1\n', 1, 5],
    ['a number too large for a double', 'm 1e999\nok 1\n', 1, 3],
  ])('leaves out %s and says where', (_, page, line, column) => {
    const { scrape, kinds, values } = only(page)
    expect(kinds).toEqual(['line'])
    expect(scrape.problems[0]?.where).toEqual({ file: '/metrics', line, column })
    expect(values).toEqual([1])
  })

  it('refuses a page that is something else, with code and position', () => {
    for (const page of ['<!doctype html>\n<p>404</p>\n', '{"detail":"Not Found"}']) {
      expect(() => parsePrometheusText(page, { source: 'http://h/metrics' })).toThrowError(PlimsollError)
    }
    const refusal = refusalOf('ok 1\nbad\n', { source: 'http://h/metrics', strict: true })
    expect(refusal).toContain('PLIM_PROMETHEUS')
    expect(refusal).toContain('http://h/metrics:2:4')
    expect(parsePrometheusText('').families).toEqual([])
  })

  it('takes OpenMetrics timestamps as seconds and the text format’s as milliseconds', () => {
    expect(only('m 1 1700000000.5\n# EOF\n').scrape.families[0]?.samples[0]?.timestampMs).toBe(1700000000500)
    expect(only('m 1 1700000000500\n').scrape.families[0]?.samples[0]?.timestampMs).toBe(1700000000500)
  })

  it('says so when OpenMetrics ends without # EOF, or goes on after it', () => {
    expect(only('m 1\n', { openMetrics: true }).kinds).toEqual(['end'])
    expect(only('m 1\n# EOF\nn 2\n', { openMetrics: true })).toMatchObject({ kinds: ['end'], values: [1] })
  })

  it('keeps the first of two equal series, whatever the order of their labels', () => {
    expect(only('m{a="1",b="2"} 1\nm{b="2",a="1"} 5\n')).toMatchObject({ kinds: ['duplicate'], values: [1] })
  })

  it('gives samples to their family wherever the TYPE line stands, and lets a family of its own win', () => {
    const page =
      'h_bucket{le="+Inf"} 2\nh_count 2\n# TYPE h histogram\n# TYPE h_sum gauge\nh_sum 3\n# TYPE c_total counter\nc_total 1\nc_created 9\n'
    const { families } = parsePrometheusText(page)
    expect(families.map((family) => [family.name, family.type, family.samples.length])).toEqual([
      ['h', 'histogram', 2],
      ['h_sum', 'gauge', 1],
      ['c_total', 'counter', 2],
    ])
    expect(sumOf(parsePrometheusText(page), 'c_total')).toBe(1)
    expect(findFamily(parsePrometheusText(page), 'c')?.name).toBe('c_total')
  })

  it('names an unknown type and a second, different TYPE', () => {
    expect(only('# TYPE m gouge\nm 1\n').kinds).toEqual(['metadata'])
    expect(only('# TYPE m gauge\n# TYPE m counter\nm 1\n').scrape.families[0]?.type).toBe('gauge')
  })

  it('refuses an exemplar over 128 characters but keeps its sample', () => {
    expect(only(`m_bucket{le="1"} 1 # {a="${'x'.repeat(128)}"} 1\n# EOF\n`)).toMatchObject({
      kinds: ['exemplar'],
      values: [1],
    })
  })

  it('never fails on garbage but by PLIM_PROMETHEUS', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'a1{}="\\,# \n\t+.eNI'.split('')), { maxLength: 60 }),
        (parts) => {
          expect(refusalOf(parts.join(''))).toMatch(/^(?:$|PLIM_PROMETHEUS)/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('writeExposition', () => {
  const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.string({ unit: 'grapheme' }), {
    maxKeys: 3,
  })
  const value = fc.double({ noNaN: true })
  const metric: fc.Arbitrary<ExposedMetric> = fc.record({
    kind: fc.constant('gauge' as const),
    name: fc.stringMatching(/^[a-z]{4}$/),
    help: fc.string(),
    series: fc.array(fc.record({ labels, value }), { minLength: 1, maxLength: 1 }),
  })

  it('reads back what it wrote, in both formats', () => {
    fc.assert(
      fc.property(metric, fc.boolean(), (exposed, openMetrics) => {
        fc.pre(exposed.kind === 'gauge')
        const page = writeExposition([exposed], { openMetrics, createdS: null })
        const { families, problems } = parsePrometheusText(page, { openMetrics, strict: true })
        expect(problems).toEqual([])
        expect(families[0]?.type).toBe('gauge')
        const sample = families[0]?.samples[0]
        expect({ ...sample?.labels }).toEqual(
          exposed.kind === 'gauge' ? { ...exposed.series[0]?.labels } : {},
        )
        expect(sample?.value).toBe(exposed.kind === 'gauge' ? (exposed.series[0]?.value ?? 0) + 0 : 0)
      }),
    )
  })

  it('writes the page of a Python exporter', () => {
    const metrics: ExposedMetric[] = [
      { kind: 'counter', name: 'c', help: 'Count.', series: [{ labels: { b: '1', a: 'x"y' }, value: 3 }] },
      {
        kind: 'histogram',
        name: 'h',
        help: 'H.',
        bounds: [0.5, 2560],
        series: [{ labels: { z: '' }, bucketCounts: [1, 0, 2], sum: 4e7 }],
      },
    ]
    expect(writeExposition(metrics, { openMetrics: false, createdS: 1.7e9 })).toBe(
      [
        '# HELP c_total Count.',
        '# TYPE c_total counter',
        String.raw`c_total{a="x\"y",b="1"} 3.0`,
        '# HELP c_created Count.',
        '# TYPE c_created gauge',
        String.raw`c_created{a="x\"y",b="1"} 1.7e+09`,
        '# HELP h H.',
        '# TYPE h histogram',
        'h_bucket{le="0.5",z=""} 1.0',
        'h_bucket{le="2560.0",z=""} 1.0',
        'h_bucket{le="+Inf",z=""} 3.0',
        'h_count{z=""} 3.0',
        'h_sum{z=""} 4e+07',
        '# HELP h_created H.',
        '# TYPE h_created gauge',
        'h_created{z=""} 1.7e+09',
        '',
      ].join('\n'),
    )
    const page = writeExposition(metrics, { openMetrics: true, createdS: 1.7e9 })
    const scrape = parsePrometheusText(page, { strict: true })
    expect(scrape.families.map((family) => family.name)).toEqual(['c', 'h'])
    expect(samplesOf(scrape, 'c_total')[0]?.value).toBe(3)
  })
})

describe('numbers', () => {
  it.each([
    ['5', 5],
    ['-Inf', Number.NEGATIVE_INFINITY],
    ['+infinity', Number.POSITIVE_INFINITY],
    ['nAn', Number.NaN],
    ['1_0', null],
    ['0x1', null],
    ['', null],
    ['.', null],
    ['1e', null],
  ])('%s', (text, value) => expect(parsePrometheusNumber(text)).toBe(value))

  it('reads back every double that it writes', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parsePrometheusNumber(formatPrometheusNumber(value))).toBe(value + 0)
      }),
    )
  })

  it('reads thresholds with the decimal point moved in the text', () => {
    expect(['30ms', '0.1ms', '5e0', '2m', '250us', '1.00', '+Inf', 'x'].map(parseBucketThreshold)).toEqual([
      0.03,
      1e-4,
      5,
      120,
      0.00025,
      1,
      Number.POSITIVE_INFINITY,
      null,
    ])
  })
})

describe('histograms', () => {
  const page = (text: string): Scrape => parsePrometheusText(text)

  it('adds series over the bounds that all have', () => {
    const two = page(
      'h_bucket{e="0",le="1.0"} 1\nh_bucket{e="0",le="2"} 2\nh_bucket{e="0",le="+Inf"} 3\nh_bucket{e="1",le="1"} 10\nh_bucket{e="1",le="+Inf"} 30\n',
    )
    expect(histogramSeries(two, 'h')).toHaveLength(2)
    expect(histogramOf(two, 'h')?.buckets.map(({ le, count }) => [le, count])).toEqual([
      [1, 11],
      [Number.POSITIVE_INFINITY, 33],
    ])
    expect(histogramOf(two, 'h', { e: '1' })?.buckets.at(-1)?.count).toBe(30)
    expect(histogramOf(two, 'nothing')).toBeNull()
    expect(addHistograms([])).toEqual({ buckets: [], sum: null, count: null })
  })

  it('says what lies beside a bound that is not there', () => {
    const histogram = histogramOf(
      page('h_bucket{le="1"} 1\nh_bucket{le="2"} 1\nh_bucket{le="+Inf"} 1\n'),
      'h',
    )
    if (histogram === null) throw new Error('no histogram')
    expect(bucketAt(histogram, 0.5)).toEqual({ kind: 'no_bucket', below: null, above: '1' })
    expect(bucketAt(histogram, '9')).toEqual({ kind: 'no_bucket', below: '2', above: '+Inf' })
    expect(() => bucketAt(histogram, 'soon')).toThrowError(PlimsollError)
    expect(() => histogramQuantile(histogram, 1.5)).toThrowError(PlimsollError)
  })

  it.each([
    ['a rank on a bound is inside it, exactly: 0.29 of 100', [29, 100, 100], '0.29', 1],
    ['q 0 is the low end of the first bucket with anything in it', [0, 5, 5], '0', 1],
    ['q 1 with nothing above is the bound', [1, 4, 4], '1', 2],
  ])('%s', (_, [one, two, all], q, value) => {
    const text = `h_bucket{le="1"} ${one}\nh_bucket{le="2"} ${two}\nh_bucket{le="+Inf"} ${all}\n`
    expect(
      histogramQuantile(histogramOf(page(text), 'h') ?? { buckets: [], sum: null, count: null }, q),
    ).toMatchObject({
      value,
      atLeast: false,
    })
  })

  it.each([
    ['only +Inf', 'h_bucket{le="+Inf"} 3\n', 'no_finite_bucket'],
    ['a NaN count', 'h_bucket{le="1"} NaN\nh_bucket{le="+Inf"} 3\n', 'not_a_number'],
  ])('has no quantile with %s', (_, text, reason) => {
    const histogram = histogramOf(page(text), 'h')
    expect(histogram === null ? null : histogramQuantile(histogram, 0.5)).toEqual({ kind: 'none', reason })
  })

  it('returns a first bound at or under zero itself', () => {
    const histogram = histogramOf(page('h_bucket{le="-1"} 4\nh_bucket{le="+Inf"} 4\n'), 'h')
    expect(histogram === null ? null : histogramQuantile(histogram, 0.5)).toMatchObject({ value: -1 })
  })
})

describe('increases', () => {
  const page = (text: string): Scrape => parsePrometheusText(text)

  it('counts a new series from 0 only when it was created after the first scrape', () => {
    const after = page('# TYPE t_total counter\nt_total{e="2"} 40\nt_created{e="2"} 105\n')
    expect(counterIncrease(page(''), after, 't_total', { firstScrapeS: 100 }).total).toBe(40)
    expect(counterIncrease(page(''), after, 't_total', { firstScrapeS: 110 }).total).toBeNull()
  })

  it('sees a restart by _created although the counter has grown past its old value', () => {
    const before = page('t_total 5\nt_created 10\n')
    const after = page('t_total 8\nt_created 20\n')
    expect(counterIncrease(before, after, 't_total')).toMatchObject({ total: 8, resets: 1 })
  })

  it('does not invent an increase for a series that is gone', () => {
    expect(counterIncrease(page('t_total{e="0"} 5\n'), page(''), 't_total')).toMatchObject({
      total: null,
      goneSeries: 1,
    })
  })

  it('takes a histogram that went down from 0 and leaves a new one out', () => {
    const before = page(
      'h_bucket{e="0",le="1"} 5\nh_bucket{e="0",le="+Inf"} 9\nh_count{e="0"} 9\nh_sum{e="0"} 9\n',
    )
    const after = page(
      'h_bucket{e="0",le="1"} 2\nh_bucket{e="0",le="+Inf"} 3\nh_count{e="0"} 3\nh_sum{e="0"} 4\nh_bucket{e="1",le="1"} 7\nh_bucket{e="1",le="+Inf"} 7\n',
    )
    expect(histogramIncrease(before, after, 'h')).toMatchObject({
      resets: 1,
      newSeries: 1,
      increase: { sum: 4, count: 3 },
    })
  })
})
