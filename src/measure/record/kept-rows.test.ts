import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptRows } from './kept-rows.ts'
import { openJournal } from './journal.ts'
import { streamedRow } from './made-rows.ts'
import { wholeRow } from './row-table.ts'
import { startManifest } from './manifest.ts'

const manifest = startManifest({
  name: 'kept',
  versions: { plimsoll: '0.1.0', node: 'v20' },
  config: {},
  seed: '1',
  salt: 'x',
  pacer: null,
  workload: {},
  target: { url: 'http://h', api: 'chat', model: 'm' },
  clock: { origin_monotonic_ns: 1, started_at: '2026-11-29T14:36:00.000Z' },
  planned: 50,
})
const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) }

test.each([
  { why: 'few rows are held', limit: 1_000_000 },
  { why: 'rows beyond the bound come back from the journal, to the last digit', limit: 2_000 },
  { why: 'the bound may be met by the first row', limit: 1 },
])('$why', async ({ limit }) => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-kept-'))
  const path = join(folder, 'journal.ndjson')
  const journal = await openJournal(path, manifest, { timers })
  const rows = Array.from({ length: 50 }, (_, i) =>
    streamedRow({ id: `r${i}`, plannedMs: i / 3, ttftMs: 30 / 7, gapsMs: [1 / 3, i * 0.1, 0] }),
  )
  const kept = keptRows(path, journal, limit)
  for (const row of rows) kept.append(row)
  expect((await kept.all()).map(wholeRow)).toEqual(rows)
  await journal.close()
  await rm(folder, { recursive: true })
})
