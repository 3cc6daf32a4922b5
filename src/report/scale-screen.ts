import { noun } from '../base/noun.ts'
import { formatPercent, formatPlain, formatSpan } from '../base/units.ts'
import { commandLine } from './command-line.ts'
import { painter } from './paint.ts'
import { printable } from './printable.ts'
import type { PolicyDocument, SignalFacts, SignalsDocument } from './scale-documents.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

const columns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 3 },
]

/**
 * Which signal to scale on, and why not the others. Ends with a line break.
 * @param typed What of the words that it was asked by a policy is asked too.
 */
export function renderSignals(
  document: SignalsDocument,
  { color, typed }: { readonly color: boolean; readonly typed: readonly string[] },
): string {
  const paint = painter(color)
  const { signals, best, breach_at_s: breach, policy } = document
  const top = signals.find(({ name }) => name === best)
  const flat = signals.filter(({ kind }) => kind === 'flat').map(({ name }) => name)
  const answer =
    breach === null
      ? `${printable(document.limit)} was never missed for good: nothing had to be foreseen here`
      : top === undefined
        ? paint('bad', `nothing that was recorded moved before ${printable(document.limit)} was missed`)
        : `${paint('strong', `Scale on ${top.name}`)}: it moved ${span(top.lead_s)} before ${printable(document.limit)} was missed, ${formatSpan(breach * 1000)} into the run`
  const lines = [
    answer,
    ...(flat.length === 0 || breach === null
      ? []
      : [`  never on ${flat.join(', ')}: what does not move cannot warn`]),
    '',
    ...textTable(
      columns,
      [
        [{ text: 'signal' }, { text: 'lead' }, { text: 'correlation' }, { text: '' }],
        ...signals.map((signal): Cell[] => [
          { text: signal.name, style: signal.kind === 'early' ? 'good' : 'quiet' },
          { text: span(signal.lead_s) },
          { text: signal.correlation === null ? '–' : signal.correlation.toFixed(2).replace('-', '−') },
          { text: detail(signal) },
        ]),
      ],
      paint,
    ),
  ]
  if (policy !== null) {
    lines.push(
      '',
      policy.refused === null
        ? `A policy on ${policy.on} may be made.`
        : paint('bad', `A policy on ${policy.on} is refused: ${printable(policy.refused)}`),
    )
  }
  lines.push(
    best === null
      ? `beside a load that breaks the objective: ${commandLine('watch', '--url', document.url ?? 'URL', '--record')}`
      : commandLine(
          'scale',
          'policy',
          'SWEEP',
          '--run',
          document.run,
          '--on',
          best,
          ...typed,
          '--ramp',
          'RAMP',
          ...(typed.includes('--cold-start') ? [] : ['--cold-start', 'TIME']),
        ),
  )
  return `${lines.join('\n')}\n`
}

function detail({ kind, why, quiet, extreme, unit }: SignalFacts): string {
  if (kind !== 'early' || quiet === null || extreme === null) return why
  return `${value(quiet, unit)} → ${value(extreme, unit)}`
}

function value(number: number, unit: string): string {
  return unit === 'share' ? formatPercent(number) : `${formatPlain(number)}${unit === '' ? '' : ` ${unit}`}`
}

function span(seconds: number | null): string {
  if (seconds === null) return '–'
  return seconds < 0 ? `−${formatSpan(-seconds * 1000)}` : formatSpan(seconds * 1000)
}

/**
 * A policy with its working. Ends with a line break.
 * @param typed The words after `scale` that it was asked by.
 */
export function renderPolicy(
  document: PolicyDocument,
  { color, typed }: { readonly color: boolean; readonly typed: readonly string[] },
): string {
  const paint = painter(color)
  const pool =
    document.warm_pool === 0
      ? ''
      : `, ${document.warm_pool} more kept warm (+ ${document.reserve_in_flight} in flight on the metric)`
  const start =
    document.cold_start_s === null
      ? 'cold start unknown: --cold-start 40s, or --weights 16GB --bandwidth 2GB/s'
      : `a start takes ${startText(document.cold_start_s)}`
  const backlog =
    document.backlog === null
      ? []
      : [
          `  half as much again on one replica leaves ${document.backlog.waiting} waiting when the next one is there: ${formatPlain(document.backlog.wait_s)} s more for each`,
        ]
  const lines = [
    `${paint('strong', `Aim at ${document.target_in_flight} ${noun(document.target_in_flight, 'request')} in flight a replica`)} (running + waiting; ${formatPlain(document.target_per_s)} req/s)${pool}`,
    `  between ${document.min_replicas} and ${document.max_replicas} ${noun(document.max_replicas, 'replica')} · scale down over ${document.scale_down_stabilization_s} s, one in ${document.scale_down_period_s} s · up at once`,
    `  ${start}`,
    ...(document.basis.kind === 'confirmed'
      ? []
      : document.basis.kind === 'refuted'
        ? ['  REFUTED: an open-loop run at the operating point did not keep the objective; plimsoll find']
        : ['  INDICATIVE: the operating point was not confirmed open loop']),
    ...document.working.map((line) => `  ${line}`),
    ...backlog,
    `${commandLine('scale', ...typed, '--format', 'keda')}   (hpa, keda, keda-external, wva, json)`,
  ]
  return `${lines.join('\n')}\n`
}

function startText([min, max]: readonly [number, number]): string {
  return `at least ${formatPlain(min)} s${min === max ? '' : `, up to ${formatPlain(max)} s`}`
}
