import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
} from '../base/units.ts'
import type { SweepDocument, SweepLoad, SweepPoint, WallKind } from './documents.ts'
import { loadWords } from '../plan/sweep-schedule.ts'
import { isRefuted } from './operating-point.ts'
import { explainSweep, wallNames } from './explain.ts'
import { intervalSpan } from './html-interval.ts'
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
import { startedText } from './html-run.ts'
import { judgedTail, shownTail } from './judged-limits.ts'
import { figure, figureFormat, percentileName, percentileOf } from './metric-rows.ts'
import { sweepHeadline, sweepNextCommands, sweepStoppedLine } from './render-sweep.ts'
import { serverLine } from './run-lines.ts'
import type { Figure } from './svg-figure.ts'
import { element } from './svg-markup.ts'
import { formulas } from './svg-formulas.ts'
import { loadCurve, type JudgedTail } from './svg-load-curve.ts'
import { warningLine } from './warning-text.ts'

/** A sweep as one page: capacity and what binds it, the curve with its walls, the points, the working. */
export function sweepPage(document: SweepDocument): string {
  const tail = judgedTail(document.objective)
  return htmlPage({
    title: `${document.name}: ${sweepHeadline(document)}`,
    document,
    sections: [
      header(document),
      cards(headlineCards(document, tail)),
      figureSection(
        sweepFigure(document),
        'what lies left of every wall may be used; the mark stands at the capacity',
      ),
      section('Points', pointsTable(document)),
      section('Walls', wallList(document)),
      section(
        'To know',
        list(
          document.warnings.map((warning) => words(warningLine(warning))),
          'ol',
        ),
      ),
      folded('The working', explainSweep(document)),
      section('Next', commands(sweepNextCommands(document))),
      element(
        'footer',
        {},
        words(`plimsoll ${document.plimsoll} · folder ${document.sweep} · seed ${document.seed}`),
        '<br>',
        words(
          'Hover a label for its formula, a point for its figures. The document is in this file as JSON (id "document").',
        ),
      ),
    ],
  })
}

/** What a sweep is drawn by. */
export function sweepFigure(document: SweepDocument): Figure | null {
  return loadCurve(document, judgedTail(document.objective))
}

function header(document: SweepDocument): string {
  const { capacity, started_at: started, objective, target, workload } = document
  const [style, word] =
    capacity.load === null
      ? ['INVALID', 'NO CAPACITY']
      : capacity.indicative
        ? ['DEGRADED', 'INDICATIVE']
        : ['VALID', 'CAPACITY']
  const [answer = '', ...binds] = sweepHeadline(document).split(/(?<=\.) (?=[A-Z])/)
  return element(
    'header',
    {},
    element(
      'div',
      { class: 'brand' },
      element('span', {}, element('b', {}, 'plimsoll'), words(` sweep · ${document.name}`)),
      element('span', {}, words(started === null ? '' : startedText(started))),
    ),
    element('h1', {}, element('span', { class: `badge ${style}` }, word), words(answer)),
    element('p', { class: 'binds' }, words(binds.join(' '))),
    element(
      'p',
      { class: 'rests' },
      words(`${workload}${objective === null ? '' : ` · objective ${objective}`}`),
    ),
    element('p', { class: 'rests' }, words(serverLine(target))),
    ...sweepStoppedLine(document).map((line) => element('p', { class: 'rests' }, words(line))),
  )
}

function unitOf({ points }: SweepDocument): string {
  return points[0]?.load.kind === 'rate' ? 'req/s' : 'users'
}

function kindOf({ points }: SweepDocument): SweepLoad['kind'] {
  return points[0]?.load.kind ?? 'concurrency'
}

