import { noun } from '../base/noun.ts'
import {
  decimalsFor,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import type { ObjectiveOutcome, RunDocument } from './documents.ts'
import { type Paint } from './paint.ts'
import { printable } from './printable.ts'

/** What was loaded: "chat · Qwen/Qwen3-8B at http://localhost:8000 (vLLM 0.19.1)". */
export function serverLine(target: RunDocument['target']): string {
  const model = target.model === null ? '' : ` · ${target.model}`
  // Another tool's file need not say what it asked.
  if (target.url === 'unknown') {
    const api = target.api === 'unknown' ? '' : `${target.api}${model} at `
    return printable(`${api}a server that is not named`)
  }
  const server = target.embedded ? 'the embedded engine (simulated)' : target.url
  const engine = target.engine === null || target.embedded ? '' : ` (${target.engine})`
  const count = target.replicas === null ? 0 : Object.keys(target.replicas).length
  return printable(`${target.api}${model} at ${server}${engine}${count > 1 ? `, ${count} replicas` : ''}`)
}

/** "tags gpu h100 · branch main"; none where there are none. */
export function tagsLine({ tags }: { readonly tags?: Readonly<Record<string, string>> }): string[] {
  const pairs = Object.entries(tags ?? {})
  return pairs.length === 0 ? [] : [printable(`tags ${pairs.map((pair) => pair.join(' ')).join(' · ')}`)]
}

/** "3,600 planned = 3,421 ok + 179 refused (429) + 0 failed + 0 cut at the end + 0 never sent": every request once. */
export function countsLine({ counts, errors }: RunDocument): string {
  const { cancelled_by_client: cancelled = 0, lost = 0, lost_under_way: underWay = 0 } = counts
  const isRefusal = (kind: string): boolean => /^http_(429|503|529)$/.test(kind)
  // What was cut at the end has its own part of the sum.
  const kinds = Object.entries(errors).filter(([kind, count]) => count > 0 && kind !== 'censored')
  const refusals =
    counts.shed > 0 ? kinds.filter(([kind]) => isRefusal(kind)).map(([kind]) => kind.slice(5)) : []
  const failures = kinds.filter(([kind]) => counts.shed === 0 || !isRefusal(kind))
  const named = failures
    .sort((a, b) => b[1] - a[1])
    .slice(0, 4)
    .map(([kind, count]) => (failures.length === 1 ? kind : `${formatCount(count)} ${kind}`))
  const parts = [
    `${formatCount(counts.ok)} ok`,
    `${formatCount(counts.shed)} refused${refusals.length > 0 ? ` (${refusals.join(', ')})` : ''}`,
    `${formatCount(counts.failed)} failed${counts.failed > 0 && named.length > 0 ? ` (${named.join(', ')})` : ''}`,
    `${formatCount(counts.censored - cancelled)} cut at the end`,
    ...(cancelled === 0 ? [] : [`${formatCount(cancelled)} given up by the client`]),
    `${formatCount(counts.unsent)} never sent`,
    ...(lost === 0
      ? []
      : [
          `${formatCount(lost)} without a record${underWay === 0 ? '' : ` (${formatCount(underWay)} under way when it was last seen)`}`,
        ]),
  ]
  const sum = counts.ok + counts.shed + counts.failed + counts.censored + counts.unsent + lost
  const line = `${formatCount(counts.planned)} planned = ${parts.join(' + ')}`
  return sum === counts.planned
    ? line
    : `${line}   THIS DOES NOT ADD UP (${formatCount(sum)}): a fault of plimsoll, please report it`
}

/** Requests succeeded, and none was answered before the window ended: of requests a second it tells nothing, least of all 0. */
function isAnsweredLate({ throughput, window_counts: counts }: RunDocument): boolean {
  return throughput.requests_per_s === 0 && counts.ok > 0
}

/** Requests a second in a headline, "6 req/s"; "–" with the reason where the figure would tell nothing; null where there is none. */
export function requestRate(
  document: RunDocument,
): { readonly text: string; readonly why: string | null } | null {
  const { requests_per_s: perSecond } = document.throughput
  if (isAnsweredLate(document)) return { text: '– req/s', why: 'no answer ended in the window' }
  return perSecond === null ? null : { text: formatRate(perSecond), why: null }
}

export function throughputLine(document: RunDocument): string {
  const { throughput } = document
  return `${ratesLine(document)}${isAnsweredLate(document) ? '; – req/s: every answer ended after it' : aheadOfThroughput(throughput, document.goodput)}`
}

/** Goodput is of the requests sent in the window, throughput of the answers that ended in it: a short window parts the two. */
function aheadOfThroughput(
  { requests_per_s: answered }: RunDocument['throughput'],
  goodput: RunDocument['goodput'],
): string {
  if (answered === null || goodput === null || goodput.per_s === null) return ''
  const ahead = goodput.per_s > answered && formatRate(goodput.per_s) !== formatRate(answered)
  return ahead ? ' (what ended in it; goodput: what was sent in it)' : ''
}

function ratesLine(document: RunDocument): string {
  const { throughput } = document
  const rates = [
    [isAnsweredLate(document) ? null : throughput.requests_per_s, 'req/s'],
    [throughput.output_tokens_per_s, 'tok/s out'],
    [throughput.input_tokens_per_s, 'tok/s in'],
  ] as const
  const known = rates.flatMap(([rate, unit]) => (rate === null ? [] : [formatRate(rate, unit)]))
  // Prompts were answered, and nobody said how long they were.
  if (document.window_counts.ok > 0 && known.length > 0 && throughput.input_tokens_per_s === null)
    known.push('– tok/s in')
  const window = `over the window of ${formatSpan(throughput.window_s * 1000)}`
  if (known.length === 0 && throughput.window_s === 0)
    return 'throughput unknown: nothing says when the requests were sent'
  return known.length === 0 ? `throughput unknown ${window}` : `throughput ${known.join(', ')} ${window}`
}

const badWords: Readonly<Record<string, string>> = {
  shed: 'refused',
  failed: 'failed',
  censored: 'cut at the end',
}

/** What made requests bad, each of them alone and all of them together. */
export function goodputLines({ goodput }: RunDocument): string[] {
  if (goodput === null || goodput.attempts === 0) return []
  const lines: string[] = []
  const reasons = Object.entries(goodput.failed_by).filter(([, count]) => count > 0)
  // One decimal throughout, so that the shares can be added up by eye.
  const of = (count: number): string => {
    const share = count / goodput.attempts
    return share < 0.0005 ? formatPercent(share) : formatPercent(share, 1)
  }
  if (reasons.length > 0) {
    const bad = goodput.attempts - goodput.good - goodput.unknown
    const each = reasons
      .sort((a, b) => b[1] - a[1])
      .map(([reason, count]) => `${of(count)} ${badWords[reason] ?? `miss ${reason}`}`)
    const twice = goodput.failed_twice > 0 ? ` (${of(goodput.failed_twice)} in two ways)` : ''
    lines.push(`bad: ${each.join(', ')}; jointly ${of(bad)} of all${twice}`)
  } else
    lines.push(
      `good: ${formatCount(goodput.good)} of ${formatCount(goodput.attempts)} by ${goodput.objective}`,
    )
  if (goodput.unknown > 0)
    lines.push(
      `unknown for ${formatCount(goodput.unknown)}: their rows lack a figure that the objective limits${goodput.lower_bound ? '; they count as not good, so the goodput is at least this' : ''}`,
    )
  if (goodput.vacuous_tpot > 0)
    lines.push(
      `${formatCount(goodput.vacuous_tpot)} ${noun(goodput.vacuous_tpot, 'one-token answer passes the TPOT limit: it has none', 'one-token answers pass the TPOT limit: they have none')}`,
    )
  return lines
}

const outcomeWords = { yes: 'kept', no: 'MISSED', inconclusive: 'cannot tell' } as const

export function objectiveLines(
  { objectives }: { readonly objectives: readonly ObjectiveOutcome[] },
  paint: Paint,
): string[] {
  return objectives.map(({ text, met, judged, reason }) => {
    if (met === null) return `objective ${text}: ${reason}`
    const word = paint(met === 'yes' ? 'good' : met === 'no' ? 'bad' : 'doubtful', outcomeWords[met])
    return `objective ${text}: ${word}, ${reason}${judged ? '' : ' (counted, never judged)'}`
  })
}

/** L = λ·W: "in flight 31 = arrival 5.7/s × time 5.4 s (Little's law holds to 1 %)". */
export function littleLine({ little }: RunDocument): string[] {
  if (little === null) return []
  const { in_flight_mean: inFlight, arrival_per_s: arrival, time_in_system_s: time, discrepancy } = little
  const holds =
    discrepancy === null
      ? 'it cannot be checked'
      : discrepancy > 0.05
        ? `Little's law is violated by ${formatPercent(discrepancy)}`
        : `Little's law holds to ${formatPercent(Math.max(discrepancy, 0.001), discrepancy < 0.01 ? 1 : 0)}`
  return [
    `in flight ${formatPlain(inFlight)} = arrival ${formatPlain(arrival)}/s × time ${formatDuration(time * 1000)} (${holds})`,
  ]
}

/** "server running 12.3 (most 31), waiting 0.4 (most 9), KV 41 % (most 88 %), 3 preemptions; 60 looks, each of 2.1 ms". */
export function serverUseLine({ server, cache }: RunDocument): string[] {
  if (server === null || server.failed === server.looks) {
    // Without metrics the answers' usage may still say it.
    return cache === null || cache.cached_tokens === 0
      ? []
      : [`server: prefix cache hit ${formatPercent(cache.hit_rate, 0)} by the answers’ usage`]
  }
  const parts: string[] = []
  const { running, waiting, kv_usage: kv, preemptions, prefix_hits: hits, prefix_queries: queries } = server
  if (running !== null) parts.push(`running ${formatPlain(running.mean)} (most ${formatPlain(running.max)})`)
  if (waiting !== null) parts.push(`waiting ${formatPlain(waiting.mean)} (most ${formatPlain(waiting.max)})`)
  if (kv !== null) parts.push(`KV ${formatPercent(kv.mean, 0)} full (most ${formatPercent(kv.max, 0)})`)
  if (preemptions !== null) parts.push(`${formatCount(preemptions)} ${noun(preemptions, 'preemption')}`)
  if (hits !== null && queries !== null && queries > 0)
    parts.push(`prefix cache hit ${formatPercent(hits / queries, 0)}`)
  if (parts.length === 0) return []
  const took = server.scrape_ms.p50 === null ? '' : `, each of ${milliseconds(server.scrape_ms.p50)}`
  return [`server: ${parts.join(', ')}; ${formatCount(server.looks)} ${noun(server.looks, 'look')}${took}`]
}

/** What the instrument says of itself. */
export function instrumentLine({ client }: RunDocument): string {
  const part = (label: string, ms: number | null): string =>
    `${label} ${ms === null ? 'unknown' : milliseconds(ms)}`
  const parts = [
    part('send lag p99', client.lag_ms.p99),
    part('event loop p99', client.loop_delay_ms.p99),
    coreWords(client),
  ]
  const error = client.own_error_ms.p99
  const before = client.own_error_before_ms?.p99 ?? null
  const grew = error !== null && before !== null && milliseconds(before) !== milliseconds(error)
  const own =
    error === null
      ? 'own error unknown'
      : `own error ± ${milliseconds(error)}${grew ? ` after the run (${milliseconds(before)} before)` : ''}`
  return `instrument: ${parts.join(', ')}; ${own}`
}

/** How busy the thread was that was busiest. One that sent requests used its core: 0 was written where it could not be read. */
function coreWords({ cpu, workers }: RunDocument['client']): string {
  const share = cpu.worker_max
  if (share === null || share === 0) return 'CPU unknown'
  // So little that no whole per cent tells it from nothing.
  const percent = share < 0.005 ? formatPercent(share) : formatPercent(share, 0)
  return `${workers === 1 ? 'its core' : 'its busiest core'} at ${percent}`
}

/** A tenth of a millisecond is what a report of latencies needs of the instrument; below that two figures. */
export function milliseconds(ms: number): string {
  return `${formatNumber(ms, Math.min(ms >= 0.1 ? 1 : decimalsFor(ms, 1), 3))} ms`
}
