import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPercent, formatRate } from '../base/units.ts'
import { isInWindow } from '../measure/metrics/run-window.ts'
import type { MetricName, MetricSummary } from '../measure/metrics/run-summary.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
import type { RunDocument } from './documents.ts'
import { explainRun } from './explain.ts'
import {
  cards,
  commands,
  figureSection,
  folded,
  formula,
  htmlPage,
  list,
  section,
  table,
  words,
  type Card,
} from './html-page.ts'
import { intervalSpan } from './html-interval.ts'
import { limitOn } from './judged-limits.ts'
import {
  figure,
  figureFormat,
  metricLabels,
  percentileName,
  percentileOf,
  shownMetrics,
} from './metric-rows.ts'
import { nextCommands, runHeadline, runLoadLine, stoppedLine } from './render-run.ts'
import {
  countsLine,
  goodputLines,
  instrumentLine,
  littleLine,
  requestRate,
  serverLine,
  serverUseLine,
  throughputLine,
} from './run-lines.ts'
import { element } from './svg-markup.ts'
import type { Figure } from './svg-figure.ts'
import { formulas } from './svg-formulas.ts'
import { histogram } from './svg-histogram.ts'
import { latencyScatter } from './svg-latency-scatter.ts'
import { quantileCurve } from './svg-quantile-curve.ts'
import { serverUseFigure } from './svg-server-use.ts'
import { warningLine } from './warning-text.ts'

/** A run as one page: the answer, what it rests on, its figures, the working, the next command. */
export function runPage(document: RunDocument, rows: Rows, server: readonly ServerSample[] = []): string {
  const { verdict } = document
  return htmlPage({
    title: `${document.name}: ${verdict.status}, ${runHeadline(document)}`,
    document,
    sections: [
      header(document),
      cards(headlineCards(document)),
      ...figureSections(document, rows, server),
      section('Figures', metricsTable(document)),
      objectives(document),
      section(
        'What it rests on',
        list(
          [
            countsLine(document),
            throughputLine(document),
            ...goodputLines(document),
            ...littleLine(document),
            ...serverUseLine(document),
            instrumentLine(document),
          ].map(words),
        ),
      ),
      section(
        'To know',
        list(
          document.warnings.map((warning) => words(warningLine(warning))),
          'ol',
        ),
      ),
      folded('The working', explainRun(document)),
      section('Next', commands(nextCommands(document))),
      footer(document),
    ],
  })
}

function header(document: RunDocument): string {
  const { verdict, clock, stopped } = document
  const reasons = verdict.reasons.map(({ status, message }) => words(`${status}: ${message}`))
  if (stopped !== null) reasons.push(words(stoppedLine(stopped)))
  return element(
    'header',
    {},
    element(
      'div',
      { class: 'brand' },
      element('span', {}, element('b', {}, 'plimsoll'), words(` run · ${document.name}`)),
      element('span', {}, words(clock.started_at === null ? '' : startedText(clock.started_at))),
    ),
    element(
      'h1',
      {},
      element('span', { class: `badge ${verdict.status}` }, verdict.status),
      words(runHeadline(document)),
    ),
    element('p', { class: 'rests' }, words(runLoadLine(document))),
    element('p', { class: 'rests' }, words(serverLine(document.target))),
    reasons.length === 0
      ? ''
      : element('ul', { class: 'reasons' }, ...reasons.map((one) => element('li', {}, one))),
  )
}

/** "2026-11-29 14:36 UTC" */
export function startedText(iso: string): string {
  return iso.replace(/^(\S{10})T(\S{5}).*Z$/, '$1 $2 UTC')
}

function headlineCards(document: RunDocument): Card[] {
  const { goodput, metrics, throughput } = document
  const made: Card[] = []
  for (const name of ['ttft_ms', 'tpot_ms', 'e2e_ms'] as const) {
    const summary = metrics[name]
    if (summary === undefined || summary.p50 === null) continue
    const format = figureFormat(summary)
    const tail = summary.p99 === null ? null : `p99 ${figure(summary.p99, format)}`
    made.push({
      label: `${metricLabels[name] ?? name}, median`,
      formula: formulas[name],
      value: figure(summary.p50, format),
      note: tail ?? `of ${formatCount(summary.n)} ${noun(summary.n, 'request')}`,
    })
  }
  const rate = requestRate(document)
  if (rate !== null) {
    const tokens = throughput.output_tokens_per_s
    made.push({
      label: 'throughput',
      formula: 'throughput = finished in the window ÷ its length; tokens by when they were emitted',
      value: rate.text,
      note: [
        ...(rate.why === null ? [] : [rate.why]),
        tokens === null ? 'tokens unknown' : `${formatRate(tokens, 'tok/s')} out`,
      ].join('; '),
    })
  }
  if (goodput !== null && goodput.share !== null) {
    made.push({
      label: 'goodput',
      formula: `goodput = ok and within ${goodput.objective}, jointly, ÷ all attempts of the window`,
      value: `${goodput.lower_bound ? '≥ ' : ''}${formatPercent(goodput.share)}`,
      note: `${formatCount(goodput.good)} of ${formatCount(goodput.attempts)}`,
    })
  }
  return made
}

