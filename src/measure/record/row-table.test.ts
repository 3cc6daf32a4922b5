import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { finiteRow } from './finite-row.ts'
import { streamedRow, unsentRow } from './made-rows.ts'
import { rowStore } from './row-store.ts'
import { sortRows } from './sort-rows.ts'
import type { RequestRow } from './request-row.ts'
import { passingList, rowTable, wholeRow } from './row-table.ts'
import { rowFrom, rowToJson } from './row-text.ts'

function manyRows(): RequestRow[] {
  return Array.from({ length: 70_000 }, (_, at): RequestRow => {
    const row =
      at % 3 === 0
        ? { ...unsentRow, id: `u${at}`, error_code: 'window_ended' }
        : streamedRow(
            { id: `r${at}`, plannedMs: at / 3, ttftMs: 0, gapsMs: at % 5 === 0 ? [] : [1 / 3, at * 0.1, 0] },
            {
              flags: at % 2 === 0 ? ['imported'] : ['imported', 'coalesced'],
              ...(at % 7 === 0 ? { event_tokens: [1, 2, 0, 4] } : {}),
              ...(at % 11 === 0 ? { itl_per_token_ms: [] } : {}),
              prompt_id: `p${at}`,
            },
          )
    return at === 69_999 ? { ...row, text: 'kept' } : row
  })
}

test('rows come back from columns as they were, whatever is null, empty or absent in them', () => {
  const rows = manyRows()
  const table = rowTable({ folder: tmpdir(), held: 40_000 })
  for (const row of rows) table.push(row)
  const views = table.rows()
  expect(views.map(wholeRow)).toEqual(rows.map((row) => rowFrom((name) => row[name])))
  expect(views.map(rowToJson)).toEqual(rows.map(rowToJson))
  expect(JSON.stringify(views.at(1))).toBe(JSON.stringify(wholeRow(rows[1] as RequestRow)))
  expect(
    [...views].every((row, at) => finiteRow(row) === row && row.gaps_ms.length === rows[at]?.gaps_ms.length),
  ).toBe(true)
  expect(Array.from(passingList(views.at(1) as RequestRow, 'gaps_ms'))).toEqual(rows[1]?.gaps_ms)
})

test('what is not finite is as finiteRow has it', () => {
  const odd = {
    ...unsentRow,
    id: 'a',
    ttft_ms: Number.NaN,
    n_chunks: Number.POSITIVE_INFINITY,
    gaps_ms: [1, Number.NaN, 3],
  }
  const table = rowTable({ folder: null })
  table.push(odd)
  expect(table.rows().map(wholeRow)).toEqual([finiteRow(odd)])
})

test.each([
  { why: 'held', held: 1_000_000 },
  { why: 'in columns', held: 200 },
])('a row of a store is changed where it lies: $why', ({ held }) => {
  const store = rowStore({ folder: null, held })
  const rows = [1, 2, 3, 4].map((at) =>
    streamedRow({ id: `r${at}`, plannedMs: at, ttftMs: 5, gapsMs: [at, 2] }),
  )
  for (const row of rows) store.push(row)
  store.change(2, { planned_ms: -0.5, lag_ms: null, ttft_ms: 0 })
  expect(store.length).toBe(4)
  expect(store.rows().map(wholeRow)).toEqual(
    rows.map((row, at) => (at === 2 ? { ...row, planned_ms: -0.5, lag_ms: null, ttft_ms: 0 } : row)),
  )
})

test('rows in another order than they came, most of them in a file, are the same rows', () => {
  const rows = manyRows().map((row, at) => ({ ...row, id: `${at}`, planned_ms: (at * 7919) % 70_001 }))
  const table = rowTable({ folder: tmpdir(), held: 1000 })
  for (const row of rows) table.push(row)
  const by = (row: RequestRow): number => row.planned_ms ?? 0
  const sorted = sortRows(
    table.rows().filter((row) => row.id !== '5'),
    by,
  )
  const expected = rows.filter(({ id }) => id !== '5').toSorted((a, b) => by(a) - by(b))
  expect(sorted.map(rowToJson)).toEqual(expected.map(rowToJson))
  // Another order of it, and a part.
  const again = sortRows(sorted, (row) => -by(row)).slice(-3)
  expect(again.map(rowToJson)).toEqual(expected.slice(0, 3).toReversed().map(rowToJson))
  expect(Array.from(passingList(again.at(0) as RequestRow, 'gaps_ms'))).toEqual(expected[2]?.gaps_ms)
})
