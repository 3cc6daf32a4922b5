import {
  decimalsFor,
  formatCount,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import type { Warning } from '../base/warnings.ts'
import type { RunDocument } from './documents.ts'
import { explainRun } from './explain.ts'
import { footnotes, type Footnotes } from './footnotes.ts'
import { figure, figureFormat, metricTable } from './metric-rows.ts'
import { painter, type Paint, type RenderOptions, type Style } from './paint.ts'
import {
  countsLine,
  goodputLines,
  instrumentLine,
  littleLine,
  objectiveLines,
  throughputLine,
} from './run-lines.ts'
import { textTable } from './text-table.ts'
import { warningLine, warningTexts, type Anchor } from './warning-text.ts'

const verdictStyles: Readonly<Record<RunDocument['verdict']['status'], Style>> = {
  VALID: 'good',
  DEGRADED: 'doubtful',
  INVALID: 'bad',
}

/** A run for the terminal: the answer, what it rests on, footnotes, and the next command. Ends with a line break. */
export function renderRun(document: RunDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const marksAt = anchoredMarks(document.warnings, notes)
  const at = (anchor: Anchor): string => (marksAt.has(anchor) ? ` ${marksAt.get(anchor)!}` : '')
  const table = metricTable(document, notes, {
    ...(marksAt.has('ttft') ? { ttft_ms: marksAt.get('ttft')! } : {}),
    ...(marksAt.has('tpot') ? { tpot_ms: marksAt.get('tpot')! } : {}),
    ...(marksAt.has('gaps') ? { gaps_ms: marksAt.get('gaps')! } : {}),
  })
  const lines = [
    headline(document, paint) + at('headline'),
    ...document.verdict.reasons.map(
      ({ message, status }) => `  ${paint(verdictStyles[status], status)} because ${message}`,
    ),
    ...(document.stopped === null ? [] : [`  ended before its plan: ${document.stopped.why}`]),
    paint('quiet', `  ${loadLine(document)}`) + at('load'),
    '',
    ...textTable(table.columns, table.rows, paint),
    '',
    ...weightingLine(document, at('weighting')),
    `  ${throughputLine(document)}`,
    `  ${countsLine(document)}${at('counts')}`,
    ...goodputLines(document).map((line) => `  ${line}${at('goodput')}`),
    ...objectiveLines(document, paint).map((line) => `  ${line}`),
    ...littleLine(document).map((line) => `  ${line}${at('little')}`),
    `  ${instrumentLine(document)}${at('instrument')}`,
    ...(options.explain ? ['', ...explainRun(document)] : []),
    ...(notes.lines().length === 0 ? [] : ['', ...notes.lines().map((line) => paint('quiet', line))]),
    nextLine(document, options),
  ]
  return `${lines.join('\n')}\n`
}

/** Marks of the warnings by the line at which they stand. */
function anchoredMarks(warnings: readonly Warning[], notes: Footnotes): ReadonlyMap<Anchor, string> {
  const marks = new Map<Anchor, string>()
  const order: readonly Anchor[] = [
    'headline',
    'load',
    'ttft',
    'tpot',
    'gaps',
    'weighting',
    'counts',
    'goodput',
    'little',
    'instrument',
  ]
  for (const anchor of order) {
    const own = warnings.filter(({ kind }) => warningTexts[kind].anchor === anchor)
    if (own.length > 0) marks.set(anchor, own.map((warning) => notes.mark(warningLine(warning))).join(' '))
  }
  return marks
}

function headline(document: RunDocument, paint: Paint): string {
  const { status } = document.verdict
  return `${paint(verdictStyles[status], status)} · ${document.counts.ok === 0 ? 'no request succeeded' : answer(document)}`
}

/** The one thing that was asked: goodput where there is an objective, else rate and tail. */
function answer(document: RunDocument): string {
  const { goodput, throughput, metrics } = document
  if (goodput !== null && goodput.per_s !== null && goodput.share !== null && throughput.window_s > 0) {
    const offered = goodput.attempts / throughput.window_s
    const decimals = decimalsFor(offered, 2)
    return `goodput ${formatNumber(goodput.per_s, decimals)} req/s of ${formatNumber(offered, decimals)} offered (${formatPercent(goodput.share)})`
  }
  const parts = [throughput.requests_per_s === null ? null : formatRate(throughput.requests_per_s)]
  for (const [label, summary] of [
    ['TTFT', metrics.ttft_ms],
    ['TPOT', metrics.tpot_ms],
  ] as const) {
    if (summary === undefined || summary.n === 0) continue
    const [name, value] = summary.p99 === null ? ['p50', summary.p50] : ['p99', summary.p99]
    if (value !== null) parts.push(`${label} ${name} ${figure(value, figureFormat(summary))}`)
  }
  return parts.filter((part) => part !== null).join(' · ')
}

function loadLine({ load, window, workload, target }: RunDocument): string {
  const limit =
    load.open_loop && load.connection_limit !== null
      ? `, over ${formatCount(load.connection_limit)} connections`
      : ''
  const loop = load.open_loop ? 'open loop' : 'closed loop: it cannot show overload'
  const server = target.embedded ? 'the embedded engine' : target.url
  const model = target.model === null ? '' : ` · ${target.model}`
  const engine = target.engine === null || target.embedded ? '' : ` (${target.engine})`
  const warmup = window.warmup_s > 0 ? ` after ${formatSpan(window.warmup_s * 1000)} of warm-up` : ''
  return `${load.text}${limit} (${loop}) for ${formatSpan(window.measure_s * 1000)}${warmup} · ${workload} · ${target.api}${model} at ${server}${engine}`
}

function weightingLine({ weighting, metrics }: RunDocument, marks: string): string[] {
  const { per_request: user, per_token: token } = weighting
  if (user === null || token === null || metrics.tpot_ms === undefined) return []
  const format = figureFormat(metrics.tpot_ms)
  return [
    `  TPOT for a typical user ${figure(user, format)}, for a typical token ${figure(token, format)}${marks}`,
  ]
}

/** Where it is kept, and what to do now. */
function nextLine(document: RunDocument, { explain }: RenderOptions): string {
  const { run, load, throughput, verdict } = document
  const next = [`saved ${run}`]
  if (!explain) next.push(`plimsoll show ${run} --explain`)
  if (verdict.status === 'VALID' && load.open_loop)
    next.push(`plimsoll sweep${document.target.embedded ? '' : ` --url ${document.target.url}`}`)
  else if (!load.open_loop && throughput.requests_per_s !== null && throughput.requests_per_s > 0) {
    next.push(
      `plimsoll run --request-rate ${formatPlain(throughput.requests_per_s)} … shows what users who do not wait would see`,
    )
  }
  next.push(`plimsoll export ${run} --format csv`)
  return next.join(' · ')
}
