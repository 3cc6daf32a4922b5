import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import { commandLine } from './command-line.ts'
import { painter, type Paint } from './paint.ts'
import { printable } from './printable.ts'
import type { SimulatedPolicy, SimulationDocument } from './simulate-document.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

export interface SimulationRenderOptions {
  readonly color: boolean
  /** Where the rows were kept; null: nowhere. */
  readonly out: string | null
  /** The words after `simulate` that it was asked by. */
  readonly typed: readonly string[]
}

const columns: readonly Column[] = [
  { align: 'left', gap: 2 },
  ...Array.from({ length: 8 }, (): Column => ({ align: 'right', gap: 3 })),
]

const heads = ['', 'good', 'TTFT p50', 'p99', 'TPOT p99', 'E2E p99', 'waiting, most', 'replica-h', 'cost']

/** A simulation for the terminal: who met the objective, the policies side by side, who was hurt, the floor. */
export function renderSimulation(document: SimulationDocument, options: SimulationRenderOptions): string {
  const paint = painter(options.color)
  const { policies, floor } = document
  const costs = policies.some((policy) => policy.cost !== null)
  const head: Cell[] = heads.slice(0, costs ? 9 : 8).map((text) => ({ text }))
  const rows = policies.map((policy) => row(policy, costs))
  const floorRow: Cell[][] =
    floor === null
      ? []
      : [
          [
            { text: 'if all were known before', style: 'quiet' },
            ...Array.from({ length: 6 }, (): Cell => ({ text: '' })),
            { text: hours(floor.replica_hours), style: 'quiet' },
            ...(costs ? [{ text: money(floor.cost), style: 'quiet' as const }] : []),
          ],
        ]
  const lines = [
    headline(document, paint),
    paint(
      'quiet',
      `  ${printable(document.name)} · ${formatSpan(document.duration_s * 1000)} in virtual time · seed ${printable(document.seed)}${document.objective === null ? '' : ` · objective ${document.objective}`}`,
    ),
    '',
    ...textTable(columns, [head, ...rows, ...floorRow], paint),
    '',
    ...policies.flatMap((policy) => details(policy, policies.length > 1, paint)),
    ...(floor === null
      ? []
      : [
          `  floor: one replica carries ${formatRate(floor.capacity_per_s)} of these (mean field, the ${wallWords[floor.binding] ?? floor.binding} binds); each window rounded up to whole replicas`,
        ]),
    nextLine(document, options),
  ]
  return `${lines.join('\n')}\n`
}

const wallWords: Readonly<Record<string, string>> = {
  compute: 'compute',
  seats: 'number of seats',
  kv: 'KV pool',
  budget: 'token budget of a step',
  slo: 'TPOT limit',
}

function headline(document: SimulationDocument, paint: Paint): string {
  const { policies } = document
  const judged = policies.filter((policy) => policy.objective_met !== null)
  if (policies.length === 1) {
    const [policy] = policies as [SimulatedPolicy]
    const share = policy.good_share === null ? 'no traffic' : formatPercent(policy.good_share)
    if (policy.objective_met === null) {
      return `${formatCount(policy.counts.arrived)} ${noun(policy.counts.arrived, 'request')}, ${share} answered well · ${formatRate(policy.goodput_per_s)}`
    }
    const word = policy.objective_met ? paint('good', 'MET') : paint('bad', 'MISSED')
    return `${word} · ${share} of ${formatCount(policy.counts.arrived)} ${noun(policy.counts.arrived, 'request')} good, budget spent ${spent(policy)} · goodput ${formatRate(policy.goodput_per_s)}`
  }
  const met = judged.filter((policy) => policy.objective_met === true)
  if (judged.length === 0) return `${policies.length} policies side by side`
  if (met.length === 0) return `${paint('bad', 'MISSED')} by all ${policies.length} policies`
  const cheapest = met.reduce((least, policy) =>
    (policy.cost ?? policy.replica_hours) < (least.cost ?? least.replica_hours) ? policy : least,
  )
  const price =
    cheapest.cost === null ? `${hours(cheapest.replica_hours)} replica-hours` : money(cheapest.cost)
  const others = met.length === 1 ? 'the only one that does' : `the cheapest of ${met.length} that do`
  return `${paint('good', printable(cheapest.policy))} meets the objective for ${price}, ${others}`
}

function row(policy: SimulatedPolicy, costs: boolean): Cell[] {
  const good = policy.good_share === null ? 'no traffic' : formatPercent(policy.good_share)
  return [
    { text: printable(policy.policy) },
    policy.objective_met === null
      ? { text: good }
      : { text: good, style: policy.objective_met ? 'good' : 'bad' },
    { text: time(policy.ttft_ms.p50) },
    { text: time(policy.ttft_ms.p99) },
    { text: time(policy.tpot_ms.p99) },
    { text: time(policy.e2e_ms.p99) },
    { text: formatCount(policy.worst_queue.requests) },
    { text: hours(policy.replica_hours) },
    ...(costs ? [{ text: money(policy.cost) }] : []),
  ]
}

