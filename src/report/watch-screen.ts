import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import { missingSeries, withoutHistogram } from '../operate/watch/latency-series.ts'
import { painter, type Paint } from './paint.ts'
import { printable } from './printable.ts'
import { textTable, type Cell, type Column } from './text-table.ts'
import type { WatchDocument, WatchLatency, WatchObjective, WatchWindow } from './watch-document.ts'

const columns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 3 },
]

/** One look for the terminal: the worst first. Ends with a line break. */
export function renderWatch(document: WatchDocument, { color }: { readonly color: boolean }): string {
  const paint = painter(color)
  const { replicas, objectives, walls, notes } = document
  const lines = [
    headline(document, paint),
    '',
    ...textTable(
      columns,
      [
        [{ text: 'replica' }, { text: 'running' }, { text: 'waiting' }, { text: 'KV' }, { text: '' }],
        ...replicas.map((replica): Cell[] => [
          { text: printable(replica.name) },
          { text: count(replica.running) },
          { text: count(replica.waiting) },
          { text: percent(replica.kv_usage) },
          {
            text: replica.up ? (replica.engine ?? '') : 'no answer',
            ...(replica.up ? {} : { style: 'bad' as const }),
          },
        ]),
      ],
      paint,
    ),
    '',
    `  ${latencies(document)}`,
    ...machineLine(document),
    ...objectives.flatMap((objective) => objectiveLines(objective, paint)),
    ...walls.map(({ kind, at, unit, now, share }) =>
      kind === 'kv'
        ? `  KV pool ${percent(now)} full on the fullest replica`
        : `  ${wallNames[kind]} wall at ${formatPlain(at)} ${unit}: ${now === null ? 'now unknown' : `now ${formatPlain(now)}, ${percent(share)} of it`}`,
    ),
    ...notes.map((note) => paint('doubtful', `  ${printable(note)}`)),
  ]
  return `${lines.join('\n')}\n`
}

const wallNames = { saturation: 'saturation', slo: 'SLO', memory: 'memory' } as const

function headline({ fleet, objectives, elapsed_s }: WatchDocument, paint: Paint): string {
  const states = objectives.flatMap(({ alerts }) => alerts)
  const firing = states.filter(({ state }) => state === 'fires').map(({ name }) => name)
  const state =
    firing.length > 0
      ? paint('bad', `PAGE (${[...new Set(firing)].join(', ')})`)
      : fleet.up < fleet.known
        ? paint('doubtful', `${fleet.known - fleet.up} of ${fleet.known} silent`)
        : states.length === 0
          ? 'up'
          : states.every(({ state: known }) => known === 'quiet')
            ? paint('good', 'quiet')
            : paint(
                'doubtful',
                `no page, but it cannot all be told${objectives.every(({ windows }) => windows.every(mayCome)) ? ' yet' : ''}`,
              )
  const rates = [
    fleet.requests_per_s === null ? null : formatRate(fleet.requests_per_s),
    fleet.output_tokens_per_s === null ? null : formatRate(fleet.output_tokens_per_s, 'tok/s'),
  ].filter((text) => text !== null)
  return [
    state,
    `${count(fleet.running)} running, ${count(fleet.waiting)} waiting on ${fleet.up} ${noun(fleet.up, 'replica')}`,
    ...rates,
    fleet.window_s === 0
      ? 'one look: rates and latencies take two'
      : `watched ${formatSpan(Math.round(elapsed_s * 1000))}`,
  ].join(' · ')
}

function machineLine({ fleet: { cpu, gpu_memory: memory } }: WatchDocument): string[] {
  if (cpu === null && memory === null) return []
  return [
    `  CPU ${percent(cpu)}, GPU memory ${percent(memory)}: neither follows the load of an inference server`,
  ]
}

function latencies({ fleet: { ttft, tpot, window_s }, replicas }: WatchDocument): string {
  const engines = replicas.flatMap(({ engine }) => engine ?? [])
  const figures = (['ttft', 'tpot'] as const).map((metric) => ({
    name: metric.toUpperCase(),
    found: metric === 'ttft' ? ttft : tpot,
    missing: missingSeries(engines, [metric]),
  }))
  if (window_s === 0 && figures.some(({ missing }) => missing === null))
    return 'TTFT and TPOT come with the second look: a page counts since the engine began'
  const told = figures.map(({ name, found, missing }) => {
    if (found !== null) return latency(name, found)
    return `${name} unknown: ${missing === null ? 'no request was answered' : withoutHistogram(missing, 'it')}`
  })
  return [...told, ...(window_s === 0 ? [] : [`over ${formatSpan(Math.round(window_s * 1000))}`])].join(' · ')
}

