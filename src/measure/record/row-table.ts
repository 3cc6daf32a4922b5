import { numberLists, type NumberLists, type NumberListsOptions } from './number-lists.ts'
import { isFiniteList } from './finite-list.ts'
import type { RequestRow } from './request-row.ts'
import { rowColumns, type RowColumn } from './row-columns.ts'
import { rowFrom } from './row-text.ts'

/**
 * Rows in columns: a number or a word of a row takes 4 or 8 bytes, and its lists lie in a file. Its rows are views that read a column
 * when it is asked for, 40 bytes each: whatever takes rows takes them. (A view has no members of its own: spread `wholeRow(row)`, not
 * the row.) NaN and infinities are left out as `finiteRow` does it.
 */
export interface RowTable {
  readonly length: number
  push(row: RequestRow): void
  /** Further rows, from their columns; a column without cells is absent in all of them. */
  pushColumns(count: number, cellsOf: (name: keyof RequestRow) => ArrayLike<unknown> | undefined): void
  change(index: number, changed: Partial<RequestRow>): void
  /** In the order in which they came. */
  rows(): readonly RequestRow[]
}

/** A column's cells. */
interface Cells {
  get(index: number): unknown
  set(index: number, value: unknown): void
  passing?(index: number): ArrayLike<number> | null
}

/** The columns of lists of numbers. */
export type ListName = 'gaps_ms' | 'itl_per_token_ms' | 'event_tokens'

class TableRow {
  readonly columns: readonly Cells[]
  readonly index: number
  constructor(columns: readonly Cells[], index: number) {
    this.columns = columns
    this.index = index
  }
  toJSON(): RequestRow {
    return wholeRow(this as unknown as RequestRow)
  }
}

for (const [at, { name }] of rowColumns.entries()) {
  Object.defineProperty(TableRow.prototype, name, {
    get(this: TableRow) {
      return (this.columns[at] as Cells).get(this.index)
    },
  })
}

/** Whether a row is a view of a table: it then has no NaN and no infinity. */
export function isTableRow(row: RequestRow): boolean {
  return row instanceof TableRow
}

const places = new Map(rowColumns.map(({ name }, at) => [name, at] as const))

/**
 * A row's list to be read at once: its numbers are others when the next list is asked for. Of a table this is several times as
 * fast as the member of the same name, which can be kept.
 */
export function passingList(row: RequestRow, name: 'gaps_ms'): ArrayLike<number>
export function passingList(row: RequestRow, name: ListName): ArrayLike<number> | null
export function passingList(row: RequestRow, name: ListName): ArrayLike<number> | null {
  if (!(row instanceof TableRow)) return row[name]
  return row.columns[places.get(name) ?? 0]?.passing?.(row.index) ?? null
}

/** The row with members of its own, wherever it comes from. */
export function wholeRow(row: RequestRow): RequestRow {
  return isTableRow(row) ? rowFrom((name) => row[name]) : row
}

export function rowTable(options: NumberListsOptions): RowTable {
  const columns = rowColumns.map((column) => cellsOf(column, options))
  let length = 0
  let views: readonly RequestRow[] | null = null
  return {
    get length() {
      return length
    },
    push(row) {
      views = null
      for (const [at, { name }] of rowColumns.entries()) columns[at]?.set(length, row[name])
      length++
    },
    pushColumns(count, cellsOf) {
      views = null
      for (const [at, { name }] of rowColumns.entries()) {
        const cells = cellsOf(name)
        if (cells === undefined) continue
        const column = columns[at] as Cells
        for (let index = 0; index < count; index++) column.set(length + index, cells[index])
      }
      length += count
    },
    change(index, changed) {
      for (const [at, { name }] of rowColumns.entries())
        if (name in changed) columns[at]?.set(index, changed[name])
    },
    rows: () =>
      (views ??= Array.from({ length }, (_, index) => new TableRow(columns, index) as unknown as RequestRow)),
  }
}

function cellsOf(column: RowColumn, options: NumberListsOptions): Cells {
  switch (column.kind) {
    case 'number':
    case 'integer':
      return numberCells(column.nullable ? null : 0)
    case 'numbers':
    case 'integers':
      return listCells(column.nullable ? null : [], options)
    case 'text':
      return column.name === 'id' ? plainCells() : wordCells(column.optional ? undefined : null)
    default:
      return wordCells(null)
  }
}

/** Cells of 64-bit floats, a piece of 64 k of them at a time and only where any has a value. */
function numberCells(absent: number | null): Cells {
  const pieces: (Float64Array | undefined)[] = []
  return {
    get(index) {
      const value = pieces[index >>> 16]?.[index & 0xffff] ?? Number.NaN
      return Number.isNaN(value) ? absent : value
    },
    set(index, value) {
      const known = typeof value === 'number' && Number.isFinite(value) && value !== absent
      let piece = pieces[index >>> 16]
      if (piece === undefined) {
        if (!known) return
        piece = pieces[index >>> 16] = new Float64Array(0x10000).fill(Number.NaN)
      }
      piece[index & 0xffff] = known ? value : Number.NaN
    },
  }
}

function plainCells(): Cells {
  const values: unknown[] = []
  return {
    get: (index) => values[index],
    set: (index, value) => void (values[index] = value),
  }
}

/** Of so many different words each is kept once; in a column with more of them, each row keeps its own. */
const knownWords = 1 << 16

/** Cells whose values come again and again: words, yes and no, lists of words. */
function wordCells(absent: null | undefined): Cells {
  const words: unknown[] = [absent]
  const known = new Map<unknown, number>([[absent, 0]])
  const pieces: (Uint32Array | undefined)[] = []
  const placeOf = (value: unknown): number => {
    const key = Array.isArray(value) ? value.join('\n') : (value ?? absent)
    const place = known.get(key)
    if (place !== undefined) return place
    words.push(value)
    if (known.size < knownWords) known.set(key, words.length - 1)
    return words.length - 1
  }
  return {
    get: (index) => words[pieces[index >>> 16]?.[index & 0xffff] ?? 0],
    set(index, value) {
      const place = placeOf(value)
      if (place === 0 && pieces[index >>> 16] === undefined) return
      const piece = (pieces[index >>> 16] ??= new Uint32Array(0x10000))
      piece[index & 0xffff] = place
    },
  }
}

/** Cells of lists, a file for each column that has any. */
function listCells(absent: readonly number[] | null, options: NumberListsOptions): Cells {
  let lists: NumberLists | null = null
  return {
    get: (index) => lists?.at(index) ?? absent,
    passing: (index) => lists?.passing(index) ?? absent,
    set(index, value) {
      const list = isList(value) ? value : null
      if (lists === null && (list === null || list.length === 0) && (list === null) === (absent === null))
        return
      lists ??= numberLists(options)
      while (lists.length < index) lists.push(null)
      if (lists.length > index) throw new Error('a list of a table does not change')
      lists.push(list === null || isFiniteList(list) ? list : Array.from(list).filter(Number.isFinite))
    },
  }
}

function isList(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || ArrayBuffer.isView(value)
}
