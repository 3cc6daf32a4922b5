import type { Outcome, RequestRow } from '../request-row.ts'
import { requestId } from '../request-id.ts'
import { failure, importedRow } from './imported-row.ts'
import { asRecord, countOf, member, numberOf, textOf, type JsonRecord, type JsonValue } from './json-value.ts'

/** How many requests' `time_per_output_token_ms` follow each formula. */
export interface TpotForms {
  withTtft: number
  perToken: number
  ours: number
  other: number
}

/** When a request started, seconds since 1970; null where the file does not say. */
export function guidellmStart(record: JsonRecord): number | null {
  const timings = asRecord(member(record, 'info', 'timings')) ?? {}
  return firstOf(timings['request_start'], timings['resolve_start'], record['start_time'])
}

/** The first that is a number above 0. */
function firstOf(...values: readonly (JsonValue | undefined)[]): number | null {
  return values.map(numberOf).find((one) => one !== null && one > 0) ?? null
}

/**
 * A request of GuideLLM, from its times where it has them (times are trusted, names are not: three formulas go by the name of TPOT),
 * else from its figures, TPOT rebased by (tpot·N − ttft) ÷ (N − 1).
 */
export function guidellmRow(
  record: JsonRecord,
  outcome: Outcome,
  index: number,
  forms: TpotForms,
  baseS: number | null,
): RequestRow {
  const timings = asRecord(member(record, 'info', 'timings')) ?? {}
  const first = firstOf
  const startS = guidellmStart(record)
  const firstS = first(
    timings['first_token_iteration'],
    timings['first_iteration'],
    record['first_token_time'],
  )
  const lastS = first(timings['last_token_iteration'], timings['last_iteration'], record['last_token_time'])
  const endS = first(timings['request_end'], timings['resolve_end'], record['end_time'])
  const answerS = first(timings['first_output_token_iteration'])
  const tokens =
    countOf(member(record, 'output_metrics', 'text_tokens')) ??
    countOf(record['output_tokens']) ??
    countOf(member(record, 'output_metrics', 'total_tokens'))
  const since = (atS: number | null): number | null =>
    atS === null || startS === null ? null : ms(atS - startS)
  const ttftField = numberOf(record['time_to_first_token_ms'])
  const latencyS = numberOf(record['request_latency'])
  const ttftMs = since(firstS) ?? (ttftField !== null && ttftField > 0 ? ttftField : null)
  const itl = numberOf(record['inter_token_latency_ms'])
  const published = numberOf(record['time_per_output_token_ms'])
  const tpotMs =
    lastS !== null && firstS !== null
      ? null
      : (itl ??
        (published !== null && ttftMs !== null && tokens !== null && tokens > 1
          ? (published * tokens - ttftMs) / (tokens - 1)
          : null))
  const e2eMs =
    since(lastS) ??
    (ttftMs !== null && tpotMs !== null && tokens !== null ? ttftMs + tpotMs * (tokens - 1) : null)
  if (
    outcome === 'ok' &&
    published !== null &&
    ttftMs !== null &&
    e2eMs !== null &&
    tokens !== null &&
    tokens > 1
  ) {
    const near = (value: number): boolean =>
      Math.abs(value - published) <= 1e-4 * Math.max(1e-9, Math.abs(published))
    if (near((e2eMs - ttftMs) / (tokens - 1))) forms.ours++
    else if (near(e2eMs / tokens)) forms.withTtft++
    else if (near((e2eMs - ttftMs) / tokens)) forms.perToken++
    else forms.other++
  }
  const error =
    textOf(record['error']) ??
    textOf(member(record, 'info', 'error')) ??
    textOf(member(record, 'error', 'message'))
  const bad =
    outcome === 'failed'
      ? failure(null, error ?? 'failed')
      : { outcome, errorKind: outcome === 'censored' ? 'censored' : null }
  return importedRow({
    id: textOf(record['request_id']) ?? textOf(member(record, 'info', 'request_id')) ?? requestId(index),
    plannedMs: startS === null ? 0 : ms(startS - (baseS ?? startS)),
    sentMs: startS === null ? null : ms(startS - (baseS ?? startS)),
    ...bad,
    ttftMs,
    ttfcMs: since(answerS),
    e2eMs,
    doneMs: since(endS) ?? (latencyS === null || latencyS <= 0 ? null : latencyS * 1000),
    tpotMs,
    events: countOf(timings['token_iterations']),
    promptTokens: countOf(member(record, 'input_metrics', 'text_tokens')) ?? countOf(record['prompt_tokens']),
    cachedTokens: countOf(member(record, 'input_metrics', 'cached_tokens')),
    completionTokens: tokens,
    tokensSource: 'server',
    session: textOf(member(record, 'info', 'conversation_id')),
    turn: countOf(member(record, 'info', 'turn_index')),
  })
}

/** Seconds to ms, to the microsecond: the difference of two times since 1970 carries no more. */
function ms(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e3
}
