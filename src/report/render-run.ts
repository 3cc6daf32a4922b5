import { noun } from '../base/noun.ts'
import {
  decimalsFor,
  formatCount,
  formatNumber,
  formatPercent,
  formatPlain,
  formatSpan,
} from '../base/units.ts'
import type { Warning, WarningKind } from '../base/warnings.ts'
import { commandLine } from './command-line.ts'
import type { RepeatFlags, RunDocument, TargetFacts } from './documents.ts'
import { explainRun } from './explain.ts'
import { defaultGood } from '../measure/metrics/objective.ts'
import type { MetricName } from '../measure/metrics/run-summary.ts'
import {
  failureHeadline,
  failureLines,
  failureShares,
  isFailing,
  outweighsLatencies,
} from './failure-words.ts'
import { footnotes, type Footnotes } from './footnotes.ts'
import { figure, figureFormat, metricTable } from './metric-rows.ts'
import { painter, type Paint, type RenderOptions, type Style } from './paint.ts'
import { printable } from './printable.ts'
import {
  countsLine,
  goodputLines,
  instrumentLine,
  littleLine,
  objectiveLines,
  requestRate,
  serverLine,
  serverUseLine,
  tagsLine,
  throughputLine,
} from './run-lines.ts'
import { savedReport } from './saved-words.ts'
import { textTable } from './text-table.ts'
import { warningLine, warningTexts, type Anchor } from './warning-text.ts'

const verdictStyles: Readonly<Record<RunDocument['verdict']['status'], Style>> = {
  VALID: 'good',
  DEGRADED: 'doubtful',
  INVALID: 'bad',
}

/** A run for the terminal: the answer, what it rests on, footnotes, and the next command. Ends with a line break. */
export function renderRun(document: RunDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const at = marker(unsaidWarnings(document), notes)
  // Footnotes are numbered as they are met, so the lines are made from the top.
  const lines = [headline(document, paint) + at('headline')]
  for (const { message, status } of document.verdict.reasons) {
    lines.push(`  ${paint(verdictStyles[status], status)} because ${message}`)
  }
  if (document.stopped !== null) lines.push(`  ${stoppedLine(document.stopped)}`)
  lines.push(
    paint('quiet', `  ${runLoadLine(document)}`) + at('load'),
    paint('quiet', `  ${serverLine(document.target)}`),
    ...tagsLine(document).map((line) => paint('quiet', `  ${line}`)),
    '',
  )
  const table = metricTable(document, notes, (name) => {
    const anchor = rowAnchors[name]
    return anchor === undefined ? '' : at(anchor)
  })
  lines.push(...textTable(table.columns, table.rows, paint), '')
  lines.push(...weightingLine(document, at))
  lines.push(...serverUseLine(document).map((line) => `  ${line}${at('server')}`))
  lines.push(`  ${throughputLine(document)}`)
  lines.push(`  ${countsLine(document)}${at('counts')}`)
  lines.push(...failureLines([document]).map((line) => `  ${line}`))
  lines.push(...goodputLines(document).map((line, index) => `  ${line}${index === 0 ? at('goodput') : ''}`))
  lines.push(...objectiveLines(document, paint).map((line) => `  ${line}`))
  lines.push(...littleLine(document).map((line) => `  ${line}${at('little')}`))
  lines.push(`  ${instrumentLine(document)}${at('instrument')}`)
  const rest = at(null)
  if (rest !== '') lines.push(`  also${rest}`)
  if (options.explain) lines.push('', ...explainRun(document))
  if (notes.lines().length > 0) lines.push('', ...notes.lines().map((line) => paint('quiet', line)))
  lines.push(nextLine(document, options))
  return `${lines.join('\n')}\n`
}

/** Warnings that a reason of the verdict, by its rule, says in full. */
const saidByRule: Readonly<Record<string, WarningKind>> = { file_broken: 'file_truncated' }

