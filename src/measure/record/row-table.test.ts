import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { finiteRow } from './finite-row.ts'
import { streamedRow, unsentRow } from './made-rows.ts'
import { rowStore } from './row-store.ts'
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
