import {
  decimalsFor,
  decimalsForError,
  formatCount,
  formatNumber,
  timeScale,
  type TimeScale,
} from '../base/units.ts'
import type { Interval, MetricName, MetricSummary } from '../measure/metrics/run-summary.ts'
import { coverageNote } from './coverage-note.ts'
import type { RunDocument } from './documents.ts'
import type { Footnotes } from './footnotes.ts'
import type { Cell, Column } from './text-table.ts'

type Summaries = RunDocument['metrics']

/** What a metric is called in reports. */
export const metricLabels: Readonly<Partial<Record<MetricName, string>>> = {
  ttft_ms: 'TTFT',
  ttfc_ms: 'TTFC',
  tpot_ms: 'TPOT',
  e2e_ms: 'E2E',
  gaps_ms: 'gaps',
  itl_per_token_ms: 'ITL',
  service_ttft_ms: 'service TTFT',
  service_e2e_ms: 'service E2E',
}

/** How the figures of one metric are printed: one unit, and as many digits as its error leaves. */
export interface FigureFormat {
  readonly scale: TimeScale
  readonly decimals: number
}

/**
 * `key` is the percentile whose error decides; without an interval there are three figures. The typical value keeps one figure
 * however wide the tail's error is: a median gap of 0.4 ms is not 0 ms.
 */
export function figureFormat(summary: MetricSummary, key = 'p99'): FigureFormat {
  const typical = summary.p50 ?? summary.mean ?? summary.max ?? 0
  const scale = timeScale(typical)
  const interval = finite(summary.ci[key])
  const byValue = decimalsFor(typical / scale.ms)
  if (interval === null) return { scale, decimals: byValue }
  const byError = decimalsForError((interval[1] - interval[0]) / 2 / scale.ms)
  return { scale, decimals: Math.max(byValue - 2, Math.min(byError, byValue + 1)) }
}

function finite(interval: Interval | undefined): readonly [number, number] | null {
  const [low, high] = interval ?? [null, null]
  return low === null || high === null ? null : [low, high]
}

export function figure(ms: number, { scale, decimals }: FigureFormat, unit = true): string {
  const text = formatNumber(ms / scale.ms, decimals)
  return unit ? `${text} ${scale.unit}` : text
}

export function intervalText(interval: Interval, format: FigureFormat): string {
  const end = (ms: number | null): string => (ms === null ? '?' : figure(ms, format, false))
  return `[${end(interval[0])}, ${end(interval[1])}]`
}

/** `p99_9` is "p99.9". */
export function percentileName(key: string): string {
  return key.replace('_', '.')
}

const blank: Cell = { text: '' }

/** Whether the metric says something that its neighbour does not. */
function differs(summary: MetricSummary | undefined, other: MetricSummary | undefined): boolean {
  if (summary === undefined || summary.n === 0) return false
  if (other === undefined || other.n !== summary.n) return true
  const pairs = [
    [summary.p50, other.p50],
    [summary.p99, other.p99],
    [summary.max, other.max],
  ] as const
  return pairs.some(([a, b]) => a !== null && b !== null && Math.abs(a - b) > Math.max(1, Math.abs(b) * 0.1))
}

/** The metrics worth a row, in order. */
export function shownMetrics(metrics: Summaries): MetricName[] {
  const shown: MetricName[] = ['ttft_ms']
  if (differs(metrics.service_ttft_ms, metrics.ttft_ms)) shown.push('service_ttft_ms')
  if (differs(metrics.ttfc_ms, metrics.ttft_ms)) shown.push('ttfc_ms')
  shown.push('tpot_ms', 'e2e_ms')
  if (differs(metrics.service_e2e_ms, metrics.e2e_ms)) shown.push('service_e2e_ms')
  shown.push('gaps_ms')
  if (differs(metrics.itl_per_token_ms, metrics.gaps_ms)) shown.push('itl_per_token_ms')
  return shown.filter((name) => (metrics[name]?.n ?? 0) > 0 || name === 'ttft_ms')
}

/** Percentiles worth a column: three that everyone reads, P99.9 where the sample shows it, and those asked for. */
function percentileColumns(summaries: readonly MetricSummary[]): string[] {
  const keys = ['p50', 'p90', 'p99']
  if (summaries.some((one) => one.p99_9 !== null && one.ci['p99_9'] !== undefined)) keys.push('p99_9')
  for (const key of summaries.flatMap((one) => Object.keys(one.more))) if (!keys.includes(key)) keys.push(key)
  return keys.sort((a, b) => Number(percentileName(a).slice(1)) - Number(percentileName(b).slice(1)))
}

