import { noun } from '../base/noun.ts'
import { formatPercent } from '../base/units.ts'
import type { Counts } from '../measure/metrics/run-summary.ts'
import type { ErrorKind } from '../measure/wire/error-kinds.ts'
import { printable } from './printable.ts'

/** What a run or a point of a sweep tells of what became of its requests; documents of older versions tell nothing. */
export interface Told {
  readonly counts?: Counts
  readonly errors?: Readonly<Record<string, number>>
  readonly error_messages?: Readonly<Record<string, string>>
}

/** A kind of failure and its share of the requests that were sent. */
export interface FailureShare {
  readonly kind: string
  readonly count: number
  readonly share: number
}

/**
 * Refusals and failures of several together by kind, the commonest first; requests that were cut at the end of the drain did not
 * fail. None are known of those that tell nothing.
 */
export function failureShares(points: readonly Told[]): readonly FailureShare[] {
  const counts = new Map<string, number>()
  let sent = 0
  for (const { counts: all, errors } of points) {
    sent += all?.sent ?? 0
    for (const [kind, count] of Object.entries(errors ?? {}))
      counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  if (sent === 0) return []
  return [...counts]
    .filter(([kind, count]) => count > 0 && kind !== 'censored')
    .map(([kind, count]) => ({ kind, count, share: count / sent }))
    .sort((a, b) => b.count - a.count)
}

/** Kinds that a line names before it only counts them. */
const mostKinds = 2

/** "http_500 30 %, truncated 8 %, 2 other kinds 0.4 % of the requests"; null where nothing failed. */
export function failureWords(shares: readonly FailureShare[]): string | null {
  if (shares.length === 0) return null
  const others = shares.slice(mostKinds)
  const rest = others.reduce((sum, { share }) => sum + share, 0)
  const parts = shares.slice(0, mostKinds).map(({ kind, share }) => `${kind} ${formatPercent(share)}`)
  if (others.length > 0)
    parts.push(`${others.length} other ${noun(others.length, 'kind')} ${formatPercent(rest)}`)
  return `${parts.join(', ')} of the requests`
}

/** "25 % of the requests not answered (http_500)"; null where so few are that latencies tell more. */
export function failureHeadline(shares: readonly FailureShare[]): string | null {
  if (!isFailing(shares)) return null
  const all = shares.reduce((sum, { share }) => sum + share, 0)
  const named = shares.slice(0, mostKinds).map(({ kind }) => kind)
  return `${formatPercent(all)} of the requests not answered (${[...named, ...(shares.length > mostKinds ? ['…'] : [])].join(', ')})`
}

/**
 * From this share on, requests without an answer tell more than the latencies of the others: the P99 of all attempts, the tail that
 * reports name first, is then the slowest answer at best.
 */
const tellingShare = 0.01

/** Whether so many of the requests have no answer that latencies are not the first thing to look at. */
export function outweighsLatencies(share: number): boolean {
  return share >= tellingShare
}

/** Whether failures are the first thing to look at. */
export function isFailing(shares: readonly FailureShare[]): boolean {
  return outweighsLatencies(shares.reduce((sum, { share }) => sum + share, 0))
}

const byStatus: Readonly<Record<string, string>> = {
  http_401: 'the key or its rights were refused: --key-env, or the gateway’s log',
  http_403: 'the key or its rights were refused: --key-env, or the gateway’s log',
  http_404: 'no such path or model there: --endpoint, --model',
  http_408: 'something on the way gave up waiting: the time limits of the proxy or gateway',
  http_429:
    'a limit on requests refuses, of the server or of a gateway before it: its quota, its queue limit',
  http_502: 'the gateway has no healthy server behind it: its log, and whether the servers restarted',
  http_503: 'the server or its gateway refuses: its queue limit, its health checks, whether it restarted',
  http_504: 'the gateway gave up waiting for the server: its time limit, and the server’s queue',
  http_529: 'the server says that it is overloaded: its queue limit',
}

const byKind: Readonly<Record<Exclude<ErrorKind, `http_${number}`>, string>> = {
  in_band_error: 'the server put an error inside an answer that began well: its log',
  truncated: 'answers broke off without an end: a proxy’s time limit, or a server process that died',
  no_output: 'answers ended well, and empty: the model, the chat template, the stop words, a page of a proxy',
  connection_reset: 'connections were cut: a server process that died, or a proxy’s limit on connections',
  connection_refused: 'nobody listens: whether the server still runs',
  stale_connection: 'the server closes connections that it promised to keep: its keep-alive time',
  timeout_connect: 'connections were not taken in time: the server’s backlog, --timeout-connect',
  timeout_first_token: 'no first token in time: the server’s queue, --timeout-first-token',
  timeout_idle: 'streams stood still for too long: the server’s log, --timeout-idle',
  timeout_total: 'answers took too long: --timeout-total',
  protocol: 'the answer was not HTTP as it should be: what stands at this address',
  dns: 'the name could not be looked up: the resolver',
  unreachable: 'the network did not lead there: routes and firewalls',
  tls: 'the certificate or the TLS version was refused: --ca',
  client_sockets: 'this machine ran out of ports or files: ulimit -n, or several machines',
}

/** Where to look, for each of the kinds that failures of these points are made of most; none where hardly anything failed. */
export function failureLines(points: readonly Told[]): string[] {
  const shares = failureShares(points)
  if (!isFailing(shares)) return []
  const messages: Told['error_messages'] = Object.assign({}, ...points.map((point) => point.error_messages))
  return shares
    .slice(0, mostKinds)
    .filter(({ share }) => share >= tellingShare / mostKinds)
    .map(({ kind }) => {
      const message = messages?.[kind]
      return printable(
        `look at ${kind}${message === undefined ? '' : ` ("${message}")`}: ${failureAdvice(kind)}`,
      )
    })
}

/** Where to look when requests end so. */
function failureAdvice(kind: string): string {
  const known = { ...byStatus, ...byKind }[kind]
  if (known !== undefined) return known
  if (kind.startsWith('http_5')) return 'the server failed: its own log says why'
  if (kind.startsWith('http_3')) return 'the server sends elsewhere: give the address that it names'
  if (kind.startsWith('http_')) return 'the server does not take these requests: the message on their rows'
  return 'the message on the rows of such requests'
}
