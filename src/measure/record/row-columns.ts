import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'

/**
 * How a column of the row is stored. `number` is a 64-bit float, `integer` a 32-bit one; `numbers` and `integers` are lists.
 * `nullable` says whether the column may be null; the three texts of `--keep-text` may also be absent.
 */
export interface RowColumn {
  readonly name: keyof RequestRow
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'numbers' | 'integers' | 'texts'
  readonly nullable: boolean
  /** Only there with `--keep-text`. */
  readonly optional: boolean
}

function column(name: keyof RequestRow, kind: RowColumn['kind'], nullable: boolean): RowColumn {
  return { name, kind, nullable, optional: false }
}

function keptText(name: keyof RequestRow): RowColumn {
  return { name, kind: 'text', nullable: true, optional: true }
}

/** Every column of the row, in the order in which run folders, exports and schemas have them (DESIGN §5). */
export const rowColumns: readonly RowColumn[] = [
  column('id', 'text', false),
  column('planned_ms', 'number', true),
  column('sent_ms', 'number', true),
  column('lag_ms', 'number', true),
  column('ttfb_ms', 'number', true),
  column('ttft_ms', 'number', true),
  column('ttfc_ms', 'number', true),
  column('e2e_ms', 'number', true),
  column('done_ms', 'number', true),
  column('tpot_ms', 'number', true),
  column('tpot_after_first_event_ms', 'number', true),
  column('gaps_ms', 'numbers', false),
  column('itl_per_token_ms', 'numbers', true),
  column('event_tokens', 'integers', true),
  column('prompt_tokens', 'integer', true),
  column('cached_tokens', 'integer', true),
  column('completion_tokens', 'integer', true),
  column('reasoning_tokens', 'integer', true),
  column('asked_output_tokens', 'integer', true),
  column('tokens_source', 'text', true),
  column('n_chunks', 'integer', false),
  column('n_output_chunks', 'integer', false),
  column('n_comments', 'integer', false),
  column('n_ignored', 'integer', false),
  column('outcome', 'text', false),
  column('phase', 'text', false),
  column('ok', 'boolean', false),
  column('flags', 'texts', false),
  column('error_kind', 'text', true),
  column('error_code', 'text', true),
  column('error_type', 'text', true),
  column('error_message', 'text', true),
  column('http_status', 'integer', true),
  column('retry_after_ms', 'number', true),
  column('finish_reason', 'text', true),
  column('worker', 'integer', true),
  column('replica', 'text', true),
  column('prompt_id', 'text', true),
  column('segment', 'text', true),
  column('session', 'text', true),
  column('turn', 'integer', true),
  keptText('text'),
  keptText('reasoning_text'),
  keptText('tool_args'),
]

/** Whether the column's cells are lists of numbers. */
export function isNumberList({ kind }: RowColumn): boolean {
  return kind === 'numbers' || kind === 'integers'
}

/** The columns that these rows have: all fixed ones, and a kept text where any row carries it. */
export function columnsOf(rows: Rows): readonly RowColumn[] {
  const unseen = new Set(rowColumns.filter(({ optional }) => optional).map(({ name }) => name))
  for (const row of rows) {
    for (const name of unseen) if (row[name] !== undefined) unseen.delete(name)
    if (unseen.size === 0) break
  }
  return rowColumns.filter(({ name }) => !unseen.has(name))
}