/** The warnings that no reason of the verdict says already; each reason says one, the first of its kind. */
function unsaidWarnings({ warnings, verdict }: RunDocument): readonly Warning[] {
  const said = verdict.reasons.map(({ rule }) => warnings.find(({ kind }) => kind === saidByRule[rule]))
  return warnings.filter((warning) => !said.includes(warning))
}

/** Of a run that was killed, or whose rows could not be written, nobody knows whether it came to its end. */
export function stoppedLine({ kind, why }: NonNullable<RunDocument['stopped']>): string {
  return `${kind === 'killed' ? 'incomplete' : 'ended before its plan'}: ${printable(why)}`
}

const rowAnchors: Readonly<Partial<Record<MetricName, Anchor>>> = {
  ttft_ms: 'ttft',
  tpot_ms: 'tpot',
  gaps_ms: 'gaps',
}

/**
 * Gives the marks of the warnings that stand at a line, with a space before. Called with null at the end, it gives those whose line
 * was not printed: no warning is lost.
 */
type Marker = (anchor: Anchor | null) => string

function marker(warnings: readonly Warning[], notes: Footnotes): Marker {
  const left = new Set(warnings)
  return (anchor) => {
    const own = [...left].filter(({ kind }) => anchor === null || warningTexts[kind].anchor === anchor)
    for (const warning of own) left.delete(warning)
    return own.length === 0 ? '' : ` ${own.map((warning) => notes.mark(warningLine(warning))).join(' ')}`
  }
}

function headline(document: RunDocument, paint: Paint): string {
  const { status } = document.verdict
  return `${paint(verdictStyles[status], status)} · ${runHeadline(document)}`
}

/** The answer without the verdict. */
export function runHeadline(document: RunDocument): string {
  const { ok, sent, lost = 0 } = document.counts
  if (ok > 0) return answer(document)
  // Of requests without a row nobody knows what became of them.
  return sent === 0 && lost > 0 ? 'no request is on record' : 'no request succeeded'
}

/** The one thing that was asked: goodput where there is an objective, else rate and tail. */
function answer(document: RunDocument): string {
  const { goodput, throughput, metrics } = document
  if (goodput !== null && goodput.per_s !== null && goodput.share !== null && throughput.window_s > 0) {
    const offered = goodput.attempts / throughput.window_s
    const decimals = decimalsFor(offered, 2)
    const least = goodput.lower_bound ? 'at least ' : ''
    return `goodput ${least}${formatNumber(goodput.per_s, decimals)} req/s of ${formatNumber(offered, decimals)} offered (${least}${formatPercent(goodput.share)})`
  }
  const rate = requestRate(document)
  const known: string[] = []
  if (rate !== null) known.push(rate.why === null ? rate.text : `${rate.text} (${rate.why})`)
  for (const [label, summary] of [
    ['TTFT', metrics.ttft_ms],
    ['TPOT', metrics.tpot_ms],
  ] as const) {
    if (summary === undefined || summary.n === 0) continue
    const [name, value] = summary.p99 === null ? ['p50', summary.p50] : ['p99', summary.p99]
    if (value !== null) known.push(`${label} ${name} ${figure(value, figureFormat(summary))}`)
  }
  const failures = failureHeadline(failureShares([document]))
  // Without an objective nothing else tells that most of what is below is of the few that went well.
  if (known.length > 0 && failures !== null) known.unshift(failures)
  // Latencies are of the answers that ended: those of the slowest are not among them.
  const { censored, cancelled_by_client: cancelled = 0, sent } = document.counts
  const cut = (censored - cancelled) / sent
  if (known.length > 0 && outweighsLatencies(cut)) known.push(`${formatPercent(cut)} cut at the end`)
  return known.length === 0 ? 'only counts are known' : known.join(' · ')
}

