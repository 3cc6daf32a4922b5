import type { RequestRow } from './request-row.ts'
import { pickRows } from './row-list.ts'
import type { Rows } from './rows.ts'

/**
 * The rows ascending by a number, equal ones by a text, else as they stood. Rows that are in that order already come back as they
 * are. Numbers and texts are read in the order of the rows, not in that of a sort: many rows lie in a file.
 */
export function sortRows(
  rows: Rows,
  by: (row: RequestRow) => number,
  tie: ((row: RequestRow) => string) | null = null,
): Rows {
  const keys = new Float64Array(rows.length)
  let isSorted = true
  let before: RequestRow | null = null
  for (const [at, row] of rows.entries()) {
    keys[at] = by(row)
    if (isSorted && before !== null) {
      const earlier = keys[at - 1] as number
      const key = keys[at] as number
      isSorted = earlier < key || (earlier === key && (tie === null || tie(before) <= tie(row)))
    }
    before = row
  }
  return isSorted ? rows : pickRows(rows, sortedIndices(keys, tie === null ? null : () => rows.map(tie)))
}

function sortedIndices(keys: Float64Array, tiesOf: (() => readonly string[]) | null): Uint32Array {
  let ties: readonly string[] | null = null
  return Uint32Array.from(keys, (_, at) => at).sort((a, b) => {
    const [left, right] = [keys[a] as number, keys[b] as number]
    if (left !== right || tiesOf === null) return left === right ? 0 : left - right
    ties ??= tiesOf()
    const [one, other] = [ties[a] as string, ties[b] as string]
    return one < other ? -1 : one > other ? 1 : 0
  })
}
