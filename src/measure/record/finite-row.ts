import { isFiniteList } from './finite-list.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { rowColumns } from './row-columns.ts'
import { isTableRow } from './row-table.ts'

const numbers = rowColumns.filter(({ kind }) => kind === 'number' || kind === 'integer')

/**
 * The row with NaN and infinities as what they mean, null: other programs' files have them for what was not measured. Lists lose
 * such elements. A row without any comes back as it is.
 */
export function finiteRow(row: RequestRow): RequestRow {
  if (isTableRow(row)) return row
  let clean: Record<string, unknown> | null = null
  for (const { name, nullable } of numbers) {
    const value = row[name]
    if (typeof value !== 'number' || Number.isFinite(value)) continue
    clean ??= { ...row }
    clean[name] = nullable ? null : 0
  }
  for (const name of ['gaps_ms', 'itl_per_token_ms'] as const) {
    const list = row[name]
    if (list === null || isFiniteList(list)) continue
    clean ??= { ...row }
    clean[name] = list.filter((value) => Number.isFinite(value))
  }
  return clean === null ? row : (clean as unknown as RequestRow)
}

/** The rows with NaN and infinities as what they mean. */
export function finiteRows(rows: Rows): Rows {
  return rows.every(isTableRow) ? rows : rows.map(finiteRow)
}
