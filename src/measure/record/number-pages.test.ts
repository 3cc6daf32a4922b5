import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sfc32 } from '../../base/random.ts'
import { numberCells, type NumberCells } from './number-cells.ts'
import { numberPages } from './number-pages.ts'

/** Places of a column: more than a hundred pages of 8,192. */
const places = 900_000

test.each([
  { why: 'all are held', folder: false },
  { why: 'few pages are held, the others lie in a file', folder: true },
])(
  'numbers come back as they were last set, in whatever order they are asked for: $why',
  async ({ folder }) => {
    const place = await mkdtemp(join(tmpdir(), 'plimsoll-pages-'))
    const pages = numberPages({ folder: folder ? place : null, held: 1 })
    const random = sfc32(1, 2, 3)
    const columns = Array.from({ length: 3 }, (): { cells: NumberCells; known: Float64Array } => ({
      cells: numberCells(Number.NaN, pages),
      known: new Float64Array(places),
    }))
    const set = (column: (typeof columns)[number], at: number, value: number): void => {
      column.known[at] = value
      column.cells.set(at, value)
    }
    // The columns of a table are filled together; long runs of one value are kept as one.
    for (let at = 0; at < places; at++)
      for (const [which, column] of columns.entries())
        set(column, at, which === 1 && at % 100_000 < 50_000 ? 7 : random.next())
    for (const column of columns)
      for (let change = 0; change < 3000; change++)
        set(column, Math.floor(random.next() * places), change % 5 === 0 ? Number.NaN : change)
    for (const { cells, known } of columns) {
      let wrong = 0
      for (let at = 0; at < places; at++) if (!Object.is(cells.get(at), known[at])) wrong++
      for (let look = 0; look < 3000; look++) {
        const at = Math.floor(random.next() * places)
        if (!Object.is(cells.get(at), known[at])) wrong++
      }
      expect(wrong).toBe(0)
      expect(cells.get(places + 100_000)).toBeNaN()
    }
    // The file has no name from the moment it is open.
    expect(await readdir(place)).toEqual([])
    await rm(place, { recursive: true })
  },
)
