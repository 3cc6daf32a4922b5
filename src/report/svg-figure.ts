import { element, escapeMarkup, label } from './svg-markup.ts'
import type { Scale } from './svg-scale.ts'

/** A figure: what is drawn, and a sentence for those who cannot see it. */
export interface Figure {
  readonly title: string
  readonly width: number
  readonly height: number
  /** Markup without the outer element. */
  readonly body: string
  /** What it shows, in a sentence. */
  readonly says: string
}

/** Where the data stand inside a figure. */
export interface Plot {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export type SeriesName =
  | 'ttft'
  | 'service'
  | 'tpot'
  | 'e2e'
  | 'bad'
  | 'slo'
  | 'saturation'
  | 'memory'
  | 'good'

/** One entry of a legend; `title` is said on hovering. */
export interface LegendEntry {
  readonly series: SeriesName
  readonly text: string
  readonly mark: 'dot' | 'line' | 'dashes' | 'bar' | 'cross'
  readonly title?: string
}

/** Grid, marks and words of both axes. */
export function axes(
  plot: Plot,
  { x, y, xWords, yWords }: { x: Scale; y: Scale; xWords: string; yWords: string },
): string {
  const parts: string[] = []
  for (const { value, label: word } of y.ticks) {
    const at = y.at(value)
    parts.push(element('line', { class: 'grid', x1: plot.left, x2: plot.right, y1: at, y2: at }))
    if (word !== '') {
      parts.push(label(word, { class: 'mark', x: plot.left - 8, y: at + 4, 'text-anchor': 'end' }))
    }
  }
  for (const { value, label: word } of x.ticks) {
    const at = x.at(value)
    parts.push(element('line', { class: 'tick', x1: at, x2: at, y1: plot.bottom, y2: plot.bottom + 4 }))
    if (word !== '') {
      parts.push(label(word, { class: 'mark', x: at, y: plot.bottom + 18, 'text-anchor': 'middle' }))
    }
  }
  parts.push(
    element('line', { class: 'base', x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom }),
    label(yWords, { class: 'axis', x: 4, y: plot.top - 14 }),
    label(xWords, { class: 'axis', x: plot.right, y: plot.bottom + 34, 'text-anchor': 'end' }),
  )
  return parts.join('')
}

const letterWidth = 6.4

/** At the top right, in one line. */
export function legend(plot: Plot, entries: readonly LegendEntry[]): string {
  const widths = entries.map(({ text }) => 24 + text.length * letterWidth + 14)
  let x = plot.right - widths.reduce((sum, one) => sum + one, 0) + 14
  return entries
    .map(({ series, text, mark, title }, at) => {
      const y = plot.top - 18
      const swatch = swatchOf(mark, x, y)
      const words = label(text, { class: 'key', x: x + 24, y: y + 4 })
      x += widths[at]!
      const said = title === undefined ? '' : element('title', {}, escapeMarkup(title))
      return element('g', { class: `s-${series}` }, said, swatch, words)
    })
    .join('')
}

function swatchOf(mark: LegendEntry['mark'], x: number, y: number): string {
  if (mark === 'dot') return element('circle', { class: 'fill', cx: x + 12, cy: y, r: 3.5 })
  if (mark === 'bar')
    return element('rect', { class: 'fill', x: x + 4, y: y - 5, width: 14, height: 10, rx: 2 })
  if (mark === 'cross') return cross(x + 12, y)
  return element('path', {
    class: mark === 'dashes' ? 'curve dashed' : 'curve',
    d: `M${x + 2} ${y}h18`,
  })
}

/** A cross of 7 pixels. */
export function cross(x: number, y: number): string {
  const at = (value: number): number => Math.round(value * 10) / 10
  return element('path', {
    class: 'curve',
    d: `M${at(x - 3.5)} ${at(y - 3.5)}l7 7m0 -7l-7 7`,
  })
}

/** The figure inside a page. */
export function inlineSvg({ title, width, height, body, says }: Figure): string {
  return element(
    'svg',
    { class: 'figure', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}. ${says}` },
    body,
  )
}

/** The figure as a file of its own, for a README: it carries its style and its background, light and dark. */
export function standaloneSvg({ title, width, height, body, says }: Figure): string {
  return `${element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      class: 'figure',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-label': `${title}. ${says}`,
    },
    element('style', {}, figureStyle),
    element('rect', { class: 'paper', width, height, rx: 10 }),
    body,
  )}\n`
}

/** Colours by meaning, in light and dark; distances in hue and lightness keep them apart for the colour-blind. */
export const figureStyle: string = `
:root{--ink:#172033;--quiet:#667085;--grid:#e6e9ef;--paper:#ffffff;--ttft:#2563eb;--service:#7ba7f5;--tpot:#0f9488;--e2e:#8b7bd8;--bad:#d92d20;--slo:#d92d20;--saturation:#c76a00;--memory:#8e44c9;--good:#12875a}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9f0;--quiet:#98a2b3;--grid:#2a3242;--paper:#12161f;--ttft:#6ea0ff;--service:#4f78c4;--tpot:#3ccabb;--e2e:#a99bf0;--bad:#ff7a70;--slo:#ff7a70;--saturation:#f0a94e;--memory:#c792ea;--good:#4fcf97}}
svg.figure{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums}
.figure text{fill:var(--quiet)}.figure .axis{font-size:12px}.figure .key{fill:var(--ink)}.figure .word{fill:var(--ink);font-weight:600}
.figure .grid{stroke:var(--grid)}.figure .base,.figure .tick{stroke:var(--quiet);stroke-opacity:.6}.figure .paper{fill:var(--paper)}
.figure .fill{fill:currentColor}.figure .curve{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.figure .hollow{fill:var(--paper);stroke:currentColor;stroke-width:2}.figure .thin{stroke-width:1.4}.figure .dashed{stroke-dasharray:5 5}.figure .faint{fill:currentColor;fill-opacity:.1}.figure .dots{fill:none;stroke:currentColor;stroke-width:4;stroke-linecap:round;stroke-opacity:.55}
.figure .dot{fill:currentColor;fill-opacity:.6}.figure .dot:hover{fill-opacity:1;stroke:var(--ink)}.figure .outside{fill:var(--quiet);fill-opacity:.09}
.figure .wall text,.figure .limit text{fill:currentColor;font-weight:600}
.s-ttft{color:var(--ttft)}.s-service{color:var(--service)}.s-tpot{color:var(--tpot)}.s-e2e{color:var(--e2e)}.s-bad{color:var(--bad)}.s-slo{color:var(--slo)}.s-saturation{color:var(--saturation)}.s-memory{color:var(--memory)}.s-good{color:var(--good)}
`
