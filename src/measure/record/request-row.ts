/**
 * The row of a request: the one record of the house. Live runs, importers, the gateway and the simulator all produce it, and
 * every judgement and plan reads it. Its field names are the public ones of run folders, exports and schemas (snake case,
 * unit in the name); times are milliseconds on the run's monotonic clock.
 *
 * Latencies (`ttfb_ms` … `done_ms`) count from the **intended** send, `planned_ms`; subtract `lag_ms` for service times.
 * Missing is null, never 0. Law 2: a planned request has exactly one row, whatever became of it.
 */
export interface RequestRow {
  /** Unique within the run; sent as `x-request-id`. */
  readonly id: string
  /** Intended send, ms after the run's origin. Null only for a closed-loop request whose slot never became free. */
  readonly planned_ms: number | null
  /** Actual send, ms after the run's origin: the call that hands the request to the socket. */
  readonly sent_ms: number | null
  /** sent − planned. */
  readonly lag_ms: number | null
  /** Intended send → first body byte. */
  readonly ttfb_ms: number | null
  /** Intended send → first output event of any channel (content, reasoning, completion text, named tool call). */
  readonly ttft_ms: number | null
  /** Intended send → first non-reasoning content. */
  readonly ttfc_ms: number | null
  /** Intended send → last output event. */
  readonly e2e_ms: number | null
  /** Intended send → end marker, else close, else failure. */
  readonly done_ms: number | null
  /** (e2e − ttft) ÷ (completion_tokens − 1); null for 0, 1 or unknown tokens, and for failures. */
  readonly tpot_ms: number | null
  /** (e2e − ttft) ÷ (completion_tokens − k), k = tokens of the first event, where k > 1 is known. */
  readonly tpot_after_first_event_ms: number | null
  /** Between output events, zero allowed; one fewer than `n_output_chunks`. */
  readonly gaps_ms: readonly number[]
  /** gap ÷ tokens of the later event, once a token; only where the tokens of each event are known. */
  readonly itl_per_token_ms: readonly number[] | null
  /** Tokens of each output event, where running usage tells them. */
  readonly event_tokens: readonly number[] | null
  readonly prompt_tokens: number | null
  readonly cached_tokens: number | null
  readonly completion_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly asked_output_tokens: number | null
  /** Where `completion_tokens` comes from: the server's usage, a client-side tokenizer, or counted events. */
  readonly tokens_source: 'server' | 'tokenizer' | 'events' | null
  /** JSON events read, error objects too. */
  readonly n_chunks: number
  readonly n_output_chunks: number
  readonly n_comments: number
  /** Events skipped: empty, not JSON, foreign names. */
  readonly n_ignored: number
  readonly outcome: Outcome
  readonly phase: Phase
  readonly ok: boolean
  readonly flags: readonly RowFlag[]
  readonly error_kind: string | null
  readonly error_code: string | null
  readonly error_type: string | null
  readonly error_message: string | null
  readonly http_status: number | null
  readonly retry_after_ms: number | null
  readonly finish_reason: string | null
  readonly worker: number | null
  readonly replica: string | null
  readonly prompt_id: string | null
  readonly segment: string | null
  readonly session: string | null
  readonly turn: number | null
  /** Only with `--keep-text`. */
  readonly text?: string
  readonly reasoning_text?: string
  readonly tool_args?: string
}

/** What became of a planned request: exactly one of these. */
export type Outcome = 'ok' | 'failed' | 'shed' | 'censored' | 'unsent'

/** The part of the run in which the request was intended to be sent. */
export type Phase = 'warmup' | 'measure' | 'drain'

/**
 * `not_streamed`: a whole JSON answer although a stream was asked. `coalesced`: events of different tokens arrived in one
 * network chunk, so their gaps are zero. `stale_connection_retried`: sent again on a fresh socket after a kept-alive one turned
 * out closed before any byte. `redirected`: followed a 307/308 within one origin.
 */
export type RowFlag =
  | 'not_streamed'
  | 'coalesced'
  | 'stale_connection_retried'
  | 'redirected'
  | 'imported'
  | 'simulated'
  | 'cancelled_by_client'