function latency(name: string, found: WatchLatency): string {
  const per = found.per === 'token' ? ' a token' : ''
  const tail =
    found.p99_ms === null
      ? ''
      : `, P99 ${found.p99_ms[1] === null ? `over ${formatDuration(found.p99_ms[0])}` : `${formatDuration(found.p99_ms[0])} to ${formatDuration(found.p99_ms[1])}`}`
  return `${name} P50 ${found.p50_ms === null ? 'unknown' : `≈ ${formatDuration(found.p50_ms)}`}${tail}${per} (n ${formatCount(found.n)})`
}

function objectiveLines({ text, target, windows, alerts }: WatchObjective, paint: Paint): string[] {
  const words = { fires: 'fires', may_fire: 'may fire: the buckets cannot tell', quiet: 'quiet' } as const
  return [
    '',
    `  ${printable(text)}, good ${percent(target)}`,
    ...windows.map((window) => `    ${windowLine(window)}`),
    `    page ${alerts
      .map(({ name, state }) => {
        const word = `${name}: ${state === null ? (windows.every(mayCome) ? 'cannot tell yet' : 'cannot tell') : words[state]}`
        return state === 'fires' ? paint('bad', word) : word
      })
      .join(' · ')}`,
  ]
}

/** Whether what is not known of a window may become so. */
function mayCome({ waits = true, burn }: WatchWindow): boolean {
  return burn !== null || waits
}

function noBurn(window: WatchWindow): string {
  return mayCome(window) ? 'burn not yet known' : 'burn unknown'
}

function windowLine(window: WatchWindow): string {
  const { window_s, share, burn, limits, why, n } = window
  const good =
    share === null
      ? 'share unknown'
      : share[0] === share[1]
        ? `good ${percent(share[0])}`
        : `good between ${percent(share[0])} and ${percent(share[1])}`
  const each =
    limits.length < 2 || share === null
      ? ''
      : ` (${limits.map(({ text, low, high }) => `${text} ${low === high ? percent(low) : `${percent(low)}–${percent(high)}`}`).join(', ')})`
  const rate =
    burn === null
      ? `${noBurn(window)}${why === null ? '' : `: ${why}`}`
      : burn[0] === burn[1]
        ? `burn ${burnText(burn[0])}`
        : `burn ${burnText(burn[0])} to ${burnText(burn[1])}`
  return `${formatSpan(window_s * 1000).padEnd(4)} ${good}${each}, ${rate} (n ${formatCount(n)})`
}

function burnText(burn: number | null): string {
  return burn === null ? '∞' : `${formatPlain(burn)}x`
}

function count(value: number | null): string {
  return value === null ? 'unknown' : formatCount(value)
}

function percent(share: number | null): string {
  return share === null ? 'unknown' : formatPercent(share)
}

/** One look as a line, for logs. */
export function renderWatchLine(document: WatchDocument): string {
  const { fleet, objectives, elapsed_s } = document
  const median = fleet.ttft?.p50_ms ?? null
  const burns = objectives.map(({ windows, alerts }) => {
    const [shortest] = windows
    const { burn = null, why = null } = shortest ?? {}
    const fires = alerts.filter(({ state }) => state === 'fires').map(({ name }) => name)
    const text =
      burn === null
        ? `${shortest === undefined ? 'burn not yet known' : noBurn(shortest)}${why === null ? '' : ` (${why})`}`
        : `burn ${burnText(burn[0])}–${burnText(burn[1])}`
    return fires.length === 0 ? text : `${text} PAGE (${fires.join(', ')})`
  })
  return `${[
    formatSpan(Math.round(elapsed_s * 1000)),
    `${fleet.up}/${fleet.known} up`,
    `running ${count(fleet.running)}`,
    `waiting ${count(fleet.waiting)}`,
    `KV ${percent(fleet.kv_usage_max)}`,
    `TTFT P50 ${median === null ? 'unknown' : formatDuration(median)}`,
    ...burns,
  ].join('  ')}\n`
}
