import { describe, expect, it } from 'vitest'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { runSwings } from './run-swings.ts'

const window = { startMs: 0, endMs: 1e9 }
const every = (ms: number, count: number, lastsMs: number): RequestRow[] =>
  Array.from({ length: count }, (_, i) =>
    streamedRow({ id: `r${i}`, plannedMs: i * ms, ttftMs: lastsMs / 2, gapsMs: [lastsMs / 2] }),
  )

describe('runSwings', () => {
  it('a steady rate swings with every request but those that fill the server', () => {
    // Ten in flight: two turnovers, 20 requests, are left out.
    expect(runSwings(every(10, 1000, 95), window)).toBeGreaterThan(970)
  })
  it('a load that rose once for good did not swing: few, however many requests there are', () => {
    const rows = [
      ...every(10, 1000, 50),
      ...every(10, 1000, 500).map((row) => ({ ...row, planned_ms: (row.planned_ms ?? 0) + 10_000 })),
    ]
    expect(runSwings(rows, window)).toBeLessThan(20)
  })
  it('requests outside the window are in flight too, and are not counted', () => {
    const rows = every(10, 1000, 95)
    expect(runSwings(rows, { startMs: 5000, endMs: 1e9 })).toBeLessThanOrEqual(500)
  })
  it.each([
    ['no requests', []],
    ['none that was sent', [{ ...unsentRow, planned_ms: 5 }]],
    ['starts that are not known stand at one moment', every(0, 50, 90)],
    ['ends that are not known', every(10, 50, 90).map((row) => ({ ...row, done_ms: null, e2e_ms: null }))],
  ])('%s: null', (_, rows) => expect(runSwings(rows, window)).toBeNull())
})
