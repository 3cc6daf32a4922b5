import { PlimsollError } from '../../base/errors.ts'
import type { RequestRow } from './request-row.ts'
import { rowColumns } from './row-columns.ts'

/** The row as one line of JSON, columns in their fixed order, kept texts only where the row has them. */
export function rowToJson(row: RequestRow): string {
  const ordered: Record<string, unknown> = {}
  for (const { name, optional } of rowColumns) {
    const value = row[name]
    if (value === undefined && optional) continue
    ordered[name] = value ?? null
  }
  return JSON.stringify(ordered)
}

/**
 * A row from parsed JSON of one of our own files. Columns that a file written by an older version lacks become null (or an
 * empty list, or 0 where the column cannot be null); foreign keys are left out.
 * @throws PlimsollError PLIM_RUN_FOLDER when it is no row: no id, or no known outcome.
 */
export function rowFromJson(value: unknown, where: { file: string; line?: number }): RequestRow {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notARow(value, where)
  const source = value as Record<string, unknown>
  if (typeof source['id'] !== 'string' || !outcomes.has(source['outcome'])) throw notARow(value, where)
  return rowFrom((name) => source[name])
}

/**
 * A row from its columns, whatever they come from. Written out so that all rows have one shape in memory (a hundred thousand
 * rows are read in a fraction of the time that generic assembly takes). Undefined becomes null, empty, false or 0.
 */
export function rowFrom(column: (name: keyof RequestRow) => unknown): RequestRow {
  const text = (name: keyof RequestRow): string => (column(name) ?? '') as string
  const count = (name: keyof RequestRow): number => (column(name) ?? 0) as number
  const maybe = (name: keyof RequestRow): never => (column(name) ?? null) as never
  const row: RequestRow = {
    id: text('id'),
    planned_ms: maybe('planned_ms'),
    sent_ms: maybe('sent_ms'),
    lag_ms: maybe('lag_ms'),
    ttfb_ms: maybe('ttfb_ms'),
    ttft_ms: maybe('ttft_ms'),
    ttfc_ms: maybe('ttfc_ms'),
    e2e_ms: maybe('e2e_ms'),
    done_ms: maybe('done_ms'),
    tpot_ms: maybe('tpot_ms'),
    tpot_after_first_event_ms: maybe('tpot_after_first_event_ms'),
    gaps_ms: (column('gaps_ms') ?? []) as RequestRow['gaps_ms'],
    itl_per_token_ms: maybe('itl_per_token_ms'),
    event_tokens: maybe('event_tokens'),
    prompt_tokens: maybe('prompt_tokens'),
    cached_tokens: maybe('cached_tokens'),
    completion_tokens: maybe('completion_tokens'),
    reasoning_tokens: maybe('reasoning_tokens'),
    asked_output_tokens: maybe('asked_output_tokens'),
    tokens_source: maybe('tokens_source'),
    n_chunks: count('n_chunks'),
    n_output_chunks: count('n_output_chunks'),
    n_comments: count('n_comments'),
    n_ignored: count('n_ignored'),
    outcome: text('outcome') as RequestRow['outcome'],
    phase: text('phase') as RequestRow['phase'],
    ok: (column('ok') ?? false) as boolean,
    flags: (column('flags') ?? []) as RequestRow['flags'],
    error_kind: maybe('error_kind'),
    error_code: maybe('error_code'),
    error_type: maybe('error_type'),
    error_message: maybe('error_message'),
    http_status: maybe('http_status'),
    retry_after_ms: maybe('retry_after_ms'),
    finish_reason: maybe('finish_reason'),
    worker: maybe('worker'),
    replica: maybe('replica'),
    prompt_id: maybe('prompt_id'),
    segment: maybe('segment'),
    session: maybe('session'),
    turn: maybe('turn'),
  }
  const kept: { text?: string; reasoning_text?: string; tool_args?: string } = {}
  let keeps = false
  for (const name of ['text', 'reasoning_text', 'tool_args'] as const) {
    const value = column(name)
    if (value === undefined || value === null) continue
    kept[name] = value as string
    keeps = true
  }
  return keeps ? { ...row, ...kept } : row
}

const outcomes: ReadonlySet<unknown> = new Set(['ok', 'failed', 'shed', 'censored', 'unsent'])

function notARow(value: unknown, where: { file: string; line?: number }): PlimsollError {
  return new PlimsollError('PLIM_RUN_FOLDER', 'this is not the row of a request', {
    expected: 'an object with at least id and outcome',
    received: (JSON.stringify(value) ?? 'nothing').slice(0, 120),
    where,
    hint: 'plimsoll export RUN --format jsonl prints rows of the right form',
  })
}
