import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
} from '../base/units.ts'
import type { WallKind } from './documents.ts'
import { measuringLine } from './plan-screen.ts'
import { printable } from './printable.ts'
import { simulationSection } from './plan-simulation-page.ts'
import { loadWords } from '../plan/sweep-schedule.ts'
import { warningLine } from './warning-text.ts'
import type { PlanCandidate, PlanDocument, PlanProvenance, PlanReading } from './plan-document.ts'

/** The capacity page in Markdown: for people who decide and were not there. Ends with a line break. */
export function renderCapacityPage(document: PlanDocument): string {
  const [best] = document.candidates
  const sections = [
    headline(document, best),
    replicaSection(document, best),
    document.simulation === null ? '' : simulationSection(document.simulation),
    ...(document.provenance === null
      ? []
      : [wallSection(document.provenance), pointSection(document, document.provenance)]),
    limitSection(document),
    rankSection(document.candidates),
    assumptionSection(document),
    ...(document.provenance === null ? [] : [provenanceSection(document.provenance)]),
    list('What was not measured', document.not_measured),
    ...(document.files.length === 0
      ? []
      : [
          list(
            'In this folder',
            document.files.map((file) => `[${file}](${file})`),
          ),
        ]),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function headline(document: PlanDocument, best: PlanCandidate | undefined): string {
  const { provenance } = document
  const title = `# Capacity of ${text(provenance?.model ?? 'a replica as typed')}`
  const reading = readingOf(best)
  const answer =
    best === undefined || best.basis === null
      ? '**No load keeps the objective: there is nothing to plan on.**'
      : reading === null
        ? `**Undecided: the margin is read in two ways: ${best.readings.map((each) => `${each.replicas} ${noun(each.replicas, 'replica')} (${each.margin_kind})`).join(' or ')}.**`
        : `**${replicasText(reading)} for ${document.demand.peak_per_s} req/s at the peak.**`
  const sure =
    best?.basis?.kind === 'indicative'
      ? `\n\nIndicative: ${text(best.basis.why)}.`
      : best?.basis?.kind === 'typed'
        ? '\n\nThe rate of a replica was typed, not measured.'
        : best?.basis?.kind === 'refuted'
          ? `\n\n**Refuted: ${text(best.basis.why)}. Find a rate that holds before this is deployed: \`${measuringLine('find', document)}\`.**`
          : ''
  const tried =
    document.simulation?.survives === false
      ? '\n\n**It FAILED on the simulated day: do not deploy it as it is.** See [Tried on a simulated day](#tried-on-a-simulated-day).'
      : ''
  const against = document.warnings.map((warning) => `\n\n**${text(warningLine(warning))}.**`).join('')
  return `${title}\n\n${answer}${against}${sure}${tried}`
}

function replicasText({ replicas, gpus }: PlanReading): string {
  const of = gpus === replicas ? '' : ` (${formatCount(gpus)} ${noun(gpus, 'GPU')})`
  return `${formatCount(replicas)} ${noun(replicas, 'replica')}${of}`
}

function replicaSection(document: PlanDocument, best: PlanCandidate | undefined): string {
  if (best === undefined || best.basis === null) return ''
  const lines = best.readings.flatMap((reading) => [
    `- margin read as **${reading.margin_kind}**: ${replicasText(reading)}${costText(reading)}`,
    ...reading.working.map((step) => `  - ${step}`),
  ])
  if (best.survivor_share !== null && best.survivor_share > 0) {
    lines.push(
      `- after the planned losses each carries ${formatPercent(best.survivor_share)} of what was measured`,
    )
  }
  for (const { name, peak_per_s, readings, chosen } of document.classes) {
    const reading = readings.find(({ margin_kind }) => margin_kind === chosen)
    lines.push(
      `- class ${text(name)}: ${peak_per_s} req/s → ${reading === undefined ? 'undecided' : replicasText(reading)}`,
    )
  }
  if (document.shared_replicas !== null)
    lines.push(`- one pool for all classes, if the mix is linear: ${document.shared_replicas} replicas`)
  const { availability } = document
  for (const { replicas, chance } of availability?.enough_up ?? [])
    lines.push(`- with ${replicas} deployed, enough are up ${formatPercent(chance)} of the time`)
  return `## Replicas\n\n${lines.join('\n')}`
}

function costText({ cost_per_hour: hour, cost_per_million_output_tokens: million }: PlanReading): string {
  if (hour === null) return ''
  const tokens = million === null ? '' : `, ${formatNumber(million, 3)} per million output tokens at the peak`
  return `, ${formatNumber(hour, 2)} an hour${tokens}`
}

const wallTitles: Readonly<Record<WallKind, string>> = {
  saturation: 'saturation',
  slo: 'SLO',
  memory: 'memory',
}

function wallSection({ walls, capacity, tested }: PlanProvenance): string {
  const unit = tested?.kind === 'rate' ? 'req/s' : 'users'
  const rows = (['saturation', 'slo', 'memory'] as const).map((kind) => {
    const wall = walls[kind]
    const binds = capacity.binding === kind ? ' **binds**' : ''
    const at =
      wall === null
        ? 'not reached'
        : `${formatPlain(wall.load)} ${kind === 'memory' ? 'requests in flight' : unit}`
    return `| ${wallTitles[kind]}${binds} | ${at} | ${text(walls.why[kind])} |`
  })
  const range =
    tested === null
      ? ''
      : `\n\nTested from ${formatPlain(tested.first)} to ${formatPlain(tested.last)} ${unit}. Nothing is said beyond.`
  return `## Walls\n\n| wall | at | why |\n| --- | --- | --- |\n${rows.join('\n')}${range}`
}

function pointSection(
  document: PlanDocument,
  { operating_point: point, tail, objective }: PlanProvenance,
): string {
  if (point === null) return ''
  const lines = [
    `- objective: ${objective === null ? 'none' : `\`${printable(objective).replaceAll('`', "'")}\``}`,
    `- load: ${loadWords(point.load)}${point.in_flight === null ? '' : `, ${formatPlain(point.in_flight)} ${noun(point.in_flight, 'request')} in flight`}`,
    `- ${formatRate(point.requests_per_s)}${point.output_tokens_per_s === null ? '' : `, ${formatRate(point.output_tokens_per_s, 'output tok/s')}`} a replica`,
    ...tail.map(({ metric, p99, interval, why }) => {
      const name = metric === 'ttft_ms' ? 'TTFT' : 'TPOT'
      const low = interval?.[0] ?? null
      const high = interval?.[1] ?? null
      const between =
        low === null && high === null
          ? ''
          : ` (95 %: ${low === null ? 'unknown' : formatDuration(low)} to ${high === null ? 'unknown' : formatDuration(high)})`
      return p99 === null
        ? `- ${name} P99: unknown (${text(why ?? 'no reason was recorded')})`
        : `- ${name} P99: ${formatDuration(p99)}${between}`
    }),
  ]
  const basis = document.candidates[0]?.basis ?? null
  if (basis !== null)
    lines.push(
      `- planned on ${formatPlain(basis.requests_per_s, 4)} req/s, ${basis.kind}: ${text(basis.why)}`,
    )
  return `## Operating point\n\n${lines.join('\n')}`
}

function limitSection({ limits }: PlanDocument): string {
  if (limits === null) return ''
  const rows = [
    ['in the batch', limits.max_running, limits.why['running']],
    ['wait', limits.max_wait_ms === null ? null : formatDuration(limits.max_wait_ms), limits.why['wait']],
    ['waiting', limits.max_queued, limits.why['queued']],
    ['prompt tokens waiting', limits.max_queued_tokens, limits.why['queued_tokens']],
    [
      'Retry-After',
      limits.retry_after_s === null ? null : `${limits.retry_after_s} s`,
      limits.why['retry_after'],
    ],
  ] as const
  const table = rows.map(
    ([what, value, why]) =>
      `| ${what} | ${value === null ? 'unknown' : typeof value === 'number' ? formatCount(value) : value} | ${text(why ?? '')} |`,
  )
  const flags = Object.entries(limits.flags)
    .filter(([, list]) => list.length > 0)
    .map(([engine, list]) => `- ${engine}: \`${list.join(' ')}\``)
  return `## Limits of one replica\n\n| limit | value | from |\n| --- | --- | --- |\n${table.join('\n')}\n\n${flags.join('\n')}`
}

function rankSection(candidates: readonly PlanCandidate[]): string {
  if (candidates.length < 2) return ''
  const rows = candidates.map((each, at) => {
    const reading = readingOf(each)
    const safe = each.output_tokens_per_s
    return `| ${at + 1} | ${text(each.name)} | ${safe === null ? '–' : formatNumber(safe)} | ${each.peak_output_tokens_per_s === null ? '–' : formatNumber(each.peak_output_tokens_per_s)} | ${text(each.broke_first ?? 'nothing')} | ${reading === null ? '–' : reading.replicas} |`
  })
  return `## Ranked by what keeps the objective\n\n| | sweep | safe tok/s | peak tok/s | broke first | replicas |\n| --- | --- | --- | --- | --- | --- |\n${rows.join('\n')}`
}

function assumptionSection({ demand, bursts }: PlanDocument): string {
  const margin = `${formatPlain(Number(demand.margin) * 100)} %`
  const zones = demand.zones === null ? '' : ` and ${demand.zones.lost} of ${demand.zones.count} zones`
  return list('Assumptions', [
    `peak ${demand.peak_per_s} req/s, the mean of the busiest minute`,
    `margin ${margin}${demand.margin_kind === 'unsaid' ? ', its reading not chosen' : `, read as ${demand.margin_kind}`}`,
    `the busiest replica gets ${demand.imbalance}x the mean`,
    `${demand.failures} ${noun(demand.failures, 'replica')}${zones} may be lost`,
    `${demand.gpus_per_replica} ${noun(demand.gpus_per_replica, 'GPU')} a replica`,
    ...bursts.map(
      ({ window_s, peak_to_mean, covered_share }) =>
        `arrivals at random peak at ${formatPlain(peak_to_mean)}x their mean over ${window_s} s (P99); what serves covers ${formatPercent(covered_share)} of such windows`,
    ),
  ])
}

function provenanceSection(provenance: PlanProvenance): string {
  const unknown = (value: string | null): string => (value === null ? 'not recorded' : text(value))
  return list('Where the numbers are from', [
    `sweep ${text(provenance.sweep)}, plimsoll ${provenance.plimsoll}`,
    `engine ${unknown(provenance.engine)}${provenance.embedded ? ' (simulated)' : ''}, model ${unknown(provenance.model)}, GPU ${unknown(provenance.gpu)}`,
    `engine flags: ${unknown(provenance.engine_args)}`,
    `requests: ${text(provenance.workload)}`,
    `measured ${provenance.measured_at ?? 'at an unknown time'}`,
    `**expires ${provenance.expires_at?.slice(0, 10) ?? 'unknown'}**, and at once when engine, version, model, GPU, flags or the mix of requests change`,
    `runs: ${provenance.runs.map(text).join(', ')}`,
  ])
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function readingOf(candidate: PlanCandidate | undefined): PlanReading | null {
  return candidate?.readings.find(({ margin_kind }) => margin_kind === candidate.chosen) ?? null
}

/** Text from elsewhere: no control characters, and nothing that Markdown would read as a table's or a page's own. */
function text(value: string): string {
  return printable(value).replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
