import { formatCount, formatDuration } from '../base/units.ts'
import { sortAscending } from '../stats/percentile.ts'
import { axes, legend, type Figure, type LegendEntry, type Plot, type SeriesName } from './svg-figure.ts'
import { coordinate, element, escapeMarkup, label, polyline } from './svg-markup.ts'
import { logBounds, logScale, tickTime, type Scale } from './svg-scale.ts'

/** Values of one metric, ms, in any order. */
export interface QuantileSeries {
  readonly series: SeriesName
  readonly name: string
  readonly formula: string
  readonly values: readonly number[]
  readonly dashed?: boolean
}

const width = 960
const height = 340
const plot: Plot = { left: 66, right: 946, top: 44, bottom: 290 }
const levels = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999] as const

/**
 * Every quantile at once: the level against the value, the tail stretched so that each further nine has the same room
 * (x = −log10(1 − p)). Steps at the ranks, nothing smoothed. Where fewer than 10 values lie beyond, the ground is shaded: there
 * the curve is mostly chance.
 */
export function quantileCurve(all: readonly QuantileSeries[]): Figure | null {
  const series = all.filter(({ values }) => values.length >= 2)
  const most = Math.max(0, ...series.map(({ values }) => values.length))
  if (most === 0) return null
  const highest = Math.log10(most) + 0.12
  const place = (nines: number): number => plot.left + (nines / highest) * (plot.right - plot.left)
  const ticks = levels
    .map((level) => ({ value: -Math.log10(1 - level), level }))
    .filter(({ value }) => value <= highest)
    .map(({ value, level }) => ({
      value,
      label: level === 0 ? 'min' : `p${String(Number((level * 100).toFixed(3)))}`,
    }))
  const x: Scale = { at: place, ticks, low: 0, high: highest }
  const y = logScale({
    ...logBounds(series.flatMap(({ values }) => [least(values), greatest(values)])),
    from: plot.bottom,
    to: plot.top,
    format: tickTime,
  })
  const chance = Math.max(0, Math.log10(most / 10))
  const entries = series.map(({ series: key, name, formula, dashed }): LegendEntry => {
    return { series: key, text: name, mark: dashed === true ? 'dashes' : 'line', title: formula }
  })
  const body = [
    element(
      'g',
      {},
      element('rect', {
        class: 'outside',
        x: place(chance),
        y: plot.top,
        width: plot.right - place(chance),
        height: plot.bottom - plot.top,
      }),
      label('fewer than 10 beyond: mostly chance', {
        class: 'mark',
        x: plot.right - 8,
        y: plot.top + 16,
        'text-anchor': 'end',
      }),
    ),
    axes(plot, { x, y, xWords: 'percentile, each nine with the same room', yWords: 'latency (log)' }),
    ...series.map((one) => curve(one, x, y)),
    legend(plot, entries),
  ].join('')
  return {
    title: 'Every percentile',
    width,
    height,
    body,
    says: `quantiles of ${series.map(({ name, values }) => `${name} over ${formatCount(values.length)}`).join(', ')}`,
  }
}

function least(values: readonly number[]): number {
  return values.reduce((low, value) => (value > 0 && value < low ? value : low), Number.POSITIVE_INFINITY)
}

function greatest(values: readonly number[]): number {
  return values.reduce((high, value) => Math.max(high, value), 0)
}

function curve({ series, name, values, dashed }: QuantileSeries, x: Scale, y: Scale): string {
  const sorted = sortAscending(values)
  const n = sorted.length
  const points: [number, number][] = []
  let from = 0
  for (let rank = 1; rank <= n; rank++) {
    // The value of a rank is the quantile of every level above (rank − 1) ÷ n, up to rank ÷ n; the last one's ends half a rank early.
    const until = x.at(Math.min(-Math.log10(1 - Math.min(rank, n - 0.5) / n), x.high))
    if (rank > 1 && until - from < 0.6 && rank < n) continue
    const top = y.at(sorted[rank - 1] ?? 0)
    points.push([rank === 1 ? x.at(0) : from, top], [until, top])
    from = until
  }
  const dots = [0.5, 0.9, 0.99, 0.999].flatMap((level) => {
    const rank = Math.ceil(level * n - 1e-9)
    const value = sorted[rank - 1]
    if (value === undefined || n - rank < 1) return []
    const said = `${name} p${String(Number((level * 100).toFixed(1)))} = ${formatDuration(value)}, value no. ${formatCount(rank)} of ${formatCount(n)} from below`
    return [
      `<circle class="fill" cx="${coordinate(x.at(-Math.log10(1 - level)))}" cy="${coordinate(y.at(value))}" r="4"><title>${escapeMarkup(said)}</title></circle>`,
    ]
  })
  return element(
    'g',
    { class: `s-${series}` },
    element('path', { class: dashed === true ? 'curve thin dashed' : 'curve', d: polyline(points) }),
    dots.join(''),
  )
}
