import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPercent, formatPlain } from '../base/units.ts'
import { gaugeSeries, type GaugePoint } from '../measure/metrics/server-use.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
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
import { outsideWindow, timeScale, type RunSpan } from './svg-run-time.ts'
import { linearScale, type Scale } from './svg-scale.ts'

const width = 960
const sides = { left: 66, right: 946 } as const
/** More looks than this are drawn without a word on each. */
const mostDots = 400

interface Panel {
  readonly plot: Plot
  readonly yWords: string
  readonly y: Scale
  readonly lines: readonly Line[]
}

interface Line {
  readonly series: SeriesName
  readonly name: string
  readonly points: readonly GaugePoint[]
  readonly format: (value: number) => string
}

/**
 * What the server said of itself over the run, on the same seconds as the latencies above it: requests that run and wait, and how full
 * its KV pool was. A value stands from its look to the next one; behind each stands a band as wide as the look took, since the figure
 * is from somewhere inside it. A look that failed is a cross and leaves a gap. Null where there was nothing to see.
 */
export function serverUseFigure(
  samples: readonly ServerSample[],
  rows: Rows,
  window: WindowFacts,
): Figure | null {
  const span: RunSpan = { rows, window }
  const x = timeScale(span, sides)
  const shown = samples.filter(({ at_ms }) => at_ms / 1000 >= x.low && at_ms / 1000 <= x.high)
  const running = line('good', 'running', gaugeSeries(shown, 'running', 'sum'))
  const waiting = line('saturation', 'waiting', gaugeSeries(shown, 'waiting', 'sum'))
  const kv = line('memory', 'KV pool', gaugeSeries(shown, 'kv_usage', 'most'), (share) =>
    formatPercent(share, 0),
  )
  const panels = panelsOf([running, waiting].filter(isTold), [kv].filter(isTold))
  if (panels.length === 0) return null
  const took = shown.flatMap(({ scrape_ms }) => scrape_ms ?? [])
  const failed = shown.filter(({ up }) => !up)
  const last = panels.length - 1
  const body = panels
    .flatMap(({ plot, y, yWords, lines }, at) => [
      outsideWindow(x, span, plot, false),
      looks(shown, x, plot),
      axes(plot, {
        x: at === last ? x : { ...x, ticks: [] },
        y,
        xWords: at === last ? 'seconds of the run' : '',
        yWords,
      }),
      ...lines.map((one) => drawn(one, x, y)),
      ...(at === 0 ? failed.map((look) => crossAt(look, x, plot)) : []),
      legend(plot, [...lines.map(entryOf), ...(at === 0 && failed.length > 0 ? [failedEntry] : [])]),
    ])
    .join('')
  const delay =
    took.length === 0 ? '' : `; a look took at most ${formatDuration(took.reduce((a, b) => Math.max(a, b)))}`
  return {
    title: 'The server over the run',
    width,
    height: (panels[last]?.plot.bottom ?? 0) + 46,
    body,
    says: `${formatCount(shown.length)} ${noun(shown.length, 'look')} at its metrics${delay}${failed.length > 0 ? `; ${formatCount(failed.length)} failed` : ''}`,
  }
}

function line(
  series: SeriesName,
  name: string,
  points: readonly GaugePoint[],
  format: (value: number) => string = (value) => formatPlain(value),
): Line {
  return { series, name, points, format }
}

function isTold({ points }: Line): boolean {
  return points.some(({ value }) => value !== null)
}

function panelsOf(counts: readonly Line[], shares: readonly Line[]): readonly Panel[] {
  const panels: Panel[] = []
  let top = 44
  if (counts.length > 0) {
    const plot = { ...sides, top, bottom: top + 150 }
    const most = counts.flatMap(({ points }) => points.map(({ value }) => value ?? 0))
    const y = linearScale({
      low: 0,
      high: most.reduce((a, b) => Math.max(a, b), 1),
      from: plot.bottom,
      to: plot.top,
      marks: 4,
      widen: true,
    })
    panels.push({ plot, y, yWords: 'requests', lines: counts })
    top = plot.bottom + 48
  }
  if (shares.length > 0) {
    const plot = { ...sides, top, bottom: top + 90 }
    const format = (share: number): string => formatPercent(share, 0)
    const y = linearScale({ low: 0, high: 1, from: plot.bottom, to: plot.top, marks: 2, format })
    panels.push({ plot, y, yWords: 'KV pool in use', lines: shares })
  }
  return panels
}

function entryOf({ series, name }: Line): LegendEntry {
  return { series, text: name, mark: 'line' }
}

const failedEntry: LegendEntry = { series: 'bad', text: 'look failed', mark: 'cross' }

function crossAt({ at_ms, replica }: ServerSample, x: Scale, plot: Plot): string {
  const said = `${replica} could not be read at ${formatPlain(at_ms / 1000, 4)} s`
  return element(
    'g',
    { class: 's-bad' },
    element('title', {}, escapeMarkup(said)),
    cross(x.at(at_ms / 1000), plot.top + 4),
  )
}

/** A band as wide as each look took; those too narrow to be seen are left out. */
function looks(samples: readonly ServerSample[], x: Scale, plot: Plot): string {
  const bands = samples.flatMap(({ at_ms, scrape_ms }) => {
    if (scrape_ms === null) return []
    const left = x.at(at_ms / 1000)
    const wide = x.at((at_ms + scrape_ms) / 1000) - left
    return wide < 0.7
      ? []
      : [`M${coordinate(left)} ${plot.top}h${coordinate(wide)}V${plot.bottom}h${coordinate(-wide)}z`]
  })
  return bands.length === 0 ? '' : element('path', { class: 'outside', d: bands.join('') })
}

/** Steps from look to look, with a dot and its words at each. */
function drawn({ series, name, points, format }: Line, x: Scale, y: Scale): string {
  let path = ''
  let isGap = true
  for (const { atMs, value } of points) {
    if (value === null) {
      isGap = true
      continue
    }
    const [left, top] = [coordinate(x.at(atMs / 1000)), coordinate(y.at(value))]
    path += isGap ? `M${left} ${top}` : `H${left}V${top}`
    isGap = false
  }
  const dots =
    points.length > mostDots
      ? ''
      : points
          .map(({ atMs, value, tookMs }) => {
            if (value === null) return ''
            const took = tookMs === null ? '' : `, a look of ${formatDuration(tookMs)}`
            const said = `${name} ${format(value)} at ${formatPlain(atMs / 1000, 4)} s${took}`
            return `<circle class="dot" cx="${coordinate(x.at(atMs / 1000))}" cy="${coordinate(y.at(value))}" r="2.4"><title>${escapeMarkup(said)}</title></circle>`
          })
          .join('')
  return element('g', { class: `s-${series}` }, element('path', { class: 'curve thin', d: path }), dots)
}
