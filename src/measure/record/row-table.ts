import { numberLists, type NumberLists, type NumberListsOptions } from './number-lists.ts'
import { isFiniteList } from './finite-list.ts'
import { numberCells, type NumberCells } from './number-cells.ts'
import { numberPages, type NumberPages } from './number-pages.ts'
import { rowList, type RowSource } from './row-list.ts'
import { requestId } from './request-id.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { rowColumns, type RowColumn } from './row-columns.ts'
import { rowFrom } from './row-text.ts'

/**
 * Rows in columns: a number or a word of a row takes 8 bytes where it is another than its neighbour's, and where they are many most of
 * them lie in a file, as its lists do. Its rows are views that read a column when it is asked for, made anew each time: whatever takes
 * rows takes them. (A view has no members of its own: spread `wholeRow(row)`, not the row.) NaN and infinities are left out as
 * `finiteRow` does it.
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
  /** The cells of these places, in their order, to be read. */
  moved(places: Uint32Array): Cells
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
    rows: () => rowList(sourceOf(columns, pages), length),
  }
}

/** Rows in another order than their file's would be read from all over it: their columns are put in that order, one at a time. */
function sourceOf(columns: readonly Cells[], pages: NumberPages): RowSource {
  return {
    rowAt: viewsOf(columns),
    moved: (places) =>
      pages.areFiled
        ? sourceOf(
            columns.map((cells) => cells.moved(places)),
            pages,
          )
        : null,
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
function valueCells(
  absent: number | null,
  pages: NumberPages,
  cells: NumberCells = numberCells(Number.NaN, pages),
): Cells {
  return {
    get(index) {
      const value = cells.get(index)
      return Number.isNaN(value) ? absent : value
    },
    set(index, value) {
      cells.set(index, typeof value === 'number' && Number.isFinite(value) ? value : Number.NaN)
    },
    moved: (places) => valueCells(absent, pages, movedNumbers(cells, places, numberCells(Number.NaN, pages))),
  }
}

/** Read in their own order, and written in the other. */
function movedNumbers(from: NumberCells, places: Uint32Array, to: NumberCells): NumberCells {
  const last = places.reduce((most, place) => Math.max(most, place), -1)
  const values = new Float64Array(last + 1)
  for (let place = 0; place <= last; place++) values[place] = from.get(place)
  for (const [index, place] of places.entries()) to.set(index, values[place] as number)
  return to
}

/** Cells that stay where they are. */
function placed(cells: Cells, places: Uint32Array): Cells {
  const placeOf = (index: number): number => places[index] as number
  return {
    get: (index) => cells.get(placeOf(index)),
    set: (index, value) => cells.set(placeOf(index), value),
    passing: (index) => cells.passing?.(placeOf(index)) ?? null,
    moved: (others) => placed(cells, others.map(placeOf)),
  }
}

/** Cells of ids. One that only says where its row stands is made again. */
function idCells(): Cells {
  const pieces: (unknown[] | undefined)[] = []
  const cells: Cells = {
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
    moved: (places) => placed(cells, places),
  }
  return cells
}

/** Of so many different words each is kept once; in a column with more of them, each row keeps its own. */
const knownWords = 1 << 16

/** Words, each with its number. */
interface Words {
  readonly all: unknown[]
  readonly known: Map<unknown, number>
}

/** Cells whose values come again and again: words, yes and no, lists of words. */
function wordCells(absent: null | undefined, pages: NumberPages): Cells {
  return cellsOfWords({ all: [absent], known: new Map([[absent, 0]]) }, pages, numberCells(0, pages))
}

function cellsOfWords(words: Words, pages: NumberPages, cells: NumberCells): Cells {
  const { all, known } = words
  const numberOf = (value: unknown): number => {
    const key = Array.isArray(value) ? value.join('\n') : (value ?? all[0])
    const number = known.get(key)
    if (number !== undefined) return number
    all.push(value)
    if (known.size < knownWords) known.set(key, all.length - 1)
    return all.length - 1
  }
  return {
    get: (index) => all[cells.get(index)],
    set: (index, value) => cells.set(index, numberOf(value)),
    moved: (places) => cellsOfWords(words, pages, movedNumbers(cells, places, numberCells(0, pages))),
  }
}

/** Cells of lists, a file for each column that has any. */
function listCells(absent: readonly number[] | null, options: NumberListsOptions): Cells {
  let lists: NumberLists | null = null
  const cells: Cells = {
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
    moved: (places) => placed(cells, places),
  }
  return cells
}

function isList(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || ArrayBuffer.isView(value)
}
