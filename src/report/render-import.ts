import { noun } from '../base/noun.ts'
import {
  formatBytes,
  formatDuration,
  formatCount,
  formatNumber,
  formatPlain,
  formatRate,
  decimalsFor,
} from '../base/units.ts'
import { metricName, type Comparison } from '../measure/record/import/compare-published.ts'
import { commandLine } from './command-line.ts'
import type { ImportDocument, ImportedRunDocument } from './import-document.ts'
import { figure, figureFormat } from './metric-rows.ts'
import { painter, type Paint, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { renderRun } from './render-run.ts'
import { savedWords } from './saved-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

/** How many differing figures are listed; the rest is counted. */
const shownDifferences = 12

/** An import for the terminal: what the requests say, what the tool said otherwise and why, where it is kept. Ends with a line break. */
export function renderImport(document: ImportDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const [only, ...others] = document.runs
  const lines = [paint('quiet', sourceLine(document))]
  if (only === undefined)
    lines.push('no run in it', ...document.warnings.map((one) => `  ${warningLine(one)}`))
  else if (others.length === 0) lines.push(...oneRun(only, options, paint))
  else lines.push(...manyRuns(document, paint))
  return `${lines.join('\n')}\n`
}

function sourceLine({ files, runs }: ImportDocument): string {
  const tools = [...new Set(runs.map(({ tool }) => tool))].join(', ')
  const first = files[0]
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0)
  const names = files.length === 1 ? (first?.file ?? '') : `${files.length} files`
  return printable(
    `${tools}: ${names}, ${formatBytes(bytes)}${runs.length === 1 ? '' : `, ${runs.length} runs`}`,
  )
}

function oneRun(run: ImportedRunDocument, options: RenderOptions, paint: Paint): string[] {
  // The differences stand in their own block with every figure, not in a footnote too.
  const warnings = run.run.warnings.filter(
    ({ kind, evidence }) => kind !== 'number_disagrees' || evidence['compared'] !== true,
  )
  const text = renderRun({ ...run.run, warnings }, options)
    .trimEnd()
    .split('\n')
  text.pop()
  return [...text, '', ...publishedLines(run.published, paint), nextLine([run])]
}

function publishedLines(published: readonly Comparison[], paint: Paint): string[] {
  const by = (status: Comparison['status']): readonly Comparison[] =>
    published.filter((one) => one.status === status)
  const differing = by('differs')
  const agree = by('agrees').length
  const untold = by('not_recomputable')
  const none = by('not_published')
  if (published.length === 0) return ['the file has no figures of its own to hold against these']
  const lines = [
    `its own figures: ${formatCount(differing.length)} differ from what its requests give, ${formatCount(agree)} agree${untold.length > 0 ? `, ${formatCount(untold.length)} cannot be checked` : ''}${none.length > 0 ? `, ${formatCount(none.length)} stand for "none"` : ''}`,
  ]
  const groups = groupsOf(differing)
  const rows = groups
    .slice(0, shownDifferences)
    .map(({ shown, figures }): Cell[] => [
      { text: printable(shown.name) },
      { text: amount(shown.published, shown.unit, shown.ours) },
      { text: `→ ${amount(shown.ours, shown.unit, shown.published)}`, style: 'doubtful' },
      { text: `${shown.why ?? ''}${figures > 1 ? ` (${figures} ${noun(figures, 'figure')})` : ''}` },
    ])
  lines.push(...textTable(differenceColumns, rows, paint))
  if (groups.length > rows.length)
    lines.push(`  and ${groups.length - rows.length} more kinds (--json has all)`)
  if (untold.length > 0 && differing.length + agree === 0) {
    const told = untold.map((one): Cell[] => [
      { text: printable(one.name) },
      { text: amount(one.published, one.unit, null) },
    ])
    lines.push(...textTable(differenceColumns.slice(0, 2), told.slice(0, shownDifferences), paint))
    lines.push(
      `  as published${untold.length > shownDifferences ? ` (and ${untold.length - shownDifferences} more)` : ''}: ${untold[0]?.why ?? ''}`,
    )
  }
  const reason = none[0]
  if (reason !== undefined)
    lines.push(
      `  ${printable(
        none
          .slice(0, 4)
          .map(({ name }) => name)
          .join(', '),
      )}${none.length > 4 ? ' …' : ''}: ${reason.why ?? ''}`,
    )
  return lines
}

