import { tpotMs } from '../../metrics/decompose-latency.ts'
import { unsentRow } from '../made-rows.ts'
import type { Outcome, RequestRow, RowFlag } from '../request-row.ts'
import type { Rows } from '../rows.ts'
import { rowStore, type RowStore } from '../row-store.ts'
import { requestId } from '../request-id.ts'
import { statusOfWords } from './status-of-words.ts'

/** What a file tells of one request. Times in ms; latencies from the intended send where it is known, else from the actual one. */
export interface ImportedRequest {
  readonly id: string
  readonly outcome: Outcome
  readonly phase?: RequestRow['phase']
  /** Intended send on the run's clock; the actual one where the file has no plan. Null: the file has no times. */
  readonly plannedMs: number | null
  readonly sentMs?: number | null
  /** Only where the file knows both the intended and the actual send. */
  readonly lagMs?: number | null
  readonly ttfbMs?: number | null
  readonly ttftMs?: number | null
  readonly ttfcMs?: number | null
  readonly e2eMs?: number | null
  readonly doneMs?: number | null
  /** Only where it cannot be computed from the others. */
  readonly tpotMs?: number | null
  readonly gapsMs?: readonly number[] | null
  /** Output events, where the file counts them without their times. */
  readonly events?: number | null
  readonly eventTokens?: readonly number[] | null
  readonly promptTokens?: number | null
  readonly cachedTokens?: number | null
  readonly completionTokens?: number | null
  readonly reasoningTokens?: number | null
  readonly askedTokens?: number | null
  readonly tokensSource?: RequestRow['tokens_source']
  readonly flags?: readonly RowFlag[]
  readonly errorKind?: string | null
  readonly errorCode?: string | null
  readonly errorType?: string | null
  readonly errorMessage?: string | null
  readonly httpStatus?: number | null
  readonly finishReason?: string | null
  readonly replica?: string | null
  readonly session?: string | null
  readonly turn?: number | null
  readonly segment?: string | null
}

/** The row of a request that another tool sent: columns recomputed by DESIGN §3, what the file lacks null. */
export function importedRow(request: ImportedRequest): RequestRow {
  const ok = request.outcome === 'ok'
  const sentMs = request.sentMs ?? null
  const { plannedMs } = request
  // A failed request has no latency of an answer, whatever zeros stand in the file.
  const ttftMs = ok || request.outcome === 'censored' ? (request.ttftMs ?? null) : null
  const e2eMs = ok ? (request.e2eMs ?? null) : null
  const tokens = request.completionTokens ?? null
  const gapsMs = ok || request.outcome === 'censored' ? (request.gapsMs ?? null) : null
  // Without gaps nobody knows how many events there were.
  const events = gapsMs === null || ttftMs === null ? (request.events ?? 0) : gapsMs.length + 1
  const computed = ttftMs === null || e2eMs === null || tokens === null ? null : tpotMs(e2eMs, ttftMs, tokens)
  const given = tokens !== null && tokens > 1 ? (request.tpotMs ?? null) : null
  return {
    ...unsentRow,
    id: request.id,
    planned_ms: plannedMs,
    sent_ms: sentMs,
    lag_ms: request.lagMs ?? null,
    ttfb_ms: ok ? (request.ttfbMs ?? null) : null,
    ttft_ms: ttftMs,
    ttfc_ms: ok ? (request.ttfcMs ?? null) : null,
    e2e_ms: e2eMs,
    done_ms: request.doneMs ?? null,
    tpot_ms: ok ? (computed ?? given) : null,
    gaps_ms: gapsMs ?? [],
    event_tokens: ok ? (request.eventTokens ?? null) : null,
    prompt_tokens: request.promptTokens ?? null,
    cached_tokens: request.cachedTokens ?? null,
    completion_tokens: tokens,
    reasoning_tokens: request.reasoningTokens ?? null,
    asked_output_tokens: request.askedTokens ?? null,
    tokens_source: tokens === null ? null : (request.tokensSource ?? null),
    n_output_chunks: events,
    n_chunks: events,
    outcome: request.outcome,
    phase: request.phase ?? 'measure',
    ok,
    flags: ['imported', ...(request.flags ?? [])],
    error_kind: ok ? null : (request.errorKind ?? null),
    error_code: request.errorCode ?? null,
    error_type: request.errorType ?? null,
    error_message: request.errorMessage ?? null,
    http_status: request.httpStatus ?? null,
    finish_reason: request.finishReason ?? null,
    replica: request.replica ?? null,
    session: request.session ?? null,
    turn: request.turn ?? null,
    segment: request.segment ?? null,
  }
}

