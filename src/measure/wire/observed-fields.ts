import type { RowFlag } from '../record/request-row.ts'
import type { ErrorFacts } from './chunk-facts.ts'
import type { ErrorKind } from './error-kinds.ts'
import type { ResponseFields } from './response-fields.ts'
import type { ResponseObserver } from './response-observer.ts'

/** What the transport or a time limit said. */
export interface ExchangeFailure {
  readonly kind: ErrorKind
  readonly message: string
  readonly code: string | null
}

/** How an exchange ended, all times on the run's clock. */
export interface ExchangeEnd {
  readonly plannedMs: number
  readonly sentMs: number | null
  /** When the close, the failure or the abort came. */
  readonly endedAtMs: number
  readonly httpStatus: number | null
  /** What the transport or a time limit said, before the body is judged; null for a clean close. */
  readonly failure: ExchangeFailure | null
  /** What to say of an HTTP failure whose body says nothing. */
  readonly note: string | null
  readonly aborted: 'censored' | 'cancelled' | null
  readonly streamAsked: boolean
  readonly keepText: boolean
  readonly retryAfterMs: number | null
  readonly replica: string | null
  readonly flags: readonly RowFlag[]
}

/** HTTP statuses (and codes of errors in a stream) with which a server refuses for want of room. */
const shedStatuses = new Set(['429', '503', '529'])

/** What one exchange contributes to the row: a pure function of what was seen. */
export function observedFields(seen: ResponseObserver, end: ExchangeEnd): ResponseFields {
  const since = (atMs: number | null): number | null => (atMs === null ? null : atMs - end.plannedMs)
  const stamps = seen.stamps
  const last = stamps.at(-1) ?? null
  const whole = seen.mode === 'whole'
  const failure = end.aborted === null ? judge(seen, end) : null
  const ok = failure === null && end.aborted === null
  const gaps: number[] = []
  for (let i = 1; i < stamps.length; i++) gaps.push(stamps[i]! - stamps[i - 1]!)
  const eventTokens = tokensOfEvents(seen.totals)
  const counted = seen.completionTokens === null && ok && !whole ? stamps.length : null
  const tokens = seen.completionTokens ?? counted
  const ttftMs = since(stamps[0] ?? null)
  const e2eMs = whole ? (ok ? since(seen.lastByteAtMs) : null) : since(last)
  const decodeMs = ok && !whole && ttftMs !== null && e2eMs !== null ? e2eMs - ttftMs : null
  const first = eventTokens?.[0] ?? 0
  return {
    planned_ms: end.plannedMs,
    sent_ms: end.sentMs,
    lag_ms: end.sentMs === null ? null : end.sentMs - end.plannedMs,
    ttfb_ms: since(seen.firstByteAtMs),
    ttft_ms: ttftMs,
    ttfc_ms: since(seen.firstContentAtMs),
    e2e_ms: e2eMs,
    done_ms: since(seen.endMarkerAtMs ?? end.endedAtMs),
    tpot_ms: perToken(decodeMs, tokens, 1),
    tpot_after_first_event_ms: first > 1 ? perToken(decodeMs, tokens, first) : null,
    gaps_ms: gaps,
    itl_per_token_ms: eventTokens === null ? null : gapsPerToken(gaps, eventTokens),
    event_tokens: eventTokens,
    prompt_tokens: seen.promptTokens,
    cached_tokens: seen.cachedTokens,
    completion_tokens: tokens,
    reasoning_tokens: seen.reasoningTokens,
    tokens_source: seen.completionTokens !== null ? 'server' : counted !== null ? 'events' : null,
    n_chunks: seen.chunks,
    n_output_chunks: stamps.length,
    n_comments: seen.comments,
    n_ignored: seen.ignored,
    outcome: outcome(ok, failure, seen, end),
    ok,
    flags: flagsOf(end, whole && ok, gaps),
    error_kind: failure?.kind ?? null,
    error_code: failure?.facts.code ?? null,
    error_type: failure?.facts.type ?? null,
    error_message: failure?.facts.message ?? null,
    http_status: end.httpStatus,
    retry_after_ms: failure?.kind.startsWith('http_') === true ? end.retryAfterMs : null,
    finish_reason: seen.finishReason,
    replica: end.replica,
    ...(end.keepText
      ? { text: seen.text, reasoning_text: seen.reasoningText, tool_args: seen.toolArguments }
      : {}),
  }
}

