import { numberLists, type NumberLists, type NumberListsOptions } from './number-lists.ts'
import { isFiniteList } from './finite-list.ts'
import { numberCells } from './number-cells.ts'
import { numberPages, type NumberPages } from './number-pages.ts'
import { rowList } from './row-list.ts'
import { requestId } from './request-id.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { rowColumns, type RowColumn } from './row-columns.ts'
import { rowFrom } from './row-text.ts'

/**
 * Rows in columns: a number or a word of a row takes 4 or 8 bytes where it is another than its neighbour's, and its lists lie in a
 * file. Its rows are views that read a column when it is asked for, 32 bytes each: whatever takes rows takes them. (A view has no members of its own: spread `wholeRow(row)`, not
 * the row.) NaN and infinities are left out as `finiteRow` does it.
 */
export interface RowTable {
  readonly length: number
  push(row: RequestRow): void
  /** Further rows, from their columns; a column without cells is absent in all of them. */
  pushColumns(count: number, cellsOf: (name: keyof RequestRow) => ArrayLike<unknown> | undefined): void
  /** A list that was empty may be given once, in the order of the rows. */
  change(index: number, changed: Partial<RequestRow>): void
  at(index: number): RequestRow
  /** In the order in which they came. */
  rows(): Rows
}

/** A column's cells. */
interface Cells {
  get(index: number): unknown
  set(index: number, value: unknown): void
  passing?(index: number): ArrayLike<number> | null
}

/** The columns of lists of numbers. */
export type ListName = 'gaps_ms' | 'itl_per_token_ms' | 'event_tokens'

/** A view: the members of a row stand in the class that each table has of it. */
class TableRow {
  declare readonly columns: readonly Cells[]
  readonly index: number
  constructor(index: number) {
    this.index = index
  }
  toJSON(): RequestRow {
    return wholeRow(this as unknown as RequestRow)
  }
}

/** The views of a table's rows. Each is its place and nothing else, 32 bytes. */
function viewsOf(columns: readonly Cells[]): (index: number) => RequestRow {
  class View extends TableRow {}
  Object.defineProperty(View.prototype, 'columns', { value: columns })
  for (const [at, { name }] of rowColumns.entries()) {
    const cells = columns[at] as Cells
    Object.defineProperty(View.prototype, name, {
      get(this: TableRow) {
        return cells.get(this.index)
      },
    })
  }
  return (index) => new View(index) as unknown as RequestRow
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

/** Numbers of all single values that are held, for each number that a column of lists may hold. */
const pagesShare = 4

export function rowTable(options: NumberListsOptions): RowTable {
  const pages = numberPages(
    options.held === undefined ? options : { ...options, held: pagesShare * options.held },
  )
  const columns = rowColumns.map((column) => cellsOf(column, options, pages))
  const viewOf = viewsOf(columns)
  let length = 0
  return {
    get length() {
      return length
    },
    push(row) {
      for (const [at, { name }] of rowColumns.entries()) columns[at]?.set(length, row[name])
      length++
    },
    pushColumns(count, cellsOf) {
      for (const [at, { name }] of rowColumns.entries()) {
        const cells = cellsOf(name)
        const column = columns[at] as Cells
        for (let index = 0; index < count; index++) column.set(length + index, cells?.[index])
      }
      length += count
    },
    change(index, changed) {
      for (const [at, { name }] of rowColumns.entries())
        if (name in changed) columns[at]?.set(index, changed[name])
    },
    at: viewOf,
    rows: () => rowList(viewOf, length),
  }
}

function cellsOf(column: RowColumn, options: NumberListsOptions, pages: NumberPages): Cells {
  switch (column.kind) {
    case 'number':
    case 'integer':
      return valueCells(column.nullable ? null : 0, pages)
    case 'numbers':
    case 'integers':
      return listCells(column.nullable ? null : [], options)
    case 'text':
      return column.name === 'id' ? idCells() : wordCells(column.optional ? undefined : null, pages)
    default:
      return wordCells(null, pages)
  }
}

/** Cells of 64-bit floats, or nothing. */
function valueCells(absent: number | null, pages: NumberPages): Cells {
  const cells = numberCells(Number.NaN, pages)
  return {
    get(index) {
      const value = cells.get(index)
      return Number.isNaN(value) ? absent : value
    },
    set(index, value) {
      cells.set(index, typeof value === 'number' && Number.isFinite(value) ? value : Number.NaN)
    },
  }
}

/** Cells of ids. One that only says where its row stands is made again. */
function idCells(): Cells {
  const pieces: (unknown[] | undefined)[] = []
  return {
    get: (index) => pieces[index >>> 16]?.[index & 0xffff] ?? requestId(index),
    set(index, value) {
      const numbered = value === requestId(index)
      let piece = pieces[index >>> 16]
      if (piece === undefined) {
        if (numbered) return
        piece = pieces[index >>> 16] = Array.from({ length: index & 0xffff }, () => undefined)
      }
      piece[index & 0xffff] = numbered ? undefined : value
    },
  }
}

/** Of so many different words each is kept once; in a column with more of them, each row keeps its own. */
const knownWords = 1 << 16

/** Cells whose values come again and again: words, yes and no, lists of words. */
function wordCells(absent: null | undefined, pages: NumberPages): Cells {
  const words: unknown[] = [absent]
  const known = new Map<unknown, number>([[absent, 0]])
  const cells = numberCells(0, pages)
  const placeOf = (value: unknown): number => {
    const key = Array.isArray(value) ? value.join('\n') : (value ?? absent)
    const place = known.get(key)
    if (place !== undefined) return place
    words.push(value)
    if (known.size < knownWords) known.set(key, words.length - 1)
    return words.length - 1
  }
  return {
    get: (index) => words[cells.get(index)],
    set: (index, value) => cells.set(index, placeOf(value)),
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