/** Figures of one metric that differ for one reason, with the one that is shown: the P99, the mean, or the first. */
function groupsOf(
  differing: readonly Comparison[],
): { readonly shown: Comparison; readonly figures: number }[] {
  const groups = new Map<string, Comparison[]>()
  for (const one of differing) {
    const metric = metricName(one.name)
    const key = `${metric}\n${one.why}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].map((group) => ({
    shown: (group.find(({ statistic }) => statistic === '99') ??
      group.find(({ statistic }) => statistic === 'mean') ??
      group[0]) as Comparison,
    figures: group.length,
  }))
}

const differenceColumns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 2 },
  { align: 'left', gap: 1 },
  { align: 'left', gap: 3 },
]

/** With as many digits as tell it from its neighbour. */
function amount(value: number | null, unit: string, other: number | null): string {
  if (value === null) return 'unknown'
  const apart = other === null ? value : Math.abs(value - other)
  const decimals = Math.min(4, Math.max(decimalsFor(value, 3), apart > 0 ? decimalsFor(apart, 1) : 0))
  return `${formatNumber(value, decimals)}${unit === '' ? '' : ` ${unit}`}`
}

function manyRuns(document: ImportDocument, paint: Paint): string[] {
  const { runs, together } = document
  const head: Cell[] = [
    '',
    'ok',
    'not ok',
    'req/s',
    'tok/s',
    'TTFT p50',
    'p99',
    'TPOT p50',
    'p99',
    'figures that differ',
  ].map((text) => ({ text }))
  let asPublished = false
  const rows = runs.map((one): Cell[] => {
    const { counts, throughput, metrics } = one.run
    const told = (metric: Comparison['metric'], statistic: string): Cell => {
      const ms =
        one.published.find(
          (each) => each.metric === metric && each.statistic === statistic && each.ours === null,
        )?.published ?? null
      if (ms === null) return { text: '–' }
      asPublished = true
      return {
        text: statistic === 'rate' ? formatPlain(ms) : formatDuration(ms),
        mark: '*',
        style: 'doubtful',
      }
    }
    const value = (name: 'ttft_ms' | 'tpot_ms', key: 'p50' | 'p99'): Cell => {
      const summary = metrics[name]
      const ms = summary?.[key] ?? null
      return summary === undefined || ms === null
        ? told(name, key.slice(1))
        : { text: figure(ms, figureFormat(summary)) }
    }
    const rate = (perS: number | null, metric: Comparison['metric']): Cell =>
      perS === null ? told(metric, 'rate') : { text: formatPlain(perS) }
    const differ = one.published.filter(({ status }) => status === 'differs').length
    return [
      { text: printable(one.label ?? one.files[0] ?? '') },
      { text: formatCount(counts.ok) },
      {
        text: formatCount(counts.planned - counts.ok),
        ...(counts.planned > counts.ok ? { style: 'doubtful' as const } : {}),
      },
      rate(throughput.requests_per_s, 'requests_per_s'),
      rate(throughput.output_tokens_per_s, 'output_tokens_per_s'),
      value('ttft_ms', 'p50'),
      value('ttft_ms', 'p99'),
      value('tpot_ms', 'p50'),
      value('tpot_ms', 'p99'),
      {
        text:
          one.published.length === 0 ? '–' : `${formatCount(differ)} of ${formatCount(one.published.length)}`,
      },
    ]
  })
  const lines = textTable(
    head.map((_, at): Column => ({ align: at === 0 ? 'left' : 'right', gap: at === 0 ? 2 : 3 })),
    [head, ...rows],
    paint,
  )
  if (asPublished) lines.push('  * as published: its requests are not in the file')
  if (together !== null && together.per_s !== null) {
    const idle =
      together.idle_gap_s > 0
        ? `; ${formatPlain(together.idle_gap_s, 4)} s between them, in which nothing was sent, are not counted`
        : ''
    const wrong =
      together.whole_span_per_s !== null && together.idle_gap_s > 0
        ? ` (over the whole span it would be ${formatRate(together.whole_span_per_s)})`
        : ''
    lines.push('', `  together ${formatRate(together.per_s)}${idle}${wrong}`)
  }
  const messages = new Map<string, number>()
  for (const warning of runs
    .flatMap(({ run }) => run.warnings)
    .filter(
      ({ kind }) =>
        kind === 'number_disagrees' ||
        kind === 'unrecoverable' ||
        kind === 'file_truncated' ||
        kind === 'token_count_disagrees',
    )) {
    const line =
      warning.kind === 'number_disagrees' && warning.cause !== null
        ? `figures differ: ${warning.cause}`
        : warningLine(warning)
    messages.set(line, (messages.get(line) ?? 0) + 1)
  }
  lines.push(
    '',
    ...[...messages]
      .slice(0, 8)
      .map(([line, count]) => paint('quiet', `  ${printable(line)}${count > 1 ? ` (${count} runs)` : ''}`)),
    nextLine(runs),
  )
  return lines
}

function nextLine(runs: readonly ImportedRunDocument[]): string {
  const folders = runs.map(({ folder }) => folder).filter((folder) => folder !== null)
  const first = folders[0]
  if (first === undefined) return 'nothing was written (--dry-run)'
  const saved = folders.length === 1 ? first : `${first} … ${folders.at(-1)}`
  return savedWords(saved, {}, [
    commandLine('show', first),
    commandLine('export', first, '--format', 'llm-d'),
  ]).join(' · ')
}