function headlineCards(document: SweepDocument, tail: JudgedTail): Card[] {
  const { capacity, operating_point: point, peak } = document
  const made: Card[] = []
  if (capacity.load !== null) {
    made.push({
      label: 'capacity',
      formula: 'capacity = largest tested load on or under every wall that was met',
      value: `${capacity.censored ? '≥ ' : ''}${loadWords({ kind: kindOf(document), value: capacity.load })}`,
      note: capacity.binding === null ? 'no wall was met' : `${wallNames[capacity.binding]} binds`,
    })
  }
  if (point !== null) {
    const missed = isRefuted(point)
    const sure = missed
      ? 'MISSED open loop: not to be used'
      : point.confirmed === true
        ? 'confirmed open loop'
        : 'not confirmed open loop'
    made.push({
      label: missed ? 'closed loop at capacity' : 'operating point',
      formula: 'the rate of these requests at the capacity; a Poisson run at that rate confirms it',
      value: formatRate(point.requests_per_s),
      note: sure,
    })
    if (point.output_tokens_per_s !== null)
      made.push({
        label: 'output there',
        value: formatRate(point.output_tokens_per_s, 'tok/s'),
        note: 'over all users',
      })
  }
  const at = document.points.find(({ load }) => load.value === capacity.load)?.metrics[tail.metric]
  const ms = at === undefined ? null : percentileOf(at, tail.key)
  if (ms !== null) {
    made.push({
      label: `${tail.metric.slice(0, -3).toUpperCase()} ${percentileName(tail.key)} there`,
      formula: formulas[tail.metric],
      value: formatDuration(ms),
      note: tail.limitMs === null ? 'no limit' : `limit ${formatDuration(tail.limitMs)}`,
    })
  }
  if (peak !== null)
    made.push({
      label: 'peak',
      formula: 'the best throughput of the sweep, whether or not it may be used',
      value: formatRate(peak.output_tokens_per_s, 'tok/s'),
      note: `at ${formatPlain(peak.load)} ${unitOf(document)}`,
    })
  return made
}

function pointsTable(document: SweepDocument): string {
  const tails = {
    tpot_ms: shownTail(document.objective, 'tpot'),
    ttft_ms: shownTail(document.objective, 'ttft'),
  }
  return table(
    [
      unitOf(document),
      formula('in flight', 'mean requests in flight over the window'),
      'tok/s',
      'req/s',
      formula(`TPOT ${percentileName(tails.tpot_ms)}`, formulas.tpot_ms),
      formula(`TTFT ${percentileName(tails.ttft_ms)}`, formulas.ttft_ms),
      'good',
      'objective',
      '',
    ],
    document.points.map((point) => pointRow(point, tails)),
  )
}

function pointRow(point: SweepPoint, tails: Readonly<Record<'tpot_ms' | 'ttft_ms', string>>): string[] {
  const { throughput, goodput, passes, suspect } = point
  const metric = (name: 'tpot_ms' | 'ttft_ms'): string => {
    const summary = point.metrics[name]
    const key = tails[name]
    const ms = summary === undefined ? null : percentileOf(summary, key)
    if (summary === undefined || ms === null) return '–'
    const format = figureFormat(summary, key)
    return words(figure(ms, format)) + intervalSpan(summary, key, format)
  }
  const judged =
    passes === null
      ? '–'
      : element(
          'span',
          { class: passes === 'yes' ? 'good' : passes === 'no' ? 'bad' : 'doubt' },
          passes === 'yes' ? 'kept' : passes === 'no' ? 'missed' : 'indicative',
        )
  const remarks = [...suspect, ...(point.stopped === null ? [] : [point.stopped])]
  return [
    words(formatPlain(point.load.value)),
    point.in_flight === null ? '–' : words(formatPlain(point.in_flight)),
    throughput.output_tokens_per_s === null ? '–' : words(formatNumber(throughput.output_tokens_per_s)),
    throughput.requests_per_s === null ? '–' : words(formatPlain(throughput.requests_per_s)),
    metric('tpot_ms'),
    metric('ttft_ms'),
    goodput === null || goodput.share === null
      ? '–'
      : words(`${goodput.lower_bound ? '≥ ' : ''}${formatPercent(goodput.share)}`),
    judged,
    element('span', { class: 'remark' }, words(remarks.join('; '))),
  ]
}

function wallList({ walls, operating_point: point }: SweepDocument): string {
  const kinds: readonly WallKind[] = ['slo', 'saturation', 'memory']
  const items = kinds.map((kind) => {
    const wall = walls[kind]
    const at = wall === null ? 'not met' : formatCount(wall.load)
    return `${element('b', {}, words(`${wallNames[kind]}: ${at}`))}, ${words(walls.why[kind])}`
  })
  const confirmation = point?.confirmation
  if (confirmation !== undefined && confirmation !== null)
    items.push(`${element('b', {}, 'confirmation')}: ${words(confirmation.text)}`)
  return list(items)
}
