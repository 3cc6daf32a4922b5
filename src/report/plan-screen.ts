import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
} from '../base/units.ts'
import { commandLine } from './command-line.ts'
import { footnotes } from './footnotes.ts'
import { painter, type Paint, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { simulationLines } from './plan-simulation-text.ts'
import type { PlanCandidate, PlanDocument, PlanReading } from './plan-document.ts'
import { warningLine } from './warning-text.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

/** A plan's options, and the words after `plan` that it was asked by, but for some flags: what the next command begins with. */
export interface PlanRenderOptions extends RenderOptions {
  readonly typed: (without?: readonly string[]) => readonly string[]
}

/** A plan for the terminal: the number of replicas with its working, what it rests on, the next command. Ends with a line break. */
export function renderPlan(document: PlanDocument, options: PlanRenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const [best] = document.candidates
  const lines = [
    ...answer(document, best, paint),
    ...document.warnings.map((warning) => `  ${paint('bad', warningLine(warning))}`),
    ...(document.candidates.length > 1 ? ['', ...ranking(document.candidates, paint)] : []),
    ...classLines(document),
    ...(best === undefined || best.basis === null
      ? []
      : [`  ${basisLine(document, best, (text) => notes.mark(text))}`]),
    ...limitLines(document).map((line) => `  ${line}`),
    ...(document.simulation === null ? [] : simulationLines(document.simulation, paint)),
    ...(options.explain ? explainLines(document, best) : []),
    ...(document.provenance === null
      ? []
      : [
          `  holds until ${document.provenance.expires_at?.slice(0, 10) ?? 'unknown'}; not measured: ${document.not_measured.length} ${noun(document.not_measured.length, 'thing')} ${notes.mark(document.not_measured.join('; '))}`,
        ]),
    ...(notes.lines().length === 0
      ? []
      : ['', ...notes.lines().map((line) => paint('quiet', printable(line)))]),
    nextLine(document, best, options.typed),
  ]
  return `${lines.join('\n')}\n`
}

function answer(document: PlanDocument, best: PlanCandidate | undefined, paint: Paint): string[] {
  const { demand } = document
  const percent = `${formatPlain(Number(demand.margin) * 100)}%`
  if (best === undefined || best.basis === null) {
    return [
      paint('bad', 'Nothing to plan on: no tested load keeps the objective.'),
      ...(best === undefined ? [] : [`  ${printable(best.name)}`]),
    ]
  }
  const chosen = best.readings.find(({ margin_kind }) => margin_kind === best.chosen)
  if (chosen === undefined) {
    return [
      `"${percent.replace('%', ' %')} margin" is read in two ways, and they differ here: say which.`,
      ...textTable(
        readingColumns,
        best.readings.map((reading) => [
          { text: `--margin ${reading.margin_kind}:${percent}`, style: 'strong' as const },
          { text: replicasText(reading), style: 'strong' as const },
          { text: workingText(reading) },
        ]),
        paint,
      ),
    ]
  }
  const cost = costText(chosen)
  return [
    `${paint('strong', capital(replicasText(chosen)))} for ${demand.peak_per_s} req/s at the peak${cost}`,
    `  ${workingText(chosen)}`,
    ...managerLine(document, best, chosen),
  ]
}

/** The division that is often done instead, where it gives another number. */
function managerLine({ demand }: PlanDocument, best: PlanCandidate, chosen: PlanReading): string[] {
  const rate = best.basis?.requests_per_s ?? 0
  const naive = rate > 0 ? Math.ceil(Number(demand.peak_per_s) / rate) : 0
  return naive === 0 || naive === chosen.replicas
    ? []
    : [
        `  often got wrong: ${demand.peak_per_s} ÷ ${formatPlain(rate, 4)} → ${naive} has no margin and survives nothing`,
      ]
}

const readingColumns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'left', gap: 2 },
  { align: 'left', gap: 3 },
]

function workingText({ working }: PlanReading): string {
  return working.join('; ')
}

function replicasText({ replicas, gpus }: PlanReading): string {
  const of = gpus === replicas ? '' : ` (${formatCount(gpus)} ${noun(gpus, 'GPU')})`
  return `${formatCount(replicas)} ${noun(replicas, 'replica')}${of}`
}

function costText({ cost_per_hour: hour, cost_per_million_output_tokens: million }: PlanReading): string {
  if (hour === null) return ''
  const tokens =
    million === null ? '' : ` · ${formatNumber(million, 3)} per million output tokens at the peak`
  return ` · ${formatNumber(hour, 2)} an hour${tokens}`
}

const rankColumns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 3 },
]

function ranking(candidates: readonly PlanCandidate[], paint: Paint): string[] {
  const head: Cell[] = ['sweep', 'safe tok/s', 'peak tok/s', 'req/s', 'replicas', 'broke first'].map(
    (text) => ({
      text,
    }),
  )
  const rows = candidates.map((each): Cell[] => {
    const counts = [...new Set(each.readings.map(({ replicas }) => replicas))]
    const chosen = each.readings.find(({ margin_kind }) => margin_kind === each.chosen)
    return [
      { text: printable(each.name) },
      { text: each.output_tokens_per_s === null ? '–' : formatNumber(each.output_tokens_per_s) },
      { text: each.peak_output_tokens_per_s === null ? '–' : formatNumber(each.peak_output_tokens_per_s) },
      { text: each.basis === null ? '–' : formatPlain(each.basis.requests_per_s) },
      {
        text:
          each.basis === null ? '–' : chosen === undefined ? counts.join(' or ') : String(chosen.replicas),
      },
      { text: printable(each.broke_first ?? 'nothing that was tested') },
    ]
  })
  const [first] = candidates
  const fastest = candidates.reduce((most, each) =>
    (each.peak_output_tokens_per_s ?? 0) > (most.peak_output_tokens_per_s ?? 0) ? each : most,
  )
  const surprise =
    first !== undefined && fastest !== first && fastest.peak_output_tokens_per_s !== null
      ? [
          `  the fastest does not win: ${printable(fastest.name)} peaks at ${formatRate(fastest.peak_output_tokens_per_s, 'tok/s')} and keeps the objective up to ${fastest.output_tokens_per_s === null ? 'no load' : formatRate(fastest.output_tokens_per_s, 'tok/s')}`,
        ]
      : []
  return [...textTable(rankColumns, [head, ...rows], paint), ...surprise]
}

