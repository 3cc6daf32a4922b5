import type { RequestRow } from './request-row.ts'

/**
 * Rows, few or many: an array of them, or a list that makes each when it is asked for (`row-list.ts`), so that a run of millions of
 * requests needs no object for each. What takes rows takes this. Two looks at the same place may be two objects.
 */
export interface Rows extends Iterable<RequestRow> {
  readonly length: number
  at(index: number): RequestRow | undefined
  entries(): Iterable<[index: number, row: RequestRow]>
  slice(start: number, end?: number): Rows
  filter(keep: (row: RequestRow) => boolean): Rows
  map<T>(of: (row: RequestRow) => T): T[]
  flatMap<T>(of: (row: RequestRow) => T | readonly T[]): T[]
  reduce<T>(next: (sum: T, row: RequestRow, index: number) => T, first: T): T
  some(is: (row: RequestRow) => boolean): boolean
  every(is: (row: RequestRow) => boolean): boolean
  find(is: (row: RequestRow) => boolean): RequestRow | undefined
}
