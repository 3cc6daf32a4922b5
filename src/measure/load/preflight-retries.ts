import type { Warning } from '../../base/warnings.ts'
import { noun } from '../../base/noun.ts'
import { retryAfterMs } from '../wire/retry-after.ts'
import { isFailure, type ProbeAnswer, type ProbeFailure, type ProbeRequest, type SendOnce } from './probe.ts'

/** How often one question is put, and the longest pause that a server may ask for between two times, ms. */
const mostTimes = 4
const longestPauseMs = 10_000
const firstPauseMs = 250

/** What failed of the questions that the run cannot do without, each time that one was put counted. */
export interface PreflightFailures {
  readonly asked: number
  readonly failed: number
  /** `http_500`, `truncated`, …: how often. */
  readonly kinds: Readonly<Record<string, number>>
}

/**
 * Puts a question that needs an answer again, at most four times, where a server fails (429, 5xx, an answer that breaks off): one
 * failure in a handful would let a flaky server be measured only by luck. Waits 0.25 s, 0.5 s, 1 s, or what `Retry-After` asks; a
 * server that asks for more than 10 s is not asked again. The last answer says how often it was tried.
 * @param pause until the time is over or the run is ended
 */
export function retrying(
  sendOnce: SendOnce,
  pause: (ms: number) => Promise<void>,
): { readonly sendOnce: SendOnce; readonly failures: () => PreflightFailures } {
  let asked = 0
  const kinds: Record<string, number> = {}
  async function ask(request: ProbeRequest): Promise<ProbeAnswer | ProbeFailure> {
    if (request.needed !== true) return await sendOnce(request)
    for (let tried = 1; ; tried++) {
      const answer = await sendOnce(request)
      asked++
      const kind = passingFailure(answer)
      if (kind === null) return answer
      kinds[kind] = (kinds[kind] ?? 0) + 1
      const pauseMs = askedPauseMs(answer) ?? firstPauseMs * 2 ** (tried - 1)
      if (tried === mostTimes || pauseMs > longestPauseMs) return withTries(answer, tried)
      await pause(pauseMs)
    }
  }
  return {
    sendOnce: ask,
    failures: () => ({ asked, failed: Object.values(kinds).reduce((sum, count) => sum + count, 0), kinds }),
  }
}

/** Null where nothing failed. */
export function failuresWarning({ asked, failed, kinds }: PreflightFailures): Warning | null {
  if (failed === 0) return null
  const named = Object.entries(kinds).map(([kind, count]) =>
    Object.keys(kinds).length === 1 ? kind : `${kind} ${count}×`,
  )
  return {
    kind: 'preflight_failures',
    message: `${failed} of ${asked} preflight ${noun(asked, 'request')} failed: ${named.join(', ')}`,
    cause: null,
    next: null,
    evidence: { failed, asked, kinds: named.join(', ') },
  }
}

/** The kind of a failure that may pass; null for any other answer. 501 is a refusal of what was asked. */
function passingFailure(answer: ProbeAnswer | ProbeFailure): string | null {
  if (isFailure(answer)) return answer.failure.heard === undefined ? null : answer.failure.kind
  const { status } = answer
  return status === 429 || (status >= 500 && status !== 501) ? `http_${status}` : null
}

function askedPauseMs(answer: ProbeAnswer | ProbeFailure): number | null {
  return isFailure(answer) ? null : retryAfterMs(answer.header, null)
}

function withTries(answer: ProbeAnswer | ProbeFailure, tried: number): ProbeAnswer | ProbeFailure {
  return isFailure(answer) ? { failure: { ...answer.failure, tried } } : { ...answer, tried }
}
