import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'

/** The values of the rows that have one, in their order, 8 bytes each. */
export function rowValues(rows: Rows, of: (row: RequestRow) => number | null): Float64Array {
  const values = new Float64Array(rows.length)
  let filled = 0
  for (const row of rows) {
    const value = of(row)
    if (value !== null) values[filled++] = value
  }
  return values.subarray(0, filled)
}
