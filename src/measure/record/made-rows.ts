import { tpotMs } from '../metrics/decompose-latency.ts'
import type { RequestRow } from './request-row.ts'

/** A row of a request that was never sent: the value to start from when a row is made by hand. */
export const unsentRow: RequestRow = {
  id: '',
  planned_ms: null,
  sent_ms: null,
  lag_ms: null,
  ttfb_ms: null,
  ttft_ms: null,
  ttfc_ms: null,
  e2e_ms: null,
  done_ms: null,
  tpot_ms: null,
  tpot_after_first_event_ms: null,
  gaps_ms: [],
  itl_per_token_ms: null,
  event_tokens: null,
  prompt_tokens: null,
  cached_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  asked_output_tokens: null,
  tokens_source: null,
  n_chunks: 0,
  n_output_chunks: 0,
  n_comments: 0,
  n_ignored: 0,
  outcome: 'unsent',
  phase: 'measure',
  ok: false,
  flags: [],
  error_kind: null,
  error_code: null,
  error_type: null,
  error_message: null,
  http_status: null,
  retry_after_ms: null,
  finish_reason: null,
  worker: null,
  replica: null,
  prompt_id: null,
  segment: null,
  session: null,
  turn: null,
}

/** What a streamed answer is made from when it did not come over the wire: importers and simulators have this much. */
export interface StreamedAnswer {
  readonly id: string
  readonly plannedMs: number
  /** Actual send; the intended one unless given. */
  readonly sentMs?: number
  /** From the intended send, ms. */
  readonly ttftMs: number
  readonly gapsMs: readonly number[]
  /** Unless given, one token an event. */
  readonly completionTokens?: number
  readonly promptTokens?: number
}

/** The row of a request that was answered well, its derived columns computed as DESIGN §3 defines them. */
export function streamedRow(answer: StreamedAnswer, also: Partial<RequestRow> = {}): RequestRow {
  const { id, plannedMs, ttftMs, gapsMs } = answer
  const sentMs = answer.sentMs ?? plannedMs
  let e2eMs = ttftMs
  for (const gap of gapsMs) e2eMs += gap
  const tokens = answer.completionTokens ?? gapsMs.length + 1
  return {
    ...unsentRow,
    id,
    planned_ms: plannedMs,
    sent_ms: sentMs,
    lag_ms: sentMs - plannedMs,
    ttfb_ms: ttftMs,
    ttft_ms: ttftMs,
    ttfc_ms: ttftMs,
    e2e_ms: e2eMs,
    done_ms: e2eMs,
    tpot_ms: tpotMs(e2eMs, ttftMs, tokens),
    gaps_ms: gapsMs,
    prompt_tokens: answer.promptTokens ?? null,
    completion_tokens: tokens,
    tokens_source: 'server',
    n_chunks: gapsMs.length + 3,
    n_output_chunks: gapsMs.length + 1,
    outcome: 'ok',
    ok: true,
    http_status: 200,
    finish_reason: 'length',
    ...also,
  }
}
