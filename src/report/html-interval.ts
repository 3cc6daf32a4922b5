import type { MetricSummary } from '../measure/metrics/run-summary.ts'
import { coverageNote } from './coverage-note.ts'
import { words } from './html-page.ts'
import { intervalText, type FigureFormat } from './metric-rows.ts'
import { element } from './svg-markup.ts'

/** The interval beside a percentile, and what it was measured to hold where the pointer rests on it; '' where there is none. */
export function intervalSpan(summary: MetricSummary, key: string, format: FigureFormat): string {
  const interval = summary.ci[key]
  if (interval === undefined) return ''
  const title = coverageNote([summary], [key]) ?? '95 % interval'
  return ` ${element('span', { class: 'ci', title }, words(intervalText(interval, format)))}`
}
