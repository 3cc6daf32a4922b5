import { formatPlain } from '../base/units.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { WindowFacts } from './documents.ts'
import type { Plot } from './svg-figure.ts'
import { element, label } from './svg-markup.ts'
import { linearScale, type Scale } from './svg-scale.ts'

/** A run in time: figures drawn over the same one stand on the same seconds. */
export interface RunSpan {
  readonly rows: Rows
  readonly window: WindowFacts
}

/** Seconds of the run, from the first intended send or the window's beginning to the last or its end. */
export function timeScale(span: RunSpan, plot: Pick<Plot, 'left' | 'right'>): Scale {
  const [firstMs, lastMs] = endsMs(span)
  return linearScale({
    low: firstMs / 1000,
    high: lastMs / 1000,
    from: plot.left,
    to: plot.right,
    marks: 9,
    format: (seconds) => `${formatPlain(seconds, 6)} s`,
  })
}

/** Warm-up and what came after the window, shaded; `withWords` names them. */
export function outsideWindow(x: Scale, span: RunSpan, plot: Plot, withWords = true): string {
  const [firstMs, lastMs] = endsMs(span)
  const { start_ms: startMs, end_ms: endMs } = span.window
  const word = (text: string): string => (withWords ? text : '')
  return (
    outside(x, firstMs, startMs, word('warm-up'), plot) +
    outside(x, endMs, lastMs, word('after the window'), plot)
  )
}

function endsMs({ rows, window }: RunSpan): readonly [number, number] {
  let [low, high] = [window.start_ms, window.end_ms]
  for (const { planned_ms: at } of rows) {
    if (at === null) continue
    low = Math.min(low, at)
    high = Math.max(high, at)
  }
  return [low, high]
}

function outside(x: Scale, fromMs: number, toMs: number, word: string, plot: Plot): string {
  const left = x.at(fromMs / 1000)
  const wide = x.at(toMs / 1000) - left
  if (wide < 1) return ''
  return element(
    'g',
    {},
    element('rect', { class: 'outside', x: left, y: plot.top, width: wide, height: plot.bottom - plot.top }),
    word === '' || wide < 60 ? '' : label(word, { class: 'mark', x: left + 6, y: plot.bottom - 8 }),
  )
}
