import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
  timeScale,
} from '../base/units.ts'
import { shellWord } from '../base/shell-words.ts'
import { isClientBound } from '../judge/verdict.ts'
import { commandLine, planCommand } from './command-line.ts'
import { coverageNote } from './coverage-note.ts'
import { loadWords } from '../plan/sweep-schedule.ts'
import { isRefuted } from './operating-point.ts'
import type { SweepDocument, SweepPoint, WallKind } from './documents.ts'
import { explainSweep, wallNames } from './explain.ts'
import { failureLines, failureShares, failureWords } from './failure-words.ts'
import { footnotes } from './footnotes.ts'
import { judgedLimits, judgedTail, shownTail } from './judged-limits.ts'
import {
  figure,
  figureFormat,
  intervalText,
  percentileName,
  percentileOf,
  type FigureFormat,
} from './metric-rows.ts'
import { commandsToLookCloser } from './look-closer.ts'
import { painter, type Paint, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { bar } from './render-progress.ts'
import { sameAgain, stoppedLine } from './render-run.ts'
import { objectiveLines, serverLine, tagsLine } from './run-lines.ts'
import { savedReport } from './saved-words.ts'
import { ornament, textTable, type Cell, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

const barWidth = 10

/** What is judged stands at any width; of the rest a narrow terminal leaves out first what tells least of the walls. */
function columnsOf(objective: string | null): readonly Column[] {
  const isTtft = judgedTail(objective).metric === 'ttft_ms'
  const ofShare = judgedLimits(objective).each.length > 0
  return [
    { align: 'left', gap: 1 },
    { align: 'right', gap: 1 },
    { align: 'right', gap: 3, leaves: 4 },
    { align: 'right', gap: 3 },
    { align: 'right', gap: 4, leaves: isTtft ? 2 : 0 },
    { align: 'left', gap: 1, headIfAny: true, leaves: isTtft ? 2 : 1 },
    { align: 'right', gap: 4, leaves: isTtft ? 0 : 2 },
    { align: 'right', gap: 2, headIfAny: true, leaves: ofShare ? 0 : 3 },
    { align: 'left', gap: 1, leaves: ornament },
    { align: 'left', gap: 1, wraps: true },
  ]
}

/** A sweep for the terminal: the curve, the capacity and what binds it, the operating point. Ends with a line break. */
export function renderSweep(document: SweepDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const { points, objective } = document
  // The table shows what is judged.
  const tpotTail = shownTail(objective, 'tpot')
  const ttftTail = shownTail(objective, 'ttft')
  const unit = points[0]?.load.kind === 'rate' ? 'req/s' : 'users'
  const tpot = tailColumn(points, 'tpot_ms', tpotTail)
  const ttft = tailColumn(points, 'ttft_ms', ttftTail)
  const worth = coverageNote(
    points.map(({ metrics }) => metrics.tpot_ms),
    [tpotTail],
  )
  const head: Cell[] = [
    { text: '' },
    { text: unit },
    { text: 'in flight' },
    { text: 'tok/s' },
    { text: `TPOT ${percentileName(tpotTail)}, ${tpot.unit}` },
    { text: '[95 %]', note: worth },
    { text: `TTFT ${percentileName(ttftTail)}, ${ttft.unit}` },
    { text: 'good' },
  ]
  const best = Math.max(0, ...points.map((point) => point.throughput.output_tokens_per_s ?? 0))
  const rows = points.map((point, at) => pointRow(point, document, { at, tpot, ttft, best }))
  const place = { columns: options.columns ?? null, notes }
  const table = textTable(columnsOf(objective), [head, ...rows, ...memoryRow(document)], paint, place)
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning))).join(' ')
  const lines = [
    paint(
      'quiet',
      `  ${printable(document.workload)}${objective === null ? '' : ` · objective ${objective}`}`,
    ),
    paint('quiet', `  ${serverLine(document.target)}`),
    ...tagsLine(document).map((line) => paint('quiet', `  ${line}`)),
    '',
    ...table,
    '',
    ...sweepStoppedLine(document),
    capacityLine(document, paint) + (marks === '' ? '' : ` ${marks}`),
    ...operatingLines(document, paint).map((line) => `  ${line}`),
    ...(options.explain ? ['', ...explainSweep(document)] : wallLines(document).map((line) => `  ${line}`)),
    ...failureLines(document.points).map((line) => `  ${line}`),
    ...(notes.lines().length === 0 ? [] : ['', ...notes.lines().map((line) => paint('quiet', line))]),
    nextLine(document, options),
  ]
  return `${lines.join('\n')}\n`
}

/** Why the sweep is not complete, in a line; none for one that is. Earlier versions wrote nothing into a sweep that was killed. */
export function sweepStoppedLine({ stopped, complete, sweep }: SweepDocument): readonly string[] {
  if (stopped !== null) return [stoppedLine(stopped)]
  if (complete) return []
  const why = `cut off, unless it still runs; the same flags and --resume ${shellWord(sweep)} go on`
  return [stoppedLine({ kind: 'killed', why })]
}

