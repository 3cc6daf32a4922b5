import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'

/**
 * Rows that are made when they are asked for. What is left of a list, or another order of it, is the places of its rows: 4 bytes
 * each.
 */
export function rowList(rowAt: (place: number) => RequestRow, length: number): Rows {
  return new RowList(rowAt, length, null)
}

class RowList implements Rows {
  readonly length: number
  readonly #rowAt: (place: number) => RequestRow
  /** Null: place and index are the same. */
  readonly #places: Uint32Array | null

  constructor(rowAt: (place: number) => RequestRow, length: number, places: Uint32Array | null) {
    this.length = length
    this.#rowAt = rowAt
    this.#places = places
  }

  #row(index: number): RequestRow {
    return this.#rowAt(this.#place(index))
  }

  #place(index: number): number {
    return this.#places === null ? index : (this.#places[index] as number)
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
    const length = Math.max(0, Math.min(end, this.length) - start)
    return this.#of(Uint32Array.from({ length }, (_, index) => this.#place(start + index)))
  }

  filter(keep: (row: RequestRow) => boolean): Rows {
    const places = new Uint32Array(this.length)
    let kept = 0
    for (let index = 0; index < this.length; index++)
      if (keep(this.#row(index))) places[kept++] = this.#place(index)
    return kept === this.length ? this : this.#of(places.slice(0, kept))
  }

  #of(places: Uint32Array): Rows {
    return new RowList(this.#rowAt, places.length, places)
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
