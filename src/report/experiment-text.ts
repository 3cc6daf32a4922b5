import { noun } from '../base/noun.ts'
import { shellWord } from '../base/shell-words.ts'
import { decimalsFor, decimalsForError, formatCount, formatNumber } from '../base/units.ts'
import type {
  ExperimentCell,
  ExperimentDocument,
  ExperimentFigure,
  FigureOverRuns,
} from './experiment-document.ts'
import { commandLine } from './command-line.ts'
import { painter, type Paint, type RenderOptions, type Style } from './paint.ts'
import { printable } from './printable.ts'
import { savedWords } from './saved-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

const labels: Readonly<Record<ExperimentFigure, readonly [label: string, unit: string, scale: number]>> = {
  ttft_ms_p50: ['TTFT p50', 'ms', 1],
  ttft_ms_p99: ['TTFT p99', 'ms', 1],
  tpot_ms_p50: ['TPOT p50', 'ms', 1],
  tpot_ms_p99: ['TPOT p99', 'ms', 1],
  e2e_ms_p50: ['E2E p50', 'ms', 1],
  requests_per_s: ['requests', '/s', 1],
  output_tokens_per_s: ['output', 'tok/s', 1],
  goodput_share: ['good', '%', 100],
}
const columns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 1 },
  { align: 'left', gap: 3, headIfAny: true },
  { align: 'right', gap: 3, headIfAny: true },
  { align: 'left', gap: 3 },
]
const top: readonly Cell[] = ['', 'mean', '', '[95 %]', 'between runs'].map((text) => ({ text }))
const statusStyles: Readonly<Record<string, Style>> = { VALID: 'good', DEGRADED: 'doubtful', INVALID: 'bad' }

/** An experiment for the terminal: how many runs may be used, each figure with its interval over runs. Ends with a line break. */
export function renderExperiment(
  document: ExperimentDocument,
  options: Pick<RenderOptions, 'color' | 'isStored'>,
): string {
  const paint = painter(options.color)
  const { cells, complete } = document
  const lines = [headline(document, paint)]
  if (!complete) lines.push('  interrupted: runs are missing')
  for (const cell of cells) lines.push('', ...cellLines(cell, paint))
  lines.push(
    '',
    paint(
      'quiet',
      '  mean and 95 % interval over runs: mean ± t(0.975; n − 1) · s ÷ √n; the run is the unit, not the request',
    ),
    nextLine(document, options),
  )
  return `${lines.join('\n')}\n`
}

function nextLine(
  { cells, experiment }: ExperimentDocument,
  options: Pick<RenderOptions, 'isStored'>,
): string {
  const first = cells[0]?.runs[0]?.run
  // The shell finds the runs of a setting by their star, which no quotes may hide.
  const [one, other] = ['cell-1-', 'cell-2-'].map((start) => shellWord(printable(`${experiment}/${start}`)))
  return savedWords(experiment, options, [
    ...(first === undefined ? [] : [commandLine('show', `${experiment}/${first}`)]),
    ...(cells.length > 1 ? [`plimsoll compare ${one}* -- ${other}*`] : []),
  ]).join(' · ')
}

function headline({ cells, repeat }: ExperimentDocument, paint: Paint): string {
  const runs = cells.flatMap((cell) => cell.runs)
  const counts = (['VALID', 'DEGRADED', 'INVALID'] as const).flatMap((status) => {
    const count = runs.filter(({ verdict }) => verdict.status === status).length
    return count === 0 ? [] : [paint(statusStyles[status] ?? 'quiet', `${formatCount(count)} ${status}`)]
  })
  const missed = runs.filter(({ objectives }) =>
    objectives.some((one) => one.judged && one.met === 'no'),
  ).length
  const asked = runs.some(({ objectives }) => objectives.some((one) => one.judged))
  const kept = asked
    ? ` · objective missed in ${formatCount(missed)} of ${formatCount(runs.length)} ${noun(runs.length, 'run')}`
    : ''
  const what = cells.length > 1 ? `${formatCount(cells.length)} settings × ${formatCount(repeat)}` : ''
  return `${formatCount(runs.length)} ${noun(runs.length, 'run')}${what === '' ? '' : ` (${what})`}: ${counts.join(', ')}${kept}`
}

function cellLines({ settings, figures, runs }: ExperimentCell, paint: Paint): string[] {
  const said = Object.entries(settings).map(([flag, value]) => printable(`--${flag} ${value}`))
  const left = runs.filter(({ verdict }) => verdict.status === 'INVALID').length
  const head = [
    ...(said.length === 0 ? [] : [paint('strong', `  ${said.join(' ')}`)]),
    ...(runs.length - left === 1 ? ['  one run has no spread between runs: no interval'] : []),
    ...(left === 0 ? [] : [`  ${formatCount(left)} INVALID ${noun(left, 'run is', 'runs are')} left out`]),
  ]
  const rows = (Object.keys(labels) as ExperimentFigure[])
    .filter((name) => figures[name].mean !== null)
    .map((name) => figureRow(name, figures[name]))
  return rows.length === 0
    ? [...head, '  no run may be used']
    : [...head, ...textTable(columns, [top, ...rows], paint)]
}

function figureRow(name: ExperimentFigure, { mean, sd, low, high, n }: FigureOverRuns): Cell[] {
  const [label, unit, scale] = labels[name]
  const value = (mean ?? 0) * scale
  const half = low === null || high === null ? 0 : ((high - low) / 2) * scale
  const decimals = half > 0 ? Math.min(decimalsForError(half), decimalsFor(value) + 1) : decimalsFor(value)
  const of = (one: number): string => formatNumber(one * scale, decimals)
  const spread = sd === null || value === 0 ? '' : `cv ${formatNumber((100 * sd * scale) / value, 1)} %`
  return [
    { text: label },
    { text: formatNumber(value, decimals) },
    { text: unit },
    { text: low === null || high === null ? '' : `[${of(low)}, ${of(high)}]` },
    { text: spread },
    { text: `n = ${formatCount(n)}` },
  ]
}
