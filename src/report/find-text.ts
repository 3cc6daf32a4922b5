import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
  timeScale,
} from '../base/units.ts'
import { commandLine, planCommand } from './command-line.ts'
import type { ObjectiveOutcome } from './documents.ts'
import type { FindDocument, FindPoint } from './find-document.ts'
import { failureLines, failureShares, failureWords } from './failure-words.ts'
import { footnotes } from './footnotes.ts'
import { judgedLimits } from './judged-limits.ts'
import { commandsToLookCloser } from './look-closer.ts'
import { painter, type Paint, type RenderOptions, type Style } from './paint.ts'
import { printable } from './printable.ts'
import { sameAgain, stoppedLine } from './render-run.ts'
import { serverLine, tagsLine } from './run-lines.ts'
import { savedReport } from './saved-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

const columns: readonly Column[] = [
  { align: 'left', gap: 1 },
  { align: 'right', gap: 1 },
  { align: 'left', gap: 3 },
  { align: 'right', gap: 3, leaves: 4 },
  { align: 'right', gap: 3, leaves: 3 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 1 },
  { align: 'right', gap: 3, leaves: 1 },
  { align: 'right', gap: 3, leaves: 2 },
  { align: 'left', gap: 3, wraps: true },
]
const decisionStyles: Readonly<Record<FindPoint['decision'], Style>> = {
  holds: 'good',
  fails: 'bad',
  undecided: 'doubtful',
  invalid: 'doubtful',
}
const rateFigures = 4

/** A search for the terminal: the interval first, then the points, how sure it is, and the next command. Ends with a line break. */
export function renderFind(document: FindDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning))).join(' ')
  const head = ['', 'req/s', '', 'in flight', 'tok/s', judgedName(document), '', 'requests', 'looks', ''].map(
    (text) => ({ text }),
  )
  const rows = document.points.map((point) => pointRow(point, document))
  const place = { columns: options.columns ?? null, notes }
  const lines = [
    headline(document, paint) + (marks === '' ? '' : ` ${marks}`),
    `  ${answerSentence(document)}`,
    ...(document.stopped === null ? [] : [`  ${stoppedLine(document.stopped)}`]),
    paint('quiet', `  ${printable(document.workload)} · objective ${document.objective}`),
    paint('quiet', `  ${serverLine(document.target)}`),
    ...tagsLine(document).map((line) => paint('quiet', `  ${line}`)),
    ...(rows.length === 0 ? [] : ['', ...textTable(columns, [head, ...rows], paint, place)]),
    '',
    ...errorLines(document).map((line) => `  ${line}`),
    ...failureLines(document.points).map((line) => `  ${line}`),
    ...(options.explain ? explainLines(document).map((line) => `  ${line}`) : []),
    ...(notes.lines().length === 0 ? [] : ['', ...notes.lines().map((line) => paint('quiet', line))]),
    nextLine(document, options),
  ]
  return `${lines.join('\n')}\n`
}

const rate = (perSecond: number): string => formatPlain(perSecond, rateFigures)

function headline({ answer }: FindDocument, paint: Paint): string {
  const { holds_at_per_s: holds, fails_at_per_s: fails } = answer
  const failing = fails === null ? 'no rate was shown to fail' : `fails at ${rate(fails)} req/s`
  if (holds === null) return `${paint('bad', 'No rate was shown to hold')}; ${failing}`
  return `${paint('good', `Holds at ${rate(holds)} req/s`)}; ${failing}`
}

function answerSentence({ answer, plan }: FindDocument): string {
  const { holds_at_per_s: holds, fails_at_per_s: fails, why } = answer
  if (holds === null && fails === null) return `nothing is known of the highest rate: ${why}`
  const low = holds === null ? '0' : rate(holds)
  const high = fails === null ? '∞' : rate(fails)
  const wide = holds === null || fails === null ? '' : `, ${formatPercent(fails / holds - 1)} wide`
  const error = `; each end is wrong with at most ${formatPercent(plan.error.each_end)}`
  return `the highest rate that holds lies in [${low}, ${high}${fails === null ? ')' : ']'} req/s${wide}: ${why}${error}`
}

/** What the objective's first judged part limits: the column of the figure that decides. */
function judgedName({ points, objective }: FindDocument): string {
  const judged = points.flatMap(({ objectives }) => objectives.filter((one) => one.judged))[0]
  if (judged === undefined) return objective
  if (judged.kind === 'each') return 'good'
  const [limit] = judgedLimits(judged.text).run
  return limit === undefined ? judged.text : `p${limit.percentile} ${limit.metric}`
}