function classLines({ classes, shared_replicas: shared }: PlanDocument): string[] {
  if (classes.length === 0) return []
  const lines = classes.map(({ name, peak_per_s, readings, chosen }) => {
    const reading = readings.find(({ margin_kind }) => margin_kind === chosen)
    const found = reading === undefined ? 'undecided' : `${replicasText(reading)}: ${workingText(reading)}`
    return `  class ${printable(name)}, ${peak_per_s} req/s → ${found}`
  })
  if (shared !== null)
    lines.push(`  one pool for all: ${shared} replicas, if the mix is as heavy as the sum of its parts`)
  return lines
}

function basisLine(document: PlanDocument, best: PlanCandidate, mark: (text: string) => string): string {
  const { basis } = best
  if (basis === null) return ''
  const least = basis.at_least ? 'at least ' : ''
  const each = `each carries ${least}${formatPlain(basis.requests_per_s, 4)} req/s`
  if (basis.kind === 'typed') return `${each}, as typed: plimsoll sweep measures it`
  if (basis.kind === 'confirmed') return `${each}, confirmed open loop: ${printable(basis.why)}`
  if (basis.kind === 'refuted')
    return `closed loop ${each}: REFUTED ${mark(`${basis.why}: plimsoll find looks for a rate that holds, plimsoll plan --each RATE/s plans on it`)}`
  const rate = ['--request-rate', formatPlain(basis.requests_per_s, 4)]
  return `${each}: INDICATIVE ${mark(`${basis.why}: ${measuringLine('run', document, rate)} confirms it`)}`
}

function limitLines({ limits, availability, bursts, candidates }: PlanDocument): string[] {
  const lines: string[] = []
  const survivor = candidates[0]?.survivor_share ?? null
  if (survivor !== null && survivor > 0)
    lines.push(`after the planned losses each carries ${formatPercent(survivor)} of what was measured`)
  const [second] = bursts
  if (second !== undefined)
    lines.push(
      `the mean of a minute hides its seconds: over 1 s random arrivals peak at ${formatPlain(second.peak_to_mean)}x (P99); what serves covers ${formatPercent(second.covered_share)} of the seconds`,
    )
  if (availability !== null) {
    const up = availability.enough_up.map(({ replicas, chance }) => `${replicas}: ${formatPercent(chance)}`)
    lines.push(`enough are up, at ${formatPercent(availability.of_replica)} each, with ${up.join(', ')}`)
    if (availability.wanted !== null)
      lines.push(
        `${formatPercent(availability.wanted.chance)} takes ${availability.wanted.replicas} replicas`,
      )
  }
  if (limits === null) return lines
  const wait =
    limits.max_wait_ms === null
      ? ''
      : `, ${limits.max_queued ?? 0} waiting (${formatDuration(limits.max_wait_ms)})`
  lines.push(
    `limits of one: ${limits.max_running} in the batch${wait}, then 429 · vLLM ${limits.flags['vllm']?.join(' ') ?? ''}`,
  )
  return lines
}

function explainLines(document: PlanDocument, best: PlanCandidate | undefined): string[] {
  const lines = (best?.readings ?? []).flatMap((reading) => [
    `  margin as ${reading.margin_kind}: ${replicasText(reading)}`,
    ...reading.working.map((step) => `    ${step}`),
  ])
  for (const [what, why] of Object.entries(document.limits?.why ?? {})) lines.push(`  ${what}: ${why}`)
  return ['', ...lines, '']
}

function nextLine(
  document: PlanDocument,
  best: PlanCandidate | undefined,
  typed: PlanRenderOptions['typed'],
): string {
  const { demand, out, files } = document
  if (out !== null)
    return `wrote ${files.length} ${noun(files.length, 'file')} to ${printable(out)} · ${printable(out)}/capacity.md is the page to show`
  if (best === undefined || best.basis === null || best.basis.kind === 'refuted')
    return `find a rate that holds: ${measuringLine('find', document)}`
  if (best.chosen === null) {
    const margin = `derate:${formatPlain(Number(demand.margin) * 100)}%`
    return commandLine('plan', ...typed(['margin']), '--margin', margin)
  }
  if (best.basis.kind === 'typed') return `measure what one carries: ${commandLine('sweep', '--url', 'URL')}`
  return commandLine('plan', ...typed(), '--out', 'deploy')
}

/** The command line that measures the server of the sweep, asked for the same. */
export function measuringLine(
  verb: 'run' | 'sweep' | 'find',
  { provenance }: PlanDocument,
  load: readonly string[] = [],
): string {
  const again = provenance?.again ?? (provenance?.embedded === false ? ['--url', 'URL'] : [])
  return commandLine(verb, ...again, ...load)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