/** Rows of requests of which a summary tells only the number and what became of them. */
export function countedRows(counts: {
  readonly ok: number
  readonly failed: number
  readonly shed?: number
  readonly cancelled?: number
}): Rows {
  const rows = rowStore({ folder: null })
  const add = (count: number, outcome: Outcome, errorKind: string | null): void => {
    for (let index = 0; index < count; index++)
      rows.push(importedRow({ id: requestId(rows.length), outcome, plannedMs: 0, errorKind }))
  }
  add(counts.ok, 'ok', null)
  add(counts.shed ?? 0, 'shed', null)
  add(counts.failed, 'failed', null)
  add(counts.cancelled ?? 0, 'censored', null)
  return rows.rows()
}

/** What became of a failed request, from the status or code that the file has. */
export function failure(
  code: string | null,
  message: string | null,
): Pick<ImportedRequest, 'outcome' | 'errorKind' | 'errorCode' | 'errorMessage' | 'httpStatus'> {
  const status = code !== null && /^[1-5]\d\d$/.test(code) ? Number(code) : statusOfWords(message)
  const shed = status === 429 || status === 503 || status === 529
  return {
    outcome: shed ? 'shed' : 'failed',
    errorKind: status === null || status < 400 ? kindOfWords(message) : `http_${status}`,
    errorCode: code,
    errorMessage: message === null ? null : message.slice(0, 500),
    httpStatus: status,
  }
}

function kindOfWords(message: string | null): string {
  const text = message ?? ''
  if (/time(d)?[ -]?out/i.test(text)) return 'timeout_total'
  if (/refused/i.test(text)) return 'connection_refused'
  if (/reset|broken pipe|disconnected/i.test(text)) return 'connection_reset'
  return 'failed'
}

/**
 * The rows of a store whose times count from the first one that was read, moved so that the earliest intended send is 0. (The first row
 * need not be the earliest, and keeping every record until the end would keep the file in memory.)
 */
export function fromEarliest(store: RowStore): {
  readonly rows: Rows
  readonly earliestMs: number
} {
  let earliestMs = Number.POSITIVE_INFINITY
  for (const row of store.rows())
    if (row.sent_ms !== null) earliestMs = Math.min(earliestMs, row.planned_ms ?? row.sent_ms)
  if (!Number.isFinite(earliestMs) || earliestMs === 0) return { rows: store.rows(), earliestMs: 0 }
  const moved = (ms: number | null): number | null =>
    ms === null ? null : Math.round((ms - earliestMs) * 1e6) / 1e6
  for (const [at, row] of store.rows().entries()) {
    if (row.sent_ms === null) continue
    store.change(at, { planned_ms: moved(row.planned_ms), sent_ms: moved(row.sent_ms) })
  }
  return { rows: store.rows(), earliestMs }
}

/** What changes in a row that is counted from an intended send `lagMs` before the actual one. */
export function fromPlan(row: RequestRow, lagMs: number): Partial<RequestRow> {
  const later = (ms: number | null): number | null => (ms === null ? null : ms + lagMs)
  return {
    planned_ms: row.sent_ms === null ? row.planned_ms : Math.round((row.sent_ms - lagMs) * 1e6) / 1e6,
    lag_ms: lagMs,
    ttfb_ms: later(row.ttfb_ms),
    ttft_ms: later(row.ttft_ms),
    ttfc_ms: later(row.ttfc_ms),
    e2e_ms: later(row.e2e_ms),
    done_ms: later(row.done_ms),
  }
}
