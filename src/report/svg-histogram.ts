import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPercent } from '../base/units.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import { axes, type Figure, type Plot, type SeriesName } from './svg-figure.ts'
import { coordinate, element, escapeMarkup, label } from './svg-markup.ts'
import { linearScale, niceStep, tickCount, tickTime, type Scale } from './svg-scale.ts'

export interface HistogramInput {
  readonly series: SeriesName
  readonly name: string
  readonly formula: string
  /** ms, in any order. */
  readonly values: readonly number[]
  /** Limit of the objective, drawn where it falls. */
  readonly limit: { readonly ms: number; readonly text: string } | null
}

const width = 472
const height = 270
const plot: Plot = { left: 50, right: 448, top: 44, bottom: 220 }

/**
 * Counts in equal steps from 0 or the least value to the 99th percentile and a step: the width by Freedman and Diaconis,
 * 2·IQR·n^(−1/3), rounded to 1, 2 or 5. What lies above stands in one bar at the right, so that no value is left out.
 */
export function histogram({ series, name, formula, values, limit }: HistogramInput): Figure | null {
  if (values.length < 2) return null
  const sorted = sortAscending(values)
  const n = sorted.length
  const low = sorted[0] ?? 0
  const top = percentile(sorted, '99') ?? low
  const spread = (percentile(sorted, '75') ?? low) - (percentile(sorted, '25') ?? low)
  const range = Math.max(top - low, low * 0.02, 1e-6)
  const width0 = spread > 0 ? 2 * spread * n ** (-1 / 3) : range / 12
  const step = niceStep(Math.min(Math.max(width0, range / 48), range / 8))
  const first = Math.floor(low / step + 1e-9)
  const bins = Math.floor(top / step + 1e-9) - first + 1
  const counts = Array.from({ length: bins }, () => 0)
  let above = 0
  for (const value of sorted) {
    const at = Math.floor(value / step + 1e-9) - first
    if (at >= bins) above++
    else counts[at] = (counts[at] ?? 0) + 1
  }
  const slots = bins + (above > 0 ? 2 : 0)
  const start = first * step
  const x = linearScale({
    low: start,
    high: start + slots * step,
    from: plot.left,
    to: plot.right,
    marks: 5,
    format: tickTime,
  })
  const inside: Scale = { ...x, ticks: x.ticks.filter(({ value }) => value <= start + bins * step * 1.0001) }
  const y = linearScale({
    low: 0,
    high: Math.max(...counts, above),
    from: plot.bottom,
    to: plot.top,
    marks: 4,
    widen: true,
    format: tickCount,
  })
  const bar = (at: number, count: number, said: string): string => {
    const left = x.at(start + at * step) + 0.75
    const wide = Math.max(1, x.at(start + (at + 1) * step) - 0.75 - left)
    return `<rect class="fill" fill-opacity=".82" x="${coordinate(left)}" y="${coordinate(y.at(count))}" width="${coordinate(wide)}" height="${coordinate(plot.bottom - y.at(count))}" rx="1.5"><title>${escapeMarkup(said)}</title></rect>`
  }
  const bars = counts.map((count, at) => {
    const from = formatDuration((first + at) * step)
    const to = formatDuration((first + at + 1) * step)
    return count === 0
      ? ''
      : bar(at, count, `${from} to ${to}: ${formatCount(count)} (${formatPercent(count / n)})`)
  })
  const overflow =
    above === 0
      ? ''
      : bar(
          bins + 1,
          above,
          `above ${formatDuration((first + bins) * step)}: ${formatCount(above)}, up to ${formatDuration(sorted[n - 1] ?? 0)}`,
        ) +
        label('above', {
          class: 'mark',
          x: x.at(start + (bins + 1.5) * step),
          y: plot.bottom + 18,
          'text-anchor': 'middle',
        })
  const body = [
    axes(plot, { x: inside, y, xWords: `${name}, steps of ${tickTime(step)}`, yWords: 'requests' }),
    element('g', { class: `s-${series}` }, element('title', {}, escapeMarkup(formula)), ...bars, overflow),
    limit === null ? '' : limitLine(limit, x, start + bins * step),
  ].join('')
  return {
    title: `${name} of ${formatCount(n)} ${noun(n, 'request')}`,
    width,
    height,
    body,
    says: `histogram, median ${formatDuration(percentile(sorted, '50') ?? 0)}`,
  }
}

function limitLine({ ms, text }: { ms: number; text: string }, x: Scale, end: number): string {
  if (ms < x.low || ms > end) {
    const word = ms > end ? `${text} →` : `← ${text}`
    return element(
      'g',
      { class: 's-slo limit' },
      label(word, {
        x: ms > end ? plot.right : plot.left,
        y: plot.top - 14,
        'text-anchor': ms > end ? 'end' : 'start',
      }),
    )
  }
  const left = x.at(ms)
  const onRight = left > (plot.left + plot.right) / 2
  return element(
    'g',
    { class: 's-slo limit' },
    element('path', { class: 'curve thin dashed', d: `M${coordinate(left)} ${plot.top - 8}V${plot.bottom}` }),
    label(text, { x: left + (onRight ? -6 : 6), y: plot.top - 2, 'text-anchor': onRight ? 'end' : 'start' }),
  )
}
