import { formatCount, formatDuration, formatPercent, formatRate } from '../base/units.ts'
import { commandLine } from './command-line.ts'
import type { ComparePlanDocument, PlannedMetric } from './compare-document.ts'
import { footnotes } from './footnotes.ts'
import { painter, type RenderOptions } from './paint.ts'
import { textTable, type Column } from './text-table.ts'

/** How many runs an effect needs, from a pilot. */
export function renderComparePlan(
  document: ComparePlanDocument,
  options: Pick<RenderOptions, 'color' | 'columns'>,
): string {
  const { effect, power, alpha, metrics, runs } = document
  const [first] = metrics
  const needed = first?.needed.power ?? null
  const answer =
    first === undefined
      ? 'nothing to plan'
      : needed === null
        ? `no number of runs shows ${formatPercent(effect)} of ${first.label}`
        : `${formatCount(needed)} + ${formatCount(needed)} runs see a change of ${formatPercent(effect)} in ${first.label} with ${formatPercent(power, 0)} power`
  const count = (runs_: number | null): string => (runs_ === null ? '–' : formatCount(runs_))
  const designs = first?.detectable.map(({ n }) => n) ?? []
  const columns: Column[] = [
    { align: 'left', gap: 2 },
    ...['mean', 'sd', 'n', 'pairs'].map((): Column => ({ align: 'right', gap: 3 })),
    // Of what more and more runs can see the fewest tell most.
    ...designs.map((_, at): Column => ({ align: 'right', gap: 3, leaves: at + 1 })),
  ]
  const table = textTable(
    columns,
    [
      ['', 'mean', 'sd of a run', 'runs an arm', 'pairs', ...designs.map((n) => `${n} + ${n} show`)],
      ...metrics.map((metric) => [
        metric.label,
        figure(metric, metric.mean),
        formatPercent(metric.run_sd / metric.mean),
        count(metric.needed.power),
        metric.pairs_needed === null ? '?' : count(metric.pairs_needed),
        ...metric.detectable.map(({ change }) => formatPercent(change)),
      ]),
    ].map((cells) => cells.map((text) => ({ text }))),
    painter(options.color),
    { columns: options.columns ?? null, notes: footnotes() },
  )
  const words = document.again ?? ['--run', 'URL_A', 'URL_B']
  const notes = [
    `from a pilot of ${runs.length} runs; two-sided level ${formatPercent(alpha, 0)}${runs.length < 6 ? '; a standard deviation of so few runs is a guess: 3 + 3 are the least to plan by' : ''}`,
    ...(first === undefined
      ? []
      : [
          `${count(first.needed.rule_of_two)} by the rule of two and ${count(first.needed.t)} with Student's t are an even chance only; ${count(first.needed.power_90)} give 90 %`,
        ]),
    ...(metrics.some(({ pairs_needed: pairs }) => pairs === null)
      ? ['pairs: unknown until a pilot has both arms with the same seeds']
      : []),
    ...metrics.flatMap(({ icc, requests_per_run: best }) =>
      icc === null
        ? []
        : [
            `${formatPercent(icc)} of the variance of a request lies between runs${best === null ? '' : `: runs of ${formatCount(best)} requests buy the most for the time`}`,
          ],
    ),
  ]
  return `${[answer, '', ...table, '', ...notes.map((line) => `  ${line}`), commandLine('compare', ...words, '--runs', String(needed ?? 5))].join('\n')}\n`
}

function figure({ unit }: PlannedMetric, value: number): string {
  return unit === 'ms' ? formatDuration(value) : formatRate(value, unit)
}