interface RowContext {
  readonly at: number
  readonly tpot: TailColumn
  readonly ttft: TailColumn
  readonly best: number
}

function pointRow(point: SweepPoint, document: SweepDocument, { at, tpot, ttft, best }: RowContext): Cell[] {
  const tokens = point.throughput.output_tokens_per_s
  const { capacity } = document
  const chosen = capacity.load !== null && point.load.value === capacity.load
  const goodShare = point.goodput?.share
  const suspect = point.suspect.length > 0 || point.verdict.status === 'INVALID'
  const why =
    point.suspect.length > 0
      ? point.suspect.join('; ')
      : point.verdict.reasons.map(({ message }) => message).join('; ')
  return [
    { text: chosen ? '▸' : '', style: 'good' },
    {
      text: formatPlain(point.load.value),
      note: suspect ? `${isUsed(point) ? 'suspect' : 'not used'}: ${why}` : null,
    },
    { text: point.in_flight === null ? '–' : formatPlain(point.in_flight) },
    { text: tokens === null ? '–' : formatNumber(tokens) },
    { text: tpot.texts[at]!, ...(point.passes === 'no' ? { style: 'bad' as const } : {}) },
    { text: tpot.intervals[at]! },
    { text: ttft.texts[at]! },
    {
      text:
        goodShare === undefined || goodShare === null
          ? ''
          : `${point.goodput?.lower_bound === true ? '≥' : ''}${formatPercent(goodShare)}`,
    },
    { text: tokens === null || best === 0 ? '' : bar(tokens / best, barWidth).trimEnd() },
    { text: [pointWord(point, document), point.stopped ?? ''].filter((word) => word !== '').join('; ') },
  ]
}

/** The walls leave out the points whose numbers the client set; the other suspects are used, with the reservation. */
function isUsed({ verdict }: SweepPoint): boolean {
  return !isClientBound(verdict)
}

type TailMetric = 'tpot_ms' | 'ttft_ms'

/** The tail of one metric, point by point: figures in one unit, each with the digits that its error leaves, points under points. */
interface TailColumn {
  readonly unit: string
  readonly texts: readonly string[]
  readonly intervals: readonly string[]
}

function tailColumn(points: readonly SweepPoint[], name: TailMetric, tail: string): TailColumn {
  const summaries = points.map(({ metrics }) => metrics[name])
  const values = summaries.map((summary) => (summary === undefined ? null : percentileOf(summary, tail)))
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  const scale = timeScale(known[known.length >> 1] ?? 0)
  const formats = summaries.map((summary): FigureFormat => {
    if (summary === undefined) return { scale, decimals: 0 }
    const own = figureFormat(summary, tail)
    return { scale, decimals: Math.max(0, own.decimals + Math.round(Math.log10(scale.ms / own.scale.ms))) }
  })
  const most = Math.max(0, ...formats.map(({ decimals }) => decimals))
  const behind = (decimals: number): string =>
    ' '.repeat(decimals === 0 ? (most === 0 ? 0 : most + 1) : most - decimals)
  return {
    unit: scale.unit,
    texts: values.map((value, at) => {
      const format = formats[at]!
      return value === null ? '–' : figure(value, format, false) + behind(format.decimals)
    }),
    intervals: summaries.map((summary, at) => {
      const interval = summary?.ci[tail]
      return interval === undefined ? '' : intervalText(interval, formats[at]!)
    }),
  }
}

/** The walls that stand at a point, in words. */
function pointWord(point: SweepPoint, { walls, peak }: SweepDocument): string {
  const words: string[] = []
  const at = point.load.value
  if (walls.slo?.load === at) words.push(walls.slo.indicative ? 'SLO wall (indicative)' : 'SLO wall')
  if (walls.saturation?.load === at) {
    words.push(`saturation wall: the first with ${formatPercent(walls.saturation.share_of_best)} of the best`)
  }
  if (peak?.load === at)
    words.push(point.passes === 'no' ? 'the peak, which fails the objective' : 'the peak')
  else if (point.passes === 'no') words.push('fails')
  const failures = failureWords(failureShares([point]))
  if (failures !== null) words.push(failures)
  return words.join('; ')
}

function memoryRow({ walls, points }: SweepDocument): Cell[][] {
  const { memory } = walls
  if (memory === null || points[0]?.load.kind === 'rate') return []
  const word = `memory wall: ${formatCount(memory.kv_tokens)} KV tokens ÷ ${formatCount(memory.tokens_per_request)} a request`
  const blank: Cell = { text: '–' }
  return [
    [
      { text: '' },
      { text: formatCount(memory.load) },
      blank,
      blank,
      blank,
      { text: '' },
      blank,
      { text: '' },
      { text: '' },
      { text: word },
    ],
  ]
}

const bindingWords: Readonly<Record<WallKind, string>> = {
  saturation: 'Saturation binds: more load is only more wait.',
  slo: 'The SLO binds.',
  memory: 'Memory binds: more requests do not fit the KV pool.',
}

