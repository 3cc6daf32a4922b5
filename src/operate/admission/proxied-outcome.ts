/** How a proxied request ended, as a gateway sees both of its sides. */
export interface ProxiedEnd {
  /** Status of the upstream's answer; null where there was none. */
  readonly upstreamStatus: number | null
  readonly upstreamEnd:
    | 'done'
    | 'reset'
    | 'eof_without_finish'
    | 'error_event'
    | 'connect_refused'
    | 'timeout'
    | 'aborted_by_gateway'
    | 'rejected_by_admission'
  readonly client: 'connected' | 'closed'
}

/** Who ended a proxied request, in a word for a label. `upstream_429` carries the upstream's status. */
export type ProxiedOutcome =
  | 'ok'
  | 'rejected'
  | 'client_gone'
  | 'upstream_reset'
  | 'upstream_truncated'
  | 'upstream_error_event'
  | 'upstream_timeout'
  | 'upstream_unreachable'
  | `upstream_${number}`

/**
 * The outcome of a proxied request. A refusal of one's own comes before everything; a client that left is the cause of what the gateway
 * then broke off, not of what the upstream did wrong before; an error status says more than how its body ended.
 */
export function proxiedOutcome({ upstreamStatus, upstreamEnd, client }: ProxiedEnd): ProxiedOutcome {
  if (upstreamEnd === 'rejected_by_admission') return 'rejected'
  if (upstreamEnd === 'aborted_by_gateway') return client === 'closed' ? 'client_gone' : 'upstream_timeout'
  if (upstreamStatus !== null && upstreamStatus >= 400) return `upstream_${upstreamStatus}`
  switch (upstreamEnd) {
    case 'reset':
      return 'upstream_reset'
    case 'eof_without_finish':
      return 'upstream_truncated'
    case 'error_event':
      return 'upstream_error_event'
    case 'timeout':
      return 'upstream_timeout'
    case 'connect_refused':
      return 'upstream_unreachable'
    default:
      return upstreamStatus === null ? 'upstream_unreachable' : 'ok'
  }
}

/**
 * Whether an outcome is a bad one for an objective: everything that left the user without an answer, refusals of one's own with it unless
 * they are left out, but not a client that went away, and not an answer that says that the request itself was wrong (4xx but 408 and 429).
 */
export function isBadOutcome(outcome: ProxiedOutcome, shed: 'bad' | 'ignore' = 'bad'): boolean {
  if (outcome === 'ok' || outcome === 'client_gone') return false
  if (outcome === 'rejected') return shed === 'bad'
  const status = /^upstream_(\d+)$/.exec(outcome)?.[1]
  if (status === undefined) return true
  const isTheirs = status.startsWith('4') && status !== '429' && status !== '408'
  return !isTheirs
}
