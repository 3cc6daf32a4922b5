import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'

/** Where the rows of a list come from. */
export interface RowSource {
  rowAt(place: number): RequestRow
  /**
   * The rows of these places, in their order, from another source in which they lie one after the other. Null: they are found as
   * fast where they are.
   */
  moved?(places: Uint32Array): RowSource | null
}

/**
 * Rows that are made when they are asked for. What is left of a list, or another order of it, is the places of its rows: 4 bytes
 * each.
 */
export function rowList(source: RowSource, length: number): Rows {
  return new RowList(source, length, null)
}

/** The rows of these indices, in their order. */
export function pickRows(rows: Rows, indices: Uint32Array): Rows {
  if (rows instanceof RowList) return rows.pick(indices)
  return Array.from(indices, (index) => rows.at(index) as RequestRow)
}

class RowList implements Rows {
  readonly length: number
  readonly #source: RowSource
  /** Null: place and index are the same. */
  readonly #places: Uint32Array | null

  constructor(source: RowSource, length: number, places: Uint32Array | null) {
    this.length = length
    this.#source = source
    this.#places = places
  }

  #row(index: number): RequestRow {
    return this.#source.rowAt(this.#place(index))
  }

  #place(index: number): number {
    return this.#places === null ? index : (this.#places[index] as number)
  }

  pick(indices: Uint32Array): Rows {
    const places = indices.map((index) => this.#place(index))
    const moved = this.#source.moved?.(places) ?? null
    return moved === null ? this.#of(places) : rowList(moved, places.length)
  }

  at(index: number): RequestRow | undefined {
    const from = index < 0 ? this.length + index : index
    return from >= 0 && from < this.length ? this.#row(from) : undefined
  }

  *[Symbol.iterator](): Generator<RequestRow, undefined> {
    for (let index = 0; index < this.length; index++) yield this.#row(index)
  }

  *entries(): Generator<[number, RequestRow], undefined> {
    for (let index = 0; index < this.length; index++) yield [index, this.#row(index)]
  }

  slice(start: number, end = this.length): Rows {
    const from = this.#bound(start)
    const length = Math.max(0, this.#bound(end) - from)
    return this.#of(Uint32Array.from({ length }, (_, index) => this.#place(from + index)))
  }

  /** As arrays read the ends of a part: negative ones from the end. */
  #bound(index: number): number {
    return index < 0 ? Math.max(0, this.length + index) : Math.min(index, this.length)
  }

  filter(keep: (row: RequestRow) => boolean): Rows {
    const places = new Uint32Array(this.length)
    let kept = 0
    for (let index = 0; index < this.length; index++)
      if (keep(this.#row(index))) places[kept++] = this.#place(index)
    return kept === this.length ? this : this.#of(places.slice(0, kept))
  }

  #of(places: Uint32Array): Rows {
    return new RowList(this.#source, places.length, places)
  }

  map<T>(of: (row: RequestRow) => T): T[] {
    return Array.from(this, of)
  }

  flatMap<T>(of: (row: RequestRow) => T | readonly T[]): T[] {
    return this.map(of).flat() as T[]
  }

  reduce<T>(next: (sum: T, row: RequestRow, index: number) => T, first: T): T {
    let sum = first
    for (let index = 0; index < this.length; index++) sum = next(sum, this.#row(index), index)
    return sum
  }

  some(is: (row: RequestRow) => boolean): boolean {
    return this.find(is) !== undefined
  }

  every(is: (row: RequestRow) => boolean): boolean {
    return !this.some((row) => !is(row))
  }

  find(is: (row: RequestRow) => boolean): RequestRow | undefined {
    for (let index = 0; index < this.length; index++) {
      const row = this.#row(index)
      if (is(row)) return row
    }
    return undefined
  }
}
