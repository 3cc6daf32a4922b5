import * as v from 'valibot'
import type { RequestRow } from '../../measure/record/request-row.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())

const flag = v.picklist([
  'not_streamed',
  'coalesced',
  'stale_connection_retried',
  'redirected',
  'imported',
  'simulated',
  'cancelled_by_client',
])

/** The row of a request, as `plimsoll export --format jsonl` prints it. */
export const rowSchema: v.GenericSchema<unknown, RequestRow> = v.strictObject({
  id: text,
  planned_ms: maybe,
  sent_ms: maybe,
  lag_ms: maybe,
  ttfb_ms: maybe,
  ttft_ms: maybe,
  ttfc_ms: maybe,
  e2e_ms: maybe,
  done_ms: maybe,
  tpot_ms: maybe,
  tpot_after_first_event_ms: maybe,
  gaps_ms: v.array(number),
  itl_per_token_ms: v.nullable(v.array(number)),
  event_tokens: v.nullable(v.array(number)),
  prompt_tokens: maybe,
  cached_tokens: maybe,
  completion_tokens: maybe,
  reasoning_tokens: maybe,
  asked_output_tokens: maybe,
  tokens_source: v.nullable(v.picklist(['server', 'tokenizer', 'events'])),
  n_chunks: number,
  n_output_chunks: number,
  n_comments: number,
  n_ignored: number,
  outcome: v.picklist(['ok', 'failed', 'shed', 'censored', 'unsent']),
  phase: v.picklist(['warmup', 'measure', 'drain']),
  ok: v.boolean(),
  flags: v.array(flag),
  error_kind: maybeText,
  error_code: maybeText,
  error_type: maybeText,
  error_message: maybeText,
  http_status: maybe,
  retry_after_ms: maybe,
  finish_reason: maybeText,
  worker: maybe,
  replica: maybeText,
  prompt_id: maybeText,
  segment: maybeText,
  session: maybeText,
  turn: maybe,
  text: v.exactOptional(text),
  reasoning_text: v.exactOptional(text),
  tool_args: v.exactOptional(text),
})