function pointRow(point: FindPoint, { answer }: FindDocument): Cell[] {
  const { load, decision, in_flight: inFlight, throughput, looks, why } = point
  const tokens = throughput.output_tokens_per_s
  const judged = point.objectives.filter((one) => one.judged)
  const wanted = decision === 'fails' ? 'no' : decision === 'holds' ? 'yes' : 'inconclusive'
  // Without a look the ends are those of the run, at another confidence.
  const telling = looks.taken === 0 ? undefined : (judged.find(({ met }) => met === wanted) ?? judged[0])
  const open = decision === 'undecided' || decision === 'invalid'
  return [
    { text: load.value === answer.holds_at_per_s ? '▸' : '', style: 'good' },
    { text: rate(load.value), note: open ? why : null },
    { text: decision, style: decisionStyles[decision] },
    { text: inFlight === null ? '–' : formatPlain(inFlight) },
    { text: tokens === null ? '–' : formatNumber(tokens) },
    { text: telling === undefined ? '–' : figureText(telling, telling.estimate) },
    { text: telling === undefined ? '' : boundText(telling) },
    { text: formatCount(looks.requests) },
    { text: looks.taken === 0 ? '–' : `${looks.taken} of ${looks.planned}` },
    { text: failureWords(failureShares([point])) ?? '' },
  ]
}

function figureText({ kind }: ObjectiveOutcome, value: number | null): string {
  if (value === null) return kind === 'each' ? '–' : 'a failure'
  if (kind === 'each') return formatPercent(value)
  const scale = timeScale(value)
  return `${formatPlain(value / scale.ms, 4)} ${scale.unit}`
}

/** "≤ 9.8 ms": the end of the interval that decides. */
function boundText(outcome: ObjectiveOutcome): string {
  const { bound, met, kind } = outcome
  if (bound === null) return ''
  const below = kind === 'each' ? met === 'no' : met !== 'no'
  return `${below ? '≤' : '≥'} ${figureText(outcome, bound)}`
}

function errorLines({ plan, points, answer }: FindDocument): string[] {
  const looks = points.reduce((sum, point) => sum + point.looks.taken, 0)
  return [
    `error: ${formatPercent(plan.error.look)} a look × ${plan.most_looks} ${noun(plan.most_looks, 'look')} × ${plan.most_points} ${noun(plan.most_points, 'point')} = ${formatPercent(plan.error.each_end)} for each end, spent before the first; ${formatCount(looks)} ${noun(looks, 'look was', 'looks were')} taken`,
    ...(answer.holds_at_per_s === null
      ? []
      : ['the holding rate is a Poisson run of its own, cold and settled: it needs no confirmation']),
  ]
}

function explainLines({ plan, probe, points }: FindDocument): string[] {
  const from =
    probe === null
      ? `began at ${formatRate(plan.from_per_s)}, as given`
      : `began at ${formatRate(plan.from_per_s)}: half of ${probe.requests_per_s === null ? 'what nobody answered' : `the ${formatRate(probe.requests_per_s)} that ${probe.users} ${noun(probe.users, 'user got who waits for its answers', 'users got who wait for their answers')}`}`
  return [
    from,
    `looks at its first rate after ${plan.looks.map((count) => formatCount(count)).join(', ')} requests, whatever they show; "holds" at the earliest after ${formatSpan(plan.holds_from_s * 1000)}, and never while requests in flight grow`,
    ...points.map(({ load, decision, why }) => `${rate(load.value)} req/s ${decision}: ${why}`),
  ]
}

function nextLine(document: FindDocument, options: RenderOptions): string {
  return [...savedReport(document.find, options), ...nextCommands(document)].join(' · ')
}

function nextCommands({ answer, find, points, probe, target, repeat }: FindDocument): string[] {
  const holds = answer.holds_at_per_s
  if (holds === null) {
    const [run] = probe?.runs ?? []
    // Of a search that ended before its first point the probe is all there is.
    if (points.length === 0 && run !== undefined) return [commandLine('show', `${find}/${run}`)]
    return commandsToLookCloser(find, points[0], target, repeat)
  }
  const plan = planCommand(['--each', `${holds}/s`], holds)
  if (repeat === null) return [plan]
  const rate = ['--request-rate', String(holds), '--duration', '15m']
  return [commandLine('run', ...sameAgain(target, repeat), ...rate), plan]
}