export function percentileOf(summary: MetricSummary, key: string): number | null {
  const known = {
    p50: summary.p50,
    p90: summary.p90,
    p95: summary.p95,
    p99: summary.p99,
    p99_9: summary.p99_9,
  }
  return Object.hasOwn(known, key) ? known[key as keyof typeof known] : (summary.more[key] ?? null)
}

/** Head and rows of the table of latencies. `markOf` gives the marks of the warnings on a metric. */
export function metricTable(
  document: RunDocument,
  notes: Footnotes,
  markOf: (name: MetricName) => string,
): { readonly columns: readonly Column[]; readonly rows: readonly (readonly Cell[])[] } {
  const names = shownMetrics(document.metrics)
  const summaries = names.flatMap((name) => document.metrics[name] ?? [])
  const keys = percentileColumns(summaries)
  const { failed, shed, censored, unsent, cancelled_by_client: cancelled = 0 } = document.window_counts
  const attempts =
    failed + shed + censored - cancelled + unsent > 0 && summaries.some((one) => one.all_attempts !== null)
  const columns: Column[] = [
    { align: 'left', gap: 2 },
    { align: 'right', gap: 3 },
    // The interval is that of the 99th and stands beside it.
    ...keys.flatMap((key): Column[] => {
      const value = { align: 'right', gap: 3 } as const
      return key === 'p99' ? [value, { align: 'left', gap: 3, headIfAny: true }] : [value]
    }),
    { align: 'right', gap: 3 },
    ...(attempts ? [{ align: 'left', gap: 4 } as const] : []),
  ]
  const worth = coverageNote(summaries, ['p99'])
  const lost = document.window_counts.shed >= document.window_counts.failed ? 'refused' : 'failed'
  const head: Cell[] = [
    blank,
    { text: 'n' },
    ...keys.flatMap((key) =>
      key === 'p99'
        ? [{ text: 'p99' }, { text: '[95 %]', mark: worth === null ? '' : ` ${notes.mark(worth)}` }]
        : [{ text: percentileName(key) }],
    ),
    { text: 'max' },
    ...(attempts ? [{ text: 'all attempts p99', mark: ` ${notes.mark(attemptsNote(document))}` }] : []),
  ]
  const rows = names.map((name): Cell[] => {
    const summary = document.metrics[name]
    const label: Cell = { text: metricLabels[name] ?? name, mark: markOf(name) }
    if (summary === undefined || summary.n === 0) return [label, { text: '0' }]
    const format = figureFormat(summary)
    const value = (key: string): Cell => {
      const ms = percentileOf(summary, key)
      const why = summary.why[key]
      // The 99th has its interval beside it, and the reason where it has none; of the others only doubt is said.
      const doubted = ms === null || (key !== 'p99' && /unreliable/.test(why ?? ''))
      const said =
        ms === null ? why : 'too few independent requests lie beyond it: the estimate itself is unreliable'
      const mark = doubted && said !== undefined ? ` ${notes.mark(`${percentileName(key)}: ${said}`)}` : ''
      return { text: ms === null ? '–' : figure(ms, format), mark }
    }
    const interval = summary.ci['p99']
    const whyNone = summary.p99 === null ? undefined : summary.why['p99']
    const beside: Cell =
      interval === undefined
        ? { text: '', mark: whyNone === undefined ? '' : notes.mark(`p99: ${whyNone}`) }
        : { text: intervalText(interval, format) }
    const all = summary.all_attempts
    return [
      label,
      { text: formatCount(summary.n) },
      ...keys.flatMap((key) => (key === 'p99' ? [value(key), beside] : [value(key)])),
      summary.max === null ? blank : { text: figure(summary.max, format) },
      ...(attempts && all !== null && 'p99' in all
        ? [
            all['p99'] === null
              ? ({ text: lost, style: 'bad' } as const)
              : { text: figure(all['p99']!, format) },
          ]
        : []),
    ]
  })
  return { columns, rows: [head, ...rows] }
}

function attemptsNote({ window_counts: counts }: RunDocument): string {
  const attempts =
    counts.ok +
    counts.failed +
    counts.shed +
    counts.censored +
    counts.unsent -
    (counts.cancelled_by_client ?? 0)
  const lost = attempts - counts.ok
  return `a percentile over all attempts, where a request without its answer waits for ever: ${formatCount(lost)} of ${formatCount(attempts)} have none`
}
