import { describe, expect, it, test } from 'vitest'
import { counterIncrease, histogramIncrease, sumOf } from '../src/measure/wire/prometheus-counter.ts'
import {
  bucketAt,
  histogramMean,
  histogramOf,
  histogramQuantile,
} from '../src/measure/wire/prometheus-histogram.ts'
import { parsePrometheusText, type Scrape } from '../src/measure/wire/prometheus-text.ts'

// Further cases of the kinds of `prom-*`, their expectations worked out by hand from the two formats.

const text = (...lines: readonly string[]): Scrape => parsePrometheusText(`${lines.join('\n')}\n`)
const open = (...lines: readonly string[]): Scrape =>
  parsePrometheusText(`${lines.join('\n')}\n# EOF\n`, {
    contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  })
const samples = (scrape: Scrape) => scrape.families.flatMap((family) => family.samples)
const problems = (scrape: Scrape): readonly string[] => scrape.problems.map(({ kind }) => kind)

describe('labels', () => {
  test.each([
    ['every escape together', String.raw`m{a="\\\"\n\\n"} 1`, { a: '\\"\n\\n' }],
    ['a backslash at the end', String.raw`m{a="x\\"} 1`, { a: 'x\\' }],
    ['braces, equals, commas and a hash inside', 'm{a="}{=,#",b=","} 1', { a: '}{=,#', b: ',' }],
    ['an empty value', 'm{a=""} 1', { a: '' }],
    ['a value with a tab and blanks', 'm{a=" \t "} 1', { a: ' \t ' }],
    ['blanks everywhere', '  m  {  a  =  "1"  ,  b="2" , }  1  ', { a: '1', b: '2' }],
    ['emoji', 'm{a="🙂"} 1', { a: '🙂' }],
    ['a name of the language', 'm{constructor="x",toString="y"} 1', { constructor: 'x', toString: 'y' }],
  ])('%s', (_, line, labels) => {
    const scrape = text(line)
    expect(problems(scrape)).toEqual([])
    expect(samples(scrape).map((sample) => ({ ...sample.labels }))).toEqual([labels])
  })
})

describe('values and timestamps', () => {
  test.each([
    ['+inf', Number.POSITIVE_INFINITY],
    ['-INF', Number.NEGATIVE_INFINITY],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-nan', Number.NaN],
    ['1E-2', 0.01],
    ['+.5', 0.5],
    ['1.7976931348623157e308', 1.7976931348623157e308],
    ['2.4e-324', 0],
    ['9007199254740993', 9007199254740992],
  ])('%s', (written, value) => expect(samples(text(`m ${written}`))[0]?.value).toBe(value))
  test.each(['1_0', '0x1F', '1e', '1e309', '--1', '1.2.3', 'true', '½', '١'])('%s is refused', (written) =>
    expect(problems(text('ok 1', `m ${written}`))).toEqual(['line']),
  )
  it('milliseconds in the text, seconds in OpenMetrics', () => {
    expect(samples(text('m 1 1700000000000'))[0]?.timestampMs).toBe(1_700_000_000_000)
    expect(samples(open('m 1 1700000000.123'))[0]?.timestampMs).toBe(1_700_000_000_123)
    expect(samples(open('m 1 1.7e9'))[0]?.timestampMs).toBe(1_700_000_000_000)
    expect(samples(text('m 1 0'))[0]?.timestampMs).toBe(0)
    expect(problems(text('ok 1', 'm 1 now'))).toEqual(['line'])
  })
  it('the same series at two times is two samples', () =>
    expect(samples(text('m 1 1000', 'm 2 2000')).map(({ value }) => value)).toEqual([1, 2]))
})

describe('exemplars, units and ends', () => {
  it.each([
    ['with a time', 'h_bucket{le="1"} 3 # {trace_id="abc"} 0.67 1700000000.5', 0.67, 1_700_000_000_500],
    ['without one', 'h_bucket{le="1"} 3 # {} 0.67', 0.67, null],
    ['behind a timestamp', 'h_bucket{le="1"} 3 1700000000 # {a="b"} -1', -1, null],
    ['with a hash and a brace inside', 'c_total 3 # {a="# }"} 2', 2, null],
  ])('an exemplar %s', (_, line, value, timestampMs) => {
    const scrape = open('# TYPE h histogram', '# TYPE c counter', line)
    expect(problems(scrape)).toEqual([])
    expect(samples(scrape)[0]?.exemplar).toMatchObject({ value, timestampMs })
    expect(samples(scrape)[0]?.value).toBe(3)
  })
  it('128 characters of labels are allowed, 129 are not, and signs of four bytes count once', () => {
    const with_ = (value: string): Scrape => open('# TYPE c counter', `c_total 1 # {a="${value}"} 1`)
    expect(problems(with_('x'.repeat(127)))).toEqual([])
    expect(problems(with_('🙂'.repeat(127)))).toEqual([])
    expect(problems(with_('x'.repeat(128)))).toEqual(['exemplar'])
  })
  it('UNIT, HELP with escapes, and a blank line', () => {
    const scrape = open(
      '# HELP d_seconds a\\nb\\\\c',
      '# UNIT d_seconds seconds',
      '# TYPE d_seconds gauge',
      '',
      'd_seconds 1',
    )
    expect(scrape.families[0]).toMatchObject({ help: 'a\nb\\c', unit: 'seconds', type: 'gauge' })
  })
  it('a cut page is told, and what was there is kept', () => {
    const scrape = parsePrometheusText('# TYPE c counter\nc_total 5\n', { openMetrics: true })
    expect([problems(scrape), sumOf(scrape, 'c_total')]).toEqual([['end'], 5])
  })
  it('EOF in the text format is a comment', () =>
    expect(
      problems(parsePrometheusText('m 1\n# EOF\nn 2\n', { contentType: 'text/plain; version=0.0.4' })),
    ).toEqual([]))
})

