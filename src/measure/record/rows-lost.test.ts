import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainManifest } from '../../../test/fixtures/manifest.ts'
import type { RunSummary } from '../metrics/run-summary.ts'
import { countOutcomes } from '../metrics/run-window.ts'
import type { RunManifest } from './manifest.ts'
import { streamedRow } from './made-rows.ts'
import type { RequestRow } from './request-row.ts'
import { linesLost, rowsLost } from './rows-lost.ts'

const start = plainManifest()

function made(ok: number, unsent = 0): readonly RequestRow[] {
  return Array.from({ length: ok + unsent }, (_, i) =>
    streamedRow(
      { id: `r${i}`, plannedMs: i, ttftMs: 1, gapsMs: [1] },
      { outcome: i < unsent ? 'unsent' : 'ok' },
    ),
  )
}

/** A run that ended with these rows, as its manifest tells it. */
function ended(rows: readonly RequestRow[], change: Partial<RunManifest> = {}): RunManifest {
  const summary = { counts: countOutcomes(rows) } as RunSummary
  return { ...start, planned: rows.length, summary, ...change }
}

const interrupted = { kind: 'interrupted', why: 'Ctrl-C' } as const

describe('rows that a run has lost', () => {
  test.each<[string, RunManifest, readonly RequestRow[], number | null]>([
    ['none, of a whole run', ended(made(182)), made(182), null],
    ['those that were sent and are not here', ended(made(182)), made(17), 165],
    ['not those that were never sent', ended(made(60, 122)), made(60), null],
    ['of an interrupted run only what it sent', ended(made(60, 122), { stopped: interrupted }), made(17), 43],
    ['by the plan, where there is no summary', { ...start, planned: 182 }, made(17), 165],
    [
      'unknown where it was interrupted too',
      { ...start, planned: 182, stopped: interrupted },
      made(17),
      null,
    ],
    ['unknown of a plan without an end', start, made(17), null],
  ])('%s', (_, manifest, rows, count) => {
    expect(rowsLost(manifest, rows, 'start')?.count ?? null).toBe(count)
  })

  test.each<[string, number, number, number | null, number | null]>([
    ['none, of a journal that reads: what was under way is not lost', 40, 0, 48, null],
    ['its lines that cannot be read', 40, 3, null, 3],
    ['no more than were sent', 40, 3, 41, 1],
    ['none, where every sent request has its row', 40, 3, 40, null],
  ])('when it was killed: %s', (_, rows, unreadable, sent, count) => {
    expect(linesLost(made(rows), unreadable, sent)?.count ?? null).toBe(count)
  })

  test('are between none and all, and all of them where no row is left', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.nat(100), (ok, unsent, cut) => {
        const rows = made(ok, unsent)
        const lost = rowsLost(ended(rows), rows.slice(0, cut), 'start')
        expect(lost?.count ?? 0).toBe(Math.min(ok, Math.max(0, ok + unsent - cut)))
        if (lost !== null) expect(lost.left === 'none').toBe(lost.count === lost.of)
      }),
    )
  })
})
