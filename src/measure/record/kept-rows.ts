import { dirname } from 'node:path'
import type { Journal } from './journal.ts'
import { readJournal } from './read-journal.ts'
import type { RequestRow } from './request-row.ts'
import { heldNumbers, numbersOfRow, rowStore } from './row-store.ts'

/** The rows of a run under way: each goes to the journal, and as long as they are few they are at hand too. */
export interface KeptRows {
  append(row: RequestRow): void
  /** Every row, in the order they came. Throws what any write of the journal met. */
  all(): Promise<readonly RequestRow[]>
}

/** A run that makes more than `limit` numbers goes on in constant memory, and reads its journal at the end: into columns (`rowTable`). */
export function keptRows(path: string, journal: Journal, limit: number = heldNumbers): KeptRows {
  let rows: RequestRow[] = []
  let numbers = 0
  return {
    append(row) {
      journal.append([row])
      numbers += numbersOfRow(row)
      if (numbers > limit) rows = []
      else rows.push(row)
    },
    async all() {
      if (numbers <= limit) return rows
      await journal.flush()
      const read = rowStore({ folder: dirname(path), held: limit })
      await readJournal(path, (row) => read.push(row))
      return read.rows()
    },
  }
}
