import {
  decimalsFor,
  decimalsForError,
  formatCount,
  formatNumber,
  formatPercent,
  formatPlain,
} from '../base/units.ts'
import { centre } from '../judge/compare-metric.ts'
import type { IntervalCoverage } from '../measure/metrics/run-summary.ts'
import { commandLine } from './command-line.ts'
import type { CompareDocument, ComparedMetric, VerdictWord } from './compare-document.ts'
import { changeText, changeUnit, lastDigit, pText, shareText, signed } from './compare-change.ts'
import { compareNotes } from './compare-notes.ts'
import { coverageWords } from './coverage-note.ts'
import { footnotes } from './footnotes.ts'
import { painter, type RenderOptions, type Style } from './paint.ts'
import { printable } from './printable.ts'
import { textTable, type Cell, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

const words: Readonly<Record<VerdictWord | 'none', string>> = {
  faster: 'faster',
  slower: 'slower',
  better: 'better',
  worse: 'worse',
  equivalent: 'equivalent',
  no_regression: 'no regression',
  inconclusive: 'inconclusive',
  none: 'cannot tell',
}

const styles: Readonly<Record<VerdictWord | 'none', Style>> = {
  faster: 'good',
  better: 'good',
  equivalent: 'good',
  no_regression: 'good',
  slower: 'bad',
  worse: 'bad',
  inconclusive: 'doubtful',
  none: 'doubtful',
}

/** A comparison as it is printed: the answer, the metrics, what they rest on, what else differs, what to do next. */
export function renderCompare(
  document: CompareDocument,
  options: RenderOptions & { readonly typed?: readonly string[] },
): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const primary = document.metrics.find((metric) => metric.primary)
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning))).join(' ')
  const headline = primary === undefined ? 'nothing could be compared' : answer(primary, document)
  const word = primary?.verdict ?? 'none'
  const lines = [
    `${paint(styles[word], words[word].toUpperCase())} · ${headline}${marks === '' ? '' : ` ${marks}`}`,
    '',
    ...textTable(columnsOf(document), [head(document), ...document.metrics.map(row)], paint, {
      columns: options.columns ?? null,
      notes,
    }),
    '',
    ...compareNotes(document, notes.mark, options.explain).map((line) => `  ${printable(line)}`),
  ]
  const foot = notes.lines()
  return `${[...lines, ...(foot.length > 0 ? ['', ...foot] : []), nextCommand(document, options.typed)].join('\n')}\n`
}

/** Within-run intervals are wide, and tell nothing of how runs differ: A and B tell more. Of those of a change, it is the other way. */
function columnsOf({ metrics }: CompareDocument): readonly Column[] {
  const isOfChange = metrics.some(({ interval }) => interval !== null)
  return [
    { align: 'left', gap: 0 },
    { align: 'left', gap: 0 },
    { align: 'right', gap: 3, leaves: isOfChange ? 2 : 1 },
    { align: 'right', gap: 3, leaves: isOfChange ? 2 : 1 },
    { align: 'right', gap: 3 },
    { align: 'left', gap: 3, headIfAny: true, leaves: isOfChange ? 1 : 2 },
    { align: 'left', gap: 3 },
  ]
}

function head({ design, arms }: CompareDocument): readonly Cell[] {
  const level = formatPercent(1 - design.alpha, 0)
  const named = arms.a.runs.length === 0
  return [
    { text: '' },
    { text: '' },
    { text: named ? printable(arms.a.name) : 'A' },
    { text: named ? printable(arms.b.name) : 'B' },
    { text: 'change' },
    { text: `[${level}]` },
    { text: '' },
  ]
}

function row(metric: ComparedMetric): readonly Cell[] {
  const word = metric.verdict ?? 'none'
  const [a, b] = armTexts(metric)
  return [
    { text: metric.primary ? '▸ ' : '  ' },
    { text: metric.label },
    { text: a },
    { text: b },
    { text: changeText(metric.change, metric.interval, metric.scale) },
    {
      text: intervalText(metric),
      note:
        metric.within_run === null || intervalText(metric) === ''
          ? null
          : withinRunNote(metric.within_run.coverage),
    },
    { text: words[word], style: styles[word], note: verdictNote(metric) },
  ]
}

function withinRunNote(coverage: readonly IntervalCoverage[]): string {
  const worth = coverage.length === 0 ? '' : `: ${coverageWords(coverage)}, docs/calibration.md`
  return `of one run${worth}; it knows nothing of how runs differ`
}

function verdictNote(metric: ComparedMetric): string | null {
  const { verdict, within_margin: within, p, p_adjusted: adjusted } = metric
  const shown = verdict === 'faster' || verdict === 'slower' || verdict === 'better' || verdict === 'worse'
  if (shown && within) return 'real, and within the margin: nobody would notice'
  if (!shown && p !== null && adjusted !== null && p < 0.05 && adjusted >= 0.05) {
    return `alone its interval would exclude 0 (p ${pText(p)}); among so many metrics one does by chance: ${pText(adjusted)} by Holm`
  }
  return null
}