/** What a run is drawn by; null where there is nothing to draw. */
export interface RunFigures {
  readonly scatter: Figure | null
  readonly quantiles: Figure | null
  readonly ttft: Figure | null
  readonly tpot: Figure | null
}

export function runFigures(document: RunDocument, rows: Rows): RunFigures {
  const { window } = document
  const span = { startMs: window.start_ms, endMs: window.end_ms }
  const good = rows.filter((row) => row.outcome === 'ok' && isInWindow(row, span))
  const values = (value: (row: RequestRow) => number | null): number[] =>
    good.flatMap((row) => value(row) ?? [])
  const ttft = values((row) => row.ttft_ms)
  const tpot = values((row) => row.tpot_ms)
  const service = values((row) => (row.ttft_ms === null ? null : row.ttft_ms - (row.lag_ms ?? 0)))
  const asked = document.objectives.map(({ text }) => text)
  const limit = (metric: 'ttft' | 'tpot'): { readonly ms: number; readonly text: string } | null => {
    const found = limitOn(asked, metric)
    return found === null ? null : { ms: found.limitMs, text: `limit ${found.limitText}` }
  }
  const named = {
    ttft: { series: 'ttft', name: 'TTFT', formula: formulas.ttft_ms, values: ttft },
    tpot: { series: 'tpot', name: 'TPOT', formula: formulas.tpot_ms, values: tpot },
    e2e: { series: 'e2e', name: 'E2E', formula: formulas.e2e_ms, values: values((row) => row.e2e_ms) },
    service: {
      series: 'service',
      name: 'service TTFT',
      formula: formulas.service_ttft_ms,
      values: service,
      dashed: true,
    },
  } as const
  return {
    scatter: latencyScatter(rows, window),
    quantiles: quantileCurve([named.e2e, named.service, named.ttft, named.tpot]),
    ttft: histogram({ ...named.ttft, limit: limit('ttft') }),
    tpot: histogram({ ...named.tpot, limit: limit('tpot') }),
  }
}

function figureSections(document: RunDocument, rows: Rows, server: readonly ServerSample[]): string[] {
  const { scatter, quantiles, ttft, tpot } = runFigures(document, rows)
  const pair = [ttft, tpot].map((one) => figureSection(one))
  return [
    figureSection(scatter, 'each request at the moment it was meant to be sent'),
    figureSection(serverUseFigure(server, rows, document.window), scrapeNote(document)),
    figureSection(quantiles, 'over answered requests of the window'),
    pair.every((one) => one === '') ? '' : element('div', { class: 'pair' }, ...pair),
  ]
}

/** How far the server's figures may be off in time. */
function scrapeNote({ server }: RunDocument): string {
  const { p50 = null, max = null } = server?.scrape_ms ?? {}
  if (p50 === null || max === null) return 'by its own metrics'
  return `by its own metrics; a look took ${formatDuration(p50)} (most ${formatDuration(max)}), so its figures are from that much later at most`
}

function metricsTable({ metrics }: RunDocument): string {
  const names = shownMetrics(metrics)
  if (names.length === 0) return ''
  const keys = ['p50', 'p90', 'p95', 'p99', 'p99_9']
  return table(
    ['', 'n', ...keys.map((key) => percentileName(key)), 'max', 'mean'],
    names.map((name) => metricRow(name, metrics[name], keys)),
  )
}

function metricRow(name: MetricName, summary: MetricSummary | undefined, keys: readonly string[]): string[] {
  const head = formula(metricLabels[name] ?? name, formulas[name])
  if (summary === undefined || summary.n === 0) return [head, '0']
  const format = figureFormat(summary)
  const value = (ms: number | null): string => (ms === null ? '–' : words(figure(ms, format)))
  const cell = (key: string): string => {
    const ms = percentileOf(summary, key)
    const why = summary.why[key]
    if (summary.ci[key] !== undefined) return value(ms) + intervalSpan(summary, key, format)
    return why === undefined ? value(ms) : element('abbr', { title: why, tabindex: 0 }, value(ms))
  }
  return [head, words(formatCount(summary.n)), ...keys.map(cell), value(summary.max), value(summary.mean)]
}

const outcomeWords = {
  yes: ['good', 'kept'],
  no: ['bad', 'MISSED'],
  inconclusive: ['doubt', 'cannot tell'],
} as const

function objectives({ objectives: all }: RunDocument): string {
  const items = all.map(({ text, met, reason, judged }) => {
    const [style, word] = met === null ? ['quiet', 'unknown'] : outcomeWords[met]
    return `${words(text)}: ${element('span', { class: style }, word)}, ${words(reason)}${judged ? '' : ' (counted, never judged)'}`
  })
  return section('Objectives', list(items))
}

function footer(document: RunDocument): string {
  const facts = [
    `plimsoll ${document.plimsoll}`,
    `folder ${document.run}`,
    `seed ${document.seed}`,
    ...(document.salt === null ? [] : [`salt ${document.salt}`]),
    document.load.text,
  ]
  return element(
    'footer',
    {},
    words(facts.join(' · ')),
    '<br>',
    words(
      'Latencies count from the intended send. Hover a label for its formula, a point for its request. The document is in this file as JSON (id "document").',
    ),
  )
}
