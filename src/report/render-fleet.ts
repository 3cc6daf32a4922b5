import { noun } from '../base/noun.ts'
import { formatCount, formatDuration } from '../base/units.ts'
import { commandLine } from './command-line.ts'
import type { FleetDocument, FleetFigure, FleetFigurePercentile, FleetSource } from './fleet-document.ts'
import { footnotes } from './footnotes.ts'
import { percentileName } from './metric-rows.ts'
import { painter, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { textTable, type Cell, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

const methodWords = {
  requests: 'exact: their requests in one list, by nearest rank',
  sketches: 'from sketches, within their accuracy',
  classic_histogram: 'from their histograms, added bucket by bucket',
  native_histogram: 'from native histograms, added bucket by bucket',
  quantiles: 'bounds: all that quantiles of each can say',
} as const

/** Several replicas as one fleet, for the terminal. Ends with a line break. */
export function renderFleet(document: FleetDocument, options: Pick<RenderOptions, 'color'>): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const keys = Object.keys(document.figures[0]?.percentiles ?? {})
  const method = Object.values(document.figures[0]?.percentiles ?? {})[0]?.method
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning)))
  const head: Cell[] = [
    { text: '' },
    { text: 'n' },
    ...keys.flatMap((key): Cell[] => [{ text: percentileName(key) }, { text: 'each alone' }]),
  ]
  const rows = document.figures.map((figure): Cell[] => [
    { text: printable(figure.label) },
    { text: figure.n === null ? '–' : formatCount(figure.n) },
    ...keys.flatMap((key): Cell[] => [
      { text: together(figure, key), style: 'strong' },
      { text: alone(figure.percentiles[key]), style: 'quiet' },
    ]),
  ])
  const columns: Column[] = [
    { align: 'left', gap: 2 },
    { align: 'right', gap: 3 },
    ...keys.flatMap((): Column[] => [
      { align: 'right', gap: 3 },
      { align: 'left', gap: 2, headIfAny: true },
    ]),
  ]
  const lines = [
    `${formatCount(document.sources.length)} ${noun(document.sources.length, 'replica')} as one fleet, ${method === undefined ? 'nothing to put together' : methodWords[method]}${marks.length > 0 ? ` ${marks.join(' ')}` : ''}`,
    '',
    ...textTable(columns, [head, ...rows], paint),
    '',
    ...document.sources.map(({ path, n, kind }) =>
      paint(
        'quiet',
        `  ${printable(path)}: ${n === null ? kind : `${formatCount(n)} ${kind === 'scrape' || kind === 'native' ? 'observations' : 'requests'}`}`,
      ),
    ),
  ]
  if (notes.lines().length > 0) lines.push('', ...notes.lines().map((line) => paint('quiet', line)))
  lines.push(commandLine('show', ...new Set(document.sources.map(fileOf)), '--as-fleet', '--json'))
  return `${lines.join('\n')}\n`
}

/** Series of one answer of Prometheus are called by file and labels. */
function fileOf({ kind, path }: FleetSource): string {
  return kind === 'native' ? path.replace(/\{[^{}]*\}$/, '') : path
}

function together(figure: FleetFigure, key: string): string {
  const found = figure.percentiles[key]
  if (found === undefined) return '–'
  const { value, low, high } = found
  const bound = (ms: number | null): string => (ms === null ? '?' : formatDuration(ms))
  if (value === null) return low === null && high === null ? '–' : `${bound(low)} to ${bound(high)}`
  if (low === high) return formatDuration(value)
  return high === null
    ? `over ${formatDuration(value)}`
    : `${formatDuration(value)} (${bound(low)}–${bound(high)})`
}

function alone(found: FleetFigurePercentile | undefined): string {
  const known = (found?.each ?? []).filter((value) => value !== null)
  if (known.length === 0) return ''
  const [least, most] = [formatDuration(Math.min(...known)), formatDuration(Math.max(...known))]
  return least === most ? `(${least})` : `(${least}…${most})`
}