function capacityLine(document: SweepDocument, paint: Paint): string {
  const { capacity, peak, points } = document
  const kind = points[0]?.load.kind ?? 'concurrency'
  const throughput = points.find(({ load }) => load.value === capacity.load)?.throughput
  if (capacity.load === null) return `${paint('bad', 'Capacity: none.')} ${sentence(capacity.why)}`
  const load = `${capacity.censored ? 'at least ' : ''}${loadWords({ kind, value: capacity.load })}`
  const facts = [paint('strong', `Capacity: ${load}`)]
  const tokens = throughput?.output_tokens_per_s ?? null
  const requests = throughput?.requests_per_s ?? null
  if (tokens !== null) facts.push(formatRate(tokens, 'tok/s'))
  if (requests !== null) facts.push(`${formatRate(requests)} of these requests`)
  const binds = capacity.binding === null ? sentence(capacity.why) : bindingWords[capacity.binding]
  const unsure = capacity.indicative ? ' Indicative: too few samples to show it.' : ''
  const more =
    peak !== null && tokens !== null && peak.output_tokens_per_s > tokens * 1.005
      ? ` The peak is ${formatRate(peak.output_tokens_per_s, 'tok/s')}, ${formatPercent(peak.output_tokens_per_s / tokens - 1)} more, beyond what may be used.`
      : ''
  return `${facts.join(', ')}. ${binds}${unsure}${openLoopWord(document, paint)}${more}`
}

/** Users who wait for their answers are gentler than arrivals: where no run of those kept the objective, a capacity is not what it seems. */
function openLoopWord({ operating_point: point }: SweepDocument, paint: Paint): string {
  if (point === null || point.confirmation === null || point.confirmed === true) return ''
  return isRefuted(point)
    ? ` ${paint('bad', 'Open loop it does not hold: no operating point was found.')}`
    : ' Open loop it is not shown yet.'
}

/** A clause as a sentence of its own. */
function sentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1) + (/[.!?]$/.test(clause) ? '' : '.')
}

function operatingLines({ operating_point: point, capacity }: SweepDocument, paint: Paint): string[] {
  if (point === null) return []
  const { confirmation, confirmed } = point
  const missed = isRefuted(point)
  const tokens =
    point.output_tokens_per_s === null ? '' : `, ${formatRate(point.output_tokens_per_s, 'tok/s')}`
  const lower =
    point.load.value === capacity.load || point.load.kind === 'rate'
      ? ''
      : `, the rate of ${formatPlain(point.load.value)} ${noun(point.load.value, 'user')}`
  const name = missed
    ? 'tried open loop'
    : confirmation === null || confirmed === true
      ? 'operating point'
      : 'operating point, not yet shown'
  const first = `${name}: ${formatRate(point.requests_per_s)}${tokens}${lower}`
  if (confirmation === null) return [`${first}; not confirmed open loop: read it as indicative`]
  const unsure = !missed && confirmation.objectives.length > 0
  const word =
    confirmed === true
      ? paint('good', 'confirmed open loop')
      : unsure
        ? paint('doubtful', 'not yet confirmed open loop')
        : paint('bad', 'NOT confirmed open loop')
  const good =
    confirmation.goodput_share === null ? '' : `, goodput ${formatPercent(confirmation.goodput_share)}`
  return [
    first,
    `${word}: ${confirmation.text}${good}`,
    ...objectiveLines(confirmation, paint).map((line) => `  ${line}`),
  ]
}

/** Where each wall stands or why it was not met, and the least of them. */
function wallLines({ walls, capacity }: SweepDocument): string[] {
  const kinds = ['saturation', 'slo', 'memory'] as const
  const reached = kinds.flatMap((kind) =>
    walls[kind] === null ? [] : [`${wallNames[kind]} ${formatPlain(walls[kind].load)}`],
  )
  const missing = kinds
    // What stands at the capacity is not said again.
    .filter((kind) => walls[kind] === null && walls.why[kind] !== capacity.why)
    .map((kind) => `no ${wallNames[kind]} wall: ${walls.why[kind]}`)
  const least =
    reached.length > 0 && capacity.load !== null
      ? [`min(${reached.join(', ')}) → ${formatPlain(capacity.load)}`]
      : []
  return [...least, ...missing]
}

function nextLine(document: SweepDocument, options: RenderOptions): string {
  return [...savedReport(document.sweep, options), ...sweepNextCommands(document)].join(' · ')
}

/** The command lines to go on with. */
export function sweepNextCommands(document: SweepDocument): string[] {
  const { operating_point: point, target, sweep, repeat } = document
  if (point === null) return commandsToLookCloser(sweep, document.points[0], target, repeat)
  const plan = planCommand([sweep], point.requests_per_s)
  if (point.confirmed === true) return [plan]
  if (repeat === null) return []
  // What missed its objective is not run for longer: another rate is looked for.
  if (isRefuted(point)) return [commandLine('find', ...sameAgain(target, repeat))]
  const rate = ['--request-rate', formatPlain(point.requests_per_s), '--duration', '15m']
  return [commandLine('run', ...sameAgain(target, repeat), ...rate)]
}

/** The capacity in a sentence, without colour. */
export function sweepHeadline(document: SweepDocument): string {
  return capacityLine(document, (_, text) => text).replace(/^Capacity: /, '')
}