/** The primary metric in a sentence. */
export function answer(metric: ComparedMetric, { design }: CompareDocument): string {
  const [a, b] = armTexts(metric)
  const moved = `${metric.label} ${a} → ${b}, ${changeText(metric.change, metric.interval, metric.scale)}`
  const interval = metric.interval === null ? '' : intervalText(metric)
  const size =
    metric.scale === 'points'
      ? `${shareText(design.margin).replace(' %', '')} points`
      : shareText(design.margin)
  const margin = `± ${size}`
  const said: Readonly<Record<VerdictWord | 'none', string>> = {
    faster: metric.within_margin ? `, within the margin of ${margin}` : '',
    better: metric.within_margin ? `, within the margin of ${margin}` : '',
    slower: metric.within_margin ? `, within the margin of ${margin}` : '',
    worse: metric.within_margin ? `, within the margin of ${margin}` : '',
    equivalent: `: within the margin of ${margin}`,
    no_regression: `: not worse by the margin of ${size}`,
    inconclusive: `: neither a difference nor its absence (${margin}) is shown`,
    none: ': cannot tell whether that is more than chance',
  }
  return `${moved}${interval === '' ? '' : ` ${interval}`}${said[metric.verdict ?? 'none']}`
}

/** Both arms with the digits that the noise leaves, or the more that the change beside them takes to be seen in them, and their unit. */
function armTexts({
  a,
  b,
  unit,
  difference,
  scale,
  change,
  interval,
}: ComparedMetric): readonly [string, string] {
  const isShare = unit === 'share'
  const times = isShare ? 100 : 1
  const noise = (difference.half_width ?? 0) * times
  const values = [a, b].map((arm) => (scale === 'log' ? centre(arm) : arm.mean) * times)
  const largest = Math.max(...values.map(Math.abs))
  const most = decimalsFor(largest, 5)
  let decimals = noise > 0 ? Math.min(decimalsForError(noise), most) : decimalsFor(largest, 3)
  const shown = (): readonly number[] => values.map((value) => Number(value.toFixed(decimals)))
  while (decimals < most && !showsChange(shown(), { change, interval, scale })) decimals++
  const name = isShare ? ' %' : unit === '' ? '' : ` ${unit}`
  const [first, second] = values.map((value) => `${formatNumber(value, decimals)}${name}`)
  return [first ?? '', second ?? '']
}

/** The change between two values as they are printed is the printed one, to a tenth of it or a unit of its last digit. */
function showsChange(
  [a = 0, b = 0]: readonly number[],
  { change, interval, scale }: Pick<ComparedMetric, 'change' | 'interval' | 'scale'>,
): boolean {
  if (change === null) return true
  if (scale !== 'points' && a === 0) return false
  const seen = scale === 'points' ? (b - a) / 100 : (b - a) / Math.abs(a)
  return Math.abs(seen - change) <= Math.max(Math.abs(change) / 10, lastDigit(change, interval))
}

function intervalText({ interval, within_run: within, unit, scale }: ComparedMetric): string {
  if (interval !== null) {
    const [low, high] = interval.map((end) => signed(end, interval))
    return `[${low}, ${high}] ${changeUnit(scale)}`
  }
  if (within === null || (within.a === null && within.b === null)) return ''
  const ends = (arm: readonly [number | null, number | null] | null): string =>
    arm === null ? 'none' : `[${arm.map((end) => (end === null ? '–' : formatPlain(end))).join(', ')}]`
  return `within-run: ${ends(within.a)} and ${ends(within.b)} ${unit}`
}

function nextCommand(
  { kind, arms, metrics, again }: CompareDocument,
  typed: readonly string[] | undefined,
): string {
  const primary = metrics.find((metric) => metric.primary)
  const needed = primary?.runs_needed?.to_tell ?? null
  if (kind === 'csv') {
    return primary?.verdict === 'inconclusive' && needed !== null
      ? `${formatCount(needed)} rows would tell`
      : ''
  }
  const more = needed !== null && needed <= 100 ? ['--runs', String(needed)] : []
  const [a, b] = [arms.a.runs[0]?.path ?? 'A', arms.b.runs[0]?.path ?? 'B']
  if (primary?.verdict === 'inconclusive' || primary?.verdict === null) {
    // What no flag can say stands in the file that was named, or in ./plimsoll.yaml.
    const words = again === null ? typed : (again ?? ['--run', 'URL_A', 'URL_B'])
    if (words !== undefined) return commandLine('compare', ...words, ...more)
    return `the same command line again${more.length === 0 ? '' : `, with ${more.join(' ')}`}`
  }
  return commandLine('why', a, b)
}