describe('created series', () => {
  it('are no counts, whatever they stand beside', () => {
    const scrape = open(
      '# TYPE c counter',
      'c_total{a="1"} 5',
      'c_created{a="1"} 1.7e9',
      '# TYPE h histogram',
      'h_bucket{le="+Inf"} 2',
      'h_count 2',
      'h_sum 1',
      'h_created 1.7e9',
    )
    expect(sumOf(scrape, 'c_total')).toBe(5)
    expect(histogramOf(scrape, 'h')).toMatchObject({ count: 2, sum: 1 })
    expect(scrape.families.map(({ name }) => name)).toEqual(['c', 'h'])
  })
  it('a later one is a reset, even where the counter has outgrown its old value', () => {
    const page = (total: number, created: number): Scrape =>
      open('# TYPE c counter', `c_total ${total}`, `c_created ${created}`)
    expect(counterIncrease(page(10, 1000), page(15, 2000), 'c_total')).toMatchObject({ total: 15, resets: 1 })
    expect(counterIncrease(page(10, 1000), page(15, 1000), 'c_total')).toMatchObject({ total: 5, resets: 0 })
  })
})

describe('histograms', () => {
  const of = (...lines: readonly string[]) => histogramOf(text('# TYPE h histogram', ...lines), 'h')!
  const buckets = (bounds: readonly string[], counts: readonly number[]) =>
    of(...bounds.map((le, at) => `h_bucket{le="${le}"} ${counts[at]}`), `h_count ${counts.at(-1)}`, 'h_sum 1')
  test.each([
    ['0.5 as 5e-1', ['5e-1', '+Inf'], '0.5', '5e-1'],
    ['1 as 1.0', ['1.0', 'Inf'], '1', '1.0'],
    ['1000ms as 1', ['1', '+Inf'], '1000ms', '1'],
    ['0.1 + 0.2 is not 0.3', ['0.30000000000000004', '+Inf'], '0.3', null],
    ['the last, infinite one', ['1', '+Inf'], '+Inf', '+Inf'],
  ])('%s', (_, bounds, threshold, le) => {
    const found = bucketAt(buckets(bounds, [1, 2]), threshold)
    expect(found.kind === 'found' ? found.le : null).toBe(le)
  })
  test.each([
    ['half of the only bucket', ['2', '+Inf'], [4, 4], 0.5, 1],
    ['exactly on a bound', ['1', '2', '+Inf'], [50, 100, 100], 0.5, 1],
    ['above the last finite bound', ['1', '2', '+Inf'], [1, 2, 10], 0.9, 2],
    ['the first bucket begins at 0', ['10', '+Inf'], [10, 10], 0.1, 1],
    ['a first bound below 0 is itself', ['-5', '0', '+Inf'], [10, 10, 10], 0.5, -5],
    ['q 0 is the beginning of the first that is not empty', ['1', '2', '+Inf'], [0, 5, 5], 0, 1],
    ['q 1 is its end', ['1', '2', '+Inf'], [0, 5, 5], 1, 2],
    ['0.98 of 100 is the 98th, in doubles or not', ['1', '2', '+Inf'], [98, 100, 100], 0.98, 1],
    ['a bucket that fell is raised', ['1', '2', '4', '+Inf'], [10, 8, 20, 20], 0.5, 1],
  ])('quantile: %s', (_, bounds, counts, q, value) => {
    const found = histogramQuantile(buckets(bounds, counts), q)
    expect(found.kind === 'estimate' ? found.value : found.reason).toBe(value)
  })
  test.each([
    ['no observation', ['1', '+Inf'], [0, 0], 'no_observations'],
    ['only the infinite bucket', ['+Inf'], [5], 'no_finite_bucket'],
    ['no infinite bucket', ['1', '2'], [1, 2], 'no_inf_bucket'],
  ])('quantile: %s', (_, bounds, counts, reason) =>
    expect(histogramQuantile(buckets(bounds, counts), 0.5)).toEqual({ kind: 'none', reason }),
  )
  it('two scrapes: a restart of the buckets alone, a bucket that is new, nothing observed', () => {
    const page = (one: number, all: number): Scrape =>
      text(
        '# TYPE h histogram',
        `h_bucket{le="1"} ${one}`,
        `h_bucket{le="+Inf"} ${all}`,
        `h_count ${all}`,
        `h_sum ${all}`,
      )
    expect(histogramIncrease(page(50, 60), page(5, 7), 'h')).toMatchObject({
      increase: { count: 7 },
      resets: 1,
    })
    const idle = histogramIncrease(page(5, 7), page(5, 7), 'h').increase!
    expect([idle.count, histogramMean(idle)]).toEqual([0, null])
    expect(histogramIncrease(text('x 1'), page(5, 7), 'h').increase).toBeNull()
  })
})
