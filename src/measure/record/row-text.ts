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
  const row: Record<string, unknown> = {}
  for (const { name, kind, nullable, optional } of rowColumns) {
    const value = source[name]
    if (value !== undefined && value !== null) row[name] = value
    else if (!optional) row[name] = nullable ? null : emptyOf(kind)
  }
  return row as unknown as RequestRow
}

const outcomes: ReadonlySet<unknown> = new Set(['ok', 'failed', 'shed', 'censored', 'unsent'])

function emptyOf(kind: string): unknown {
  if (kind === 'numbers' || kind === 'integers' || kind === 'texts') return []
  if (kind === 'boolean') return false
  return kind === 'text' ? '' : 0
}

function notARow(value: unknown, where: { file: string; line?: number }): PlimsollError {
  return new PlimsollError('PLIM_RUN_FOLDER', 'this is not the row of a request', {
    expected: 'an object with at least id and outcome',
    received: (JSON.stringify(value) ?? 'nothing').slice(0, 120),
    where,
    hint: 'plimsoll export RUN --format jsonl prints rows of the right form',
  })
}