/** What was sent: "Poisson 6/s (open loop) for 10m · random, prompts …". */
export function runLoadLine({ load, window, workload, warnings, throughput }: RunDocument): string {
  // A pacer describes itself as its name, a colon and its equation: `--explain` shows the equation.
  const name = load.text.split(':')[0]!
  const limit =
    load.open_loop && load.connection_limit !== null
      ? `, over ${formatCount(load.connection_limit)} ${noun(load.connection_limit, 'connection')}`
      : ''
  const warned = warnings.some(({ kind }) => kind === 'closed_loop_cannot_show_overload')
  // Neither open nor a number of users: another tool's plan, which nobody knows.
  const unknown = !load.open_loop && load.users === null
  const loop = load.open_loop ? ' (open loop)' : warned || unknown ? '' : ' (it cannot show overload)'
  const warmup = window.warmup_s > 0 ? ` after ${formatSpan(window.warmup_s * 1000)} of warm-up` : ''
  const span = throughput.window_s === 0 ? '' : ` for ${formatSpan(window.measure_s * 1000)}`
  return `${printable(name)}${limit}${loop}${span}${warmup} · ${printable(workload)}`
}

function weightingLine({ weighting, metrics }: RunDocument, at: Marker): string[] {
  const { per_request: user, per_token: token } = weighting
  if (user === null || token === null || metrics.tpot_ms === undefined) return []
  const format = figureFormat(metrics.tpot_ms)
  return [
    `  TPOT for a typical user ${figure(user, format)}, for a typical token ${figure(token, format)}${at('weighting')}`,
  ]
}

/** Where it is kept, and what to do now. */
function nextLine(document: RunDocument, options: RenderOptions): string {
  return [...savedReport(document.run, options), ...nextCommands(document)].join(' · ')
}

/** The command lines to go on with; none where there is no server to send them to. */
export function nextCommands(document: RunDocument): string[] {
  const { load, throughput, verdict, target, repeat } = document
  const next: string[] = []
  // Another tool's run: there is nothing to send it to. Nor is there a command for what no flag can say.
  if (target.url === 'unknown' || repeat === null) return next
  const judged = failuresJudged(document)
  if (judged !== null) return [judged]
  const sweeps = verdict.status !== 'INVALID' && load.open_loop && target.api !== 'embeddings'
  if (sweeps) next.push(commandLine('sweep', ...sameAgain(target, repeat)))
  if (!load.open_loop && throughput.requests_per_s !== null && throughput.requests_per_s > 0) {
    const rate = ['--request-rate', formatPlain(throughput.requests_per_s)]
    const words = [...sameAgain(target, repeat), ...rate, ...(repeat?.ends ?? [])]
    next.push(`${commandLine('run', ...words)}   (users who do not wait)`)
  }
  return next
}

/**
 * Of a run whose requests fail and that nothing judges: the same with an objective that whatever is answered keeps, so that a pipeline
 * fails of what is not. Null where it would fail as it is, or no flags can say it.
 */
function failuresJudged(document: RunDocument): string | null {
  const { objectives, verdict, metrics, target, repeat } = document
  const longest = metrics.e2e_ms?.max ?? null
  if (verdict.status === 'INVALID' || objectives.some(({ judged }) => judged)) return null
  if (!isFailing(failureShares([document])) || longest === null) return null
  if (repeat?.load === undefined || repeat.load === null) return null
  const objective = `e2e < ${roomAboveS(longest)}s, good ${defaultGood}`
  const words = [...sameAgain(target, repeat), ...repeat.load, ...repeat.ends, '--slo', objective]
  return `${commandLine('run', ...words)}   (exit 3 where more than 1 % fail)`
}

/** Twice as long or more, in a round figure, and no less than a second; in seconds, the longest unit that an objective has. */
function roomAboveS(ms: number): number {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600]
  return steps.find((seconds) => 1000 * seconds >= 2 * ms) ?? Math.ceil(ms / 500)
}

/** The flags that ask the same server for the same. */
export function sameAgain(
  target: Pick<TargetFacts, 'url' | 'api' | 'embedded'>,
  repeat: RepeatFlags | undefined,
): readonly string[] {
  return [
    ...(target.embedded ? [] : ['--url', target.url]),
    ...(repeat?.asked ?? (target.api === 'chat' ? [] : ['--api', target.api])),
  ]
}
