import type { RequestRow } from './request-row.ts'
import { rowList } from './row-list.ts'
import type { Rows } from './rows.ts'

/**
 * The rows ascending by a number, `tie` between equal ones, which keep their order unless it is given. Rows that are in that order
 * already come back as they are. Each row's number is asked for once: rows that lie in a file are not read in the order of a sort.
 */
export function sortRows(
  rows: Rows,
  by: (row: RequestRow) => number,
  tie: (a: RequestRow, b: RequestRow) => number = () => 0,
): Rows {
  if (isSorted(rows, by, tie)) return rows
  const keys = new Float64Array(rows.length)
  for (const [at, row] of rows.entries()) keys[at] = by(row)
  const rowAt = (place: number): RequestRow => rows.at(place) as RequestRow
  const places = Uint32Array.from(keys, (_, at) => at).sort((a, b) => {
    const [left, right] = [keys[a] as number, keys[b] as number]
    return left === right ? tie(rowAt(a), rowAt(b)) : left - right
  })
  if (Array.isArray(rows)) return Array.from(places, rowAt)
  return rowList((index) => rowAt(places[index] as number), rows.length)
}

function isSorted(
  rows: Rows,
  by: (row: RequestRow) => number,
  tie: (a: RequestRow, b: RequestRow) => number,
): boolean {
  let before: RequestRow | null = null
  for (const row of rows) {
    if (before !== null) {
      const [left, right] = [by(before), by(row)]
      if (left > right || (left === right && tie(before, row) > 0)) return false
    }
    before = row
  }
  return true
}
