import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPlain } from '../base/units.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { WindowFacts } from './documents.ts'
import {
  axes,
  cross,
  legend,
  type Figure,
  type LegendEntry,
  type Plot,
  type SeriesName,
} from './svg-figure.ts'
import { coordinate, element, escapeMarkup } from './svg-markup.ts'
import { formulas } from './svg-formulas.ts'
import { outsideWindow, timeScale, type RunSpan } from './svg-run-time.ts'
import { logBounds, logScale, tickTime, type Scale } from './svg-scale.ts'

const width = 960
const height = 340
const plot: Plot = { left: 66, right: 946, top: 44, bottom: 290 }
/** So many requests have a circle each, with its words on hovering; more are drawn as the cells of a grid that they touch. */
const mostCircles = 1200
const cell = 3

/** Each request at its intended send: TTFT and E2E on one logarithmic axis, what failed at the top. Warm-up and drain are shaded. */
export function latencyScatter(rows: Rows, window: WindowFacts): Figure | null {
  const planned = rows.filter((row) => row.planned_ms !== null)
  const answered = planned.filter((row) => row.outcome === 'ok' && row.ttft_ms !== null)
  const lost = planned.filter((row) => row.outcome !== 'ok')
  if (planned.length === 0 || (answered.length === 0 && lost.length === 0)) return null
  const bounds = logBounds(latencies(answered))
  const span: RunSpan = { rows: planned, window }
  const x = timeScale(span, plot)
  const y = logScale({ ...bounds, from: plot.bottom, to: plot.top + 14, format: tickTime })
  const entries: LegendEntry[] = [
    { series: 'ttft', text: 'TTFT', mark: 'dot', title: formulas.ttft_ms },
    { series: 'e2e', text: 'E2E', mark: 'dot', title: formulas.e2e_ms },
  ]
  if (lost.length > 0) entries.push({ series: 'bad', text: 'not answered', mark: 'cross' })
  const body = [
    outsideWindow(x, span, plot),
    axes(plot, { x, y, xWords: 'intended send, seconds of the run', yWords: 'latency (log)' }),
    marks('e2e', answered, x, y, (row) => row.e2e_ms),
    marks('ttft', answered, x, y, (row) => row.ttft_ms),
    ...lost
      .slice(0, mostCircles)
      .map((row) =>
        element(
          'g',
          { class: 's-bad' },
          element('title', {}, escapeMarkup(`${row.id}: ${row.error_kind ?? row.outcome}`)),
          cross(x.at((row.planned_ms ?? 0) / 1000), plot.top + 4),
        ),
      ),
    legend(plot, entries),
  ].join('')
  return {
    title: 'Latency over the run',
    width,
    height,
    body,
    says: `${formatCount(answered.length)} answered ${noun(answered.length, 'request')} by intended send${lost.length > 0 ? `, ${formatCount(lost.length)} not answered at the top` : ''}`,
  }
}

function* latencies(rows: Rows): Generator<number> {
  for (const row of rows) {
    if (row.ttft_ms !== null) yield row.ttft_ms
    if (row.e2e_ms !== null) yield row.e2e_ms
  }
}

function marks(
  series: SeriesName,
  rows: Rows,
  x: Scale,
  y: Scale,
  value: (row: RequestRow) => number | null,
): string {
  const cells = new Map<string, string>()
  const circles: string[] = []
  for (const row of rows) {
    const ms = value(row)
    if (ms === null || row.planned_ms === null) continue
    const left = x.at(row.planned_ms / 1000)
    const top = y.at(ms)
    if (rows.length > mostCircles) {
      const at = `M${Math.round(left / cell) * cell} ${Math.round(top / cell) * cell}h0`
      cells.set(at, at)
      continue
    }
    const said = `${row.id} at ${formatPlain(row.planned_ms / 1000, 4)} s: TTFT ${time(row.ttft_ms)}, E2E ${time(row.e2e_ms)}, TPOT ${time(row.tpot_ms)}, ${row.completion_tokens === null ? 'tokens unknown' : `${formatCount(row.completion_tokens)} ${noun(row.completion_tokens, 'token')}`}`
    circles.push(
      `<circle class="dot" cx="${coordinate(left)}" cy="${coordinate(top)}" r="2.6"><title>${escapeMarkup(said)}</title></circle>`,
    )
  }
  const body =
    cells.size > 0 ? element('path', { class: 'dots', d: [...cells.values()].join('') }) : circles.join('')
  return element('g', { class: `s-${series}` }, body)
}

function time(ms: number | null): string {
  return ms === null ? 'unknown' : formatDuration(ms)
}
