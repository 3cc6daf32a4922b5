import { dirname } from 'node:path'
import type { Journal } from './journal.ts'
import { readJournal } from './read-journal.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { heldNumbers, numbersOfRow, rowStore } from './row-store.ts'

/** The rows of a run under way: each goes to the journal, and as long as they are few they are at hand too. */
export interface KeptRows {
  append(row: RequestRow): void
  /** Every row, in the order they came, also of a run whose journal could not be written to its end. */
  all(): Promise<Rows>
}

/**
 * A run that makes more than `limit` numbers goes on in constant memory, and reads its journal at the end: into columns
 * (`rowTable`). A row is let go only once the journal has it: on a disk that is full they are held.
 */
export function keptRows(path: string, journal: Journal, limit: number = heldNumbers): KeptRows {
  let rows: RequestRow[] = []
  /** Rows before the first that is held. */
  let gone = 0
  let numbers = 0
  return {
    append(row) {
      journal.append([row])
      numbers += numbersOfRow(row)
      rows.push(row)
      const safe = journal.rowsWritten() - gone
      // Half of them at a time, so that moving the rest costs little.
      if (numbers > limit && 2 * safe >= rows.length) {
        rows = rows.slice(safe)
        gone += safe
      }
    },
    async all() {
      if (gone === 0) return rows
      const isWhole = await journal.flush().then(
        () => true,
        () => false,
      )
      const read = rowStore({ folder: isWhole ? dirname(path) : null, held: limit })
      let seen = 0
      await readJournal(path, (row) => {
        if (seen++ < gone) read.push(row)
      })
      for (const row of rows) read.push(row)
      return read.rows()
    },
  }
}
