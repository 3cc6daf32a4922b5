import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  clientBound,
  noCapacity,
  nothingAnswered,
  sixPerSecond,
  threeWalls,
} from '../../test/fixtures/documents.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { runPage } from './html-run.ts'
import { sweepPage } from './html-sweep.ts'
import { judgedTail } from './judged-limits.ts'
import { standaloneSvg } from './svg-figure.ts'
import { histogram } from './svg-histogram.ts'
import { loadCurve } from './svg-load-curve.ts'
import { escapeMarkup } from './svg-markup.ts'
import { linearScale, logBounds, logScale } from './svg-scale.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

/** A made-up answer to a request meant for `at` seconds. */
function row(at: number, over: Partial<RequestRow> = {}): RequestRow {
  const ttft = 100 + ((at * 37) % 60)
  return {
    id: `r-${at}`,
    planned_ms: 30_000 + at * 1000,
    lag_ms: 0.2,
    ttft_ms: ttft,
    e2e_ms: ttft + 200,
    tpot_ms: 20 + (at % 5),
    completion_tokens: 11,
    outcome: 'ok',
    phase: 'measure',
    error_kind: null,
    ...over,
  } as RequestRow
}

const rows: readonly RequestRow[] = [
  ...Array.from({ length: 40 }, (_, at) => row(at * 14)),
  row(20, { outcome: 'shed', ttft_ms: null, e2e_ms: null, tpot_ms: null, error_kind: 'http_429' }),
]

/** The page without its style, its data and what is drawn: a line an element. */
function skeleton(page: string): string {
  return page
    .replace(/<style>[\s\S]*?<\/style>/, '<style/>')
    .replace(/(<script[^>]*>)[\s\S]*?<\/script>/, '$1</script>')
    .replaceAll(/(<svg[^>]*>)[\s\S]*?<\/svg>/g, '$1</svg>')
    .replaceAll(
      /(<\/?(?:section|figure|table|thead|tbody|tr|td|th|li|ol|ul|div|h1|h2|header|footer|details|p)\b)/g,
      '\n$1',
    )
    .replaceAll(/\n+/g, '\n')
}

/** Whether every element is closed by its own end, in order. */
function isBalanced(markup: string): boolean {
  const open: string[] = []
  const body = markup
    .replace(/<!doctype html>/, '')
    .replaceAll(/<style>[\s\S]*?<\/style>/g, '')
    .replaceAll(/(<script[^>]*>)[\s\S]*?<\/script>/g, '')
  for (const [, end, name = '', rest = ''] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:\s[^<>]*)?)>/gi)) {
    if (rest.endsWith('/') || ['meta', 'br'].includes(name)) continue
    if (end !== '/') open.push(name)
    else if (open.pop() !== name) return false
  }
  return open.length === 0 && !/<(?![/a-z!])/i.test(body)
}

describe('the page', () => {
  test.each([
    ['html-run.html', () => runPage(sixPerSecond, rows)],
    ['html-run-invalid.html', () => runPage(clientBound, rows)],
    ['html-run-nothing-answered.html', () => runPage(nothingAnswered, [])],
    ['html-sweep.html', () => sweepPage(threeWalls)],
    ['html-sweep-no-capacity.html', () => sweepPage(noCapacity)],
  ])('%s: its skeleton, closed in order, and nothing that is fetched or run', (name, make) => {
    const page = make()
    expect(skeleton(page)).toBe(golden(name, skeleton(page)))
    expect(isBalanced(page)).toBe(true)
    expect(page).not.toMatch(/\s(src|href|on[a-z]+)=|url\(|@import|<(link|img|iframe|object|embed)\b/i)
    expect([...page.matchAll(/<script/g)]).toHaveLength(1)
    expect(page).not.toMatch(/\b(NaN|undefined|Infinity)\b/)
  })

  test('the document is inside it', () => {
    const data = /<script type="application\/json" id="document">(.*)<\/script>/.exec(
      runPage(sixPerSecond, rows),
    )
    expect(JSON.parse(data?.[1] ?? '')).toEqual(sixPerSecond)
  })

  test('whatever a server, a model or a person is called, the page stays whole', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('</script><script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '<!--', ']]>'),
    )
    fc.assert(
      fc.property(hostile, hostile, (name, workload) => {
        const page = runPage({ ...sixPerSecond, name, workload }, [row(1, { id: name }), row(2), row(3)])
        expect(isBalanced(page)).toBe(true)
        expect([...page.matchAll(/<script/g)]).toHaveLength(1)
        expect(page.replace(/(<script[^>]*>)[\s\S]*?<\/script>/, '')).not.toContain('<img')
      }),
      { numRuns: 60 },
    )
  })

  test('100,000 requests make no larger page than a thousand', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => row((at * 570) / 100_000, { id: `r-${at}` }))
    expect(runPage(sixPerSecond, many).length).toBeLessThan(600_000)
  })
})

