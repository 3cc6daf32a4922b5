import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { rowTable, type RowTable } from './row-table.ts'

/** Rows that come one by one. */
export interface RowStore {
  readonly length: number
  push(row: RequestRow): void
  /** The row as it is now. */
  at(index: number): RequestRow
  /** The row with other values in it. A list that was empty may be given once, in the order of the rows. */
  change(index: number, changed: Partial<RequestRow>): void
  /** Every row, in the order in which they came. Nothing may be pushed afterwards. */
  rows(): Rows
}

/** Where rows go that are too many to be held. */
export interface RowStoreOptions {
  /** The folder of the files that most of them go to. Null: they are held, 8 bytes a number. */
  readonly folder: string | null
  /** Numbers in the rows that are held as they are. */
  readonly held?: number
}

/** Numbers in the rows that are held unless another limit is given, 8 MB. */
export const heldNumbers = 1_000_000

/** What a row takes, in numbers: 64 without its lists. */
export function numbersOfRow({ gaps_ms: gaps }: RequestRow): number {
  return 64 + gaps.length
}

/** As long as the rows are few they are held as they are; beyond that they go to a table, whose memory their lists do not take. */
export function rowStore({ folder, held = heldNumbers }: RowStoreOptions): RowStore {
  let rows: RequestRow[] = []
  let table: RowTable | null = null
  let numbers = 0
  return {
    get length() {
      return table === null ? rows.length : table.length
    },
    push(row) {
      numbers += numbersOfRow(row)
      if (table === null && numbers > held) {
        table = rowTable({ folder, held })
        for (const one of rows) table.push(one)
        rows = []
      }
      if (table === null) rows.push(row)
      else table.push(row)
    },
    at: (index) => (table === null ? (rows[index] as RequestRow) : table.at(index)),
    change(index, changed) {
      const row = rows[index]
      if (table !== null) table.change(index, changed)
      else if (row !== undefined) rows[index] = { ...row, ...changed }
    },
    rows: () => (table === null ? rows : table.rows()),
  }
}