/** Why a request was not good. */
export const hurtWords: Readonly<Record<string, string>> = {
  waited: 'waited too long',
  slow: 'were served too slowly',
  evicted: 'were evicted and came back late',
  shed: 'refused (429)',
  queue_timeout: 'timed out in line (503)',
  client_timeout: 'gave up',
  replica_lost: 'lost with their replica',
  refused: 'fit no replica',
  failed: 'ended by the engine',
  censored: 'still ran at the end',
}

function details(policy: SimulatedPolicy, named: boolean, paint: Paint): string[] {
  const { counts, replicas } = policy
  const name = named ? `${printable(policy.policy)}: ` : ''
  const lost = Object.entries(counts.lost).filter(([, count]) => count > 0)
  const hurt = Object.entries(policy.hurt).sort((a, b) => b[1] - a[1])
  const lines = [
    `  ${name}${formatCount(counts.arrived)} arrived = ${[
      `${formatCount(counts.answered)} answered`,
      ...lost.map(([kind, count]) => `${formatCount(count)} ${hurtWords[kind] ?? kind}`),
      ...(counts.censored > 0 ? [`${formatCount(counts.censored)} still ran at the end`] : []),
    ].join(' + ')}${counts.attempts > counts.arrived ? ` · ${formatCount(counts.attempts)} attempts` : ''}`,
  ]
  if (hurt.length > 0) {
    lines.push(
      `    hurt: ${hurt.map(([cause, count]) => `${formatCount(count)} ${hurtWords[cause] ?? cause}`).join(', ')}`,
    )
  }
  if (policy.worst_queue.requests > 0) {
    lines.push(
      `    longest line: ${formatCount(policy.worst_queue.requests)} at ${formatSpan(policy.worst_queue.at_s * 1000)}, longest wait ${time(policy.queue_ms.max)}`,
    )
  }
  if (replicas.changes.length > 0) lines.push(`    replicas ${changes(policy)}, at most ${replicas.most}`)
  else if (replicas.first !== replicas.most)
    lines.push(`    replicas ${replicas.first}, at most ${replicas.most}`)
  const p99s = policy.groups.flatMap(({ ttft_ms: { p99 } }) => (p99 === null ? [] : [p99]))
  if (p99s.length > 1) {
    const mean = p99s.reduce((sum, ms) => sum + ms, 0) / p99s.length
    const each = policy.groups
      .map((group) => `${printable(group.name)} ${time(group.ttft_ms.p99)}`)
      .join(', ')
    lines.push(
      `    TTFT p99 of each group: ${each}; of all requests ${time(policy.ttft_ms.p99)} (the mean of the groups' p99s, ${time(mean)}, is nobody's p99)`,
    )
  }
  lines.push(`    good over time ${paint('quiet', goodLine(policy))}`)
  return lines
}

const mostChanges = 6

function changes({ replicas }: SimulatedPolicy): string {
  const shown = replicas.changes
    .slice(0, mostChanges)
    .map(({ at_s, from, to }) => `${from} → ${to} at ${formatSpan(at_s * 1000)}`)
  const more = replicas.changes.length - shown.length
  return shown.join(', ') + (more > 0 ? `, and ${more} more changes` : '')
}

const bars = '▁▂▃▄▅▆▇█'
const mostBars = 60

/** One sign for each window, several together where there are many: full where all were good, a point where nobody came. */
function goodLine({ windows }: SimulatedPolicy): string {
  const together = Math.ceil(windows.length / mostBars)
  let line = ''
  for (let from = 0; from < windows.length; from += together) {
    const part = windows.slice(from, from + together)
    const good = part.reduce((sum, window) => sum + window.good, 0)
    const all = part.reduce((sum, window) => sum + window.good + window.bad, 0)
    line += all === 0 ? '·' : (bars[Math.min(7, Math.floor((8 * good) / all))] as string)
  }
  return line
}

function nextLine({ policies }: SimulationDocument, { out, typed }: SimulationRenderOptions): string {
  const [policy] = policies
  const of = (folder: string): string =>
    policies.length > 1 && policy !== undefined ? `${folder}/${policy.folder}` : folder
  return out === null
    ? `${commandLine('simulate', ...typed, '--out', 'sim')} · ${commandLine('show', of('sim'))}`
    : `saved ${printable(out)} · ${commandLine('show', of(out))}`
}

function spent(policy: SimulatedPolicy): string {
  return policy.budget_spent === null ? 'unknown' : formatPercent(policy.budget_spent)
}

function time(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms)
}

function hours(value: number): string {
  return formatPlain(value)
}

function money(value: number | null): string {
  return value === null ? '–' : formatNumber(value, value < 100 ? 2 : 0)
}