describe('figures', () => {
  test('load-curve.svg is a file of its own', () => {
    const figure = loadCurve(threeWalls, judgedTail(threeWalls.objective))
    const svg = figure === null ? '' : standaloneSvg(figure)
    expect(svg).toBe(golden('load-curve.svg', svg))
    expect(isBalanced(svg)).toBe(true)
  })

  test('a histogram leaves no value out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 300 }),
        (values) => {
          const figure = histogram({ series: 'ttft', name: 'TTFT', formula: '', values, limit: null })
          const counted = [...(figure?.body ?? '').matchAll(/(?:to [^:<]+|above [^:<]+): ([\d,]+)/g)].reduce(
            (sum, [, count]) => sum + Number((count ?? '').replaceAll(',', '')),
            0,
          )
          expect(counted).toBe(values.length)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('scales rise, and their marks lie on them', () => {
    const size = fc.double({ min: 1e-3, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(size, size, (a, b) => {
        const low = Math.min(a, b)
        const high = Math.max(a, b) + 1e-3
        const bounds = logBounds([low, high])
        for (const scale of [
          linearScale({ low: 0, high, from: 0, to: 100, widen: true }),
          logScale({ ...bounds, from: 0, to: 100 }),
        ]) {
          expect(scale.at(high)).toBeLessThanOrEqual(100.001)
          expect(scale.ticks.length).toBeGreaterThan(1)
          for (const { value } of scale.ticks) {
            expect(scale.at(value)).toBeGreaterThanOrEqual(-0.2)
            expect(scale.at(value)).toBeLessThanOrEqual(100.2)
          }
        }
      }),
    )
  })

  test.each([
    ['it is a figure like any other', 6, 3, '6 req/s', '0.6 req/s'],
    ['of requests that succeeded after it ended, none: not a rate of 0', 0, 3, '– req/s', '0 req/s'],
    ['where none succeeded 0 it is', 0, 0, '0 req/s', '– req/s'],
  ])('requests a second on the card, as in the headline of the terminal: %s', (_, rate, ok, shown, never) => {
    const throughput = {
      window_s: 10,
      requests_per_s: rate,
      output_tokens_per_s: 20,
      input_tokens_per_s: null,
    }
    const counts = { ...sixPerSecond.window_counts, ok }
    const page = runPage({ ...sixPerSecond, window_counts: counts, throughput, goodput: null }, [])
    expect(page).toContain(`<div class="value">${shown}</div>`)
    expect(page.split('<script')[0]).not.toContain(` ${never}`)
  })

  test('what is judged is what is drawn', () => {
    expect(judgedTail('p90 tpot <= 10ms')).toEqual({ metric: 'tpot_ms', key: 'p90', limitMs: 10 })
    expect(judgedTail('p99.9 ttft < 2s')).toEqual({ metric: 'ttft_ms', key: 'p99_9', limitMs: 2000 })
    expect(judgedTail('ttft < 500ms and tpot < 30ms')).toEqual({
      metric: 'ttft_ms',
      key: 'p99',
      limitMs: 500,
    })
    expect(judgedTail('something else')).toEqual({ metric: 'tpot_ms', key: 'p99', limitMs: null })
    expect(judgedTail(null)).toEqual({ metric: 'tpot_ms', key: 'p99', limitMs: null })
  })

  test('markup is escaped, and what XML cannot hold is replaced', () => {
    expect(escapeMarkup(`<a href="x">'&\u0000\uD800`)).toBe(
      '&lt;a href=&quot;x&quot;&gt;&#39;&amp;\uFFFD\uFFFD',
    )
  })
})
