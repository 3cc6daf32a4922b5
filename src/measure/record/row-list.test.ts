import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { streamedRow } from './made-rows.ts'
import type { RequestRow } from './request-row.ts'
import { rowList } from './row-list.ts'
import type { Rows } from './rows.ts'
import { sortRows } from './sort-rows.ts'

const rowOf = (turn: number, place: number): RequestRow =>
  streamedRow({ id: `r${place}`, plannedMs: place, ttftMs: 5, gapsMs: [] }, { turn })

/** A list's rows are made here, an array's are at hand. */
const all = (rows: Iterable<RequestRow>): RequestRow[] => [...rows]

/** What can be asked of rows, as ids or plain values. */
const questions: readonly (readonly [what: string, ask: (rows: Rows, n: number) => unknown])[] = [
  ['its length', (rows) => rows.length],
  ['each row', (rows) => all(rows)],
  ['a row by its place, also from the end', (rows, n) => [rows.at(n), rows.at(rows.length)]],
  ['entries', (rows) => [...rows.entries()]],
  ['a part', (rows, n) => [all(rows.slice(n)), all(rows.slice(n, n + 3)), all(rows.slice(1, n))]],
  ['those that are so', (rows, n) => all(rows.filter((row) => row.turn === n))],
  ['another order', (rows) => all(sortRows(rows, (row) => row.turn ?? 0))],
  [
    'another order, with a tie told apart',
    (rows, n) =>
      all(
        sortRows(
          rows,
          (row) => Math.min(n, row.turn ?? 0),
          (row) => row.id,
        ),
      ),
  ],
  [
    'a part of another order',
    (rows, n) =>
      all(
        sortRows(
          rows.filter((row) => row.turn !== n),
          (row) => -(row.turn ?? 0),
        ).slice(1),
      ),
  ],
  ['a value of each', (rows) => rows.map((row) => row.id)],
  ['several of each', (rows) => rows.flatMap((row) => (row.turn === 0 ? [] : [row.id, row.turn]))],
  ['a sum', (rows) => rows.reduce((sum, row, index) => sum + index * (row.turn ?? 0), 0)],
  ['whether any', (rows, n) => rows.some((row) => row.turn === n)],
  ['whether all', (rows, n) => rows.every((row) => row.turn !== n)],
  ['the first', (rows, n) => rows.find((row) => row.turn === n)],
]

test.each(questions)('a list of rows answers as an array of them: %s', (_, ask) => {
  fc.assert(
    fc.property(fc.array(fc.nat(5)), fc.integer({ min: -6, max: 6 }), (turns, n) => {
      const array = turns.map(rowOf)
      const list = rowList({ rowAt: (place) => rowOf(turns[place] as number, place) }, turns.length)
      expect(ask(list, n)).toEqual(ask(array, n))
    }),
    { numRuns: 50 },
  )
})

test('a sort is by the number, then by the text, then by the order that was there', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5)), (turns) => {
      const rows = turns.map((turn, at) => ({ ...rowOf(turn, at), id: `r${(at * 7) % 5}` }))
      const by = (row: RequestRow): number => row.turn ?? 0
      const byId = (a: RequestRow, b: RequestRow): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
      expect(all(sortRows(rows, by))).toEqual(rows.toSorted((a, b) => by(a) - by(b)))
      expect(all(sortRows(rows, by, (row) => row.id))).toEqual(
        rows.toSorted((a, b) => by(a) - by(b) || byId(a, b)),
      )
    }),
  )
})