interface Failure {
  readonly kind: ErrorKind
  readonly facts: ErrorFacts
}

/** Null: the request is ok (DESIGN §3). */
function judge(seen: ResponseObserver, end: ExchangeEnd): Failure | null {
  if (end.httpStatus !== null && (end.httpStatus < 200 || end.httpStatus > 299)) {
    return failed(`http_${end.httpStatus}`, seen.error, end.note ?? end.failure?.message ?? null)
  }
  if (seen.error !== null) return failed('in_band_error', seen.error, null)
  const ended = seen.finishReason !== null || seen.endMarkerAtMs !== null
  const failure = end.failure
  // A connection that ends badly after the answer has ended is a fault only if it was reset.
  const forgiven =
    failure !== null && ended && (failure.kind === 'truncated' || failure.kind.startsWith('timeout_'))
  if (failure !== null && !forgiven && seen.endMarkerAtMs === null) {
    return failed(failure.kind, { code: failure.code, type: null, message: failure.message }, null)
  }
  if (seen.mode === 'whole') {
    if (seen.cutEvent) return failed('truncated', null, 'the answer is not a whole JSON object')
    return seen.wholeHasOutput ? null : failed('no_output', null, 'the answer holds no output')
  }
  if (!ended && (seen.chunks > 0 || seen.cutEvent)) {
    return failed('truncated', null, 'the stream ended without finish_reason or [DONE]')
  }
  return seen.stamps.length > 0 ? null : failed('no_output', null, emptyWords(seen))
}

function emptyWords({ isPage, firstByteAtMs }: ResponseObserver): string {
  if (isPage) return 'the answer is a web page, no stream'
  return firstByteAtMs === null ? 'the answer has no body' : 'the stream held no output event'
}

function failed(kind: ErrorKind, facts: ErrorFacts | null, message: string | null): Failure {
  return { kind, facts: facts ?? { code: null, type: null, message } }
}

function outcome(
  ok: boolean,
  failure: Failure | null,
  seen: ResponseObserver,
  end: ExchangeEnd,
): ResponseFields['outcome'] {
  if (end.aborted !== null) return 'censored'
  if (ok) return 'ok'
  const status = failure?.kind === 'in_band_error' ? (failure.facts.code ?? '') : String(end.httpStatus)
  const refused = failure?.kind === 'in_band_error' || failure?.kind.startsWith('http_') === true
  return refused && seen.stamps.length === 0 && shedStatuses.has(status) ? 'shed' : 'failed'
}

function flagsOf(end: ExchangeEnd, whole: boolean, gaps: readonly number[]): RowFlag[] {
  const flags: RowFlag[] = []
  if (whole && end.streamAsked) flags.push('not_streamed')
  if (gaps.includes(0)) flags.push('coalesced')
  flags.push(...end.flags)
  if (end.aborted === 'cancelled') flags.push('cancelled_by_client')
  return flags
}

/** (e2e − ttft) ÷ (tokens − first). */
function perToken(decodeMs: number | null, tokens: number | null, first: number): number | null {
  return decodeMs === null || tokens === null || tokens <= first ? null : decodeMs / (tokens - first)
}

/** The tokens of each output event from running totals; null where they are not told by every event, or fall. */
function tokensOfEvents(totals: readonly number[] | null): number[] | null {
  if (totals === null || totals.length === 0) return null
  const tokens: number[] = []
  let before = 0
  for (const total of totals) {
    if (total < before) return null
    tokens.push(total - before)
    before = total
  }
  return tokens
}

/** gap ÷ tokens of the event that ends it, once for each of its tokens. */
function gapsPerToken(gaps: readonly number[], eventTokens: readonly number[]): number[] {
  const perToken: number[] = []
  gaps.forEach((gap, index) => {
    const tokens = eventTokens[index + 1]!
    for (let token = 0; token < tokens; token++) perToken.push(gap / tokens)
  })
  return perToken
}
