import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createJournal, type JournalFile } from './journal.ts'
import { streamedRow, unsentRow } from './made-rows.ts'
import { manifestFromJson, startManifest, type ManifestStart } from './manifest.ts'
import { readJournal } from './read-journal.ts'
import { readRun } from './read-run.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'
import { createRunFolder, finishRunFolder, runFolderName } from './run-folder.ts'

let parent = ''
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'plimsoll-runs-'))
})
afterAll(() => rm(parent, { recursive: true, force: true }))

const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) }
const start: ManifestStart = {
  name: 'a test',
  versions: { plimsoll: '0.1.0', node: 'v20' },
  config: { target: { url: 'http://me:secret@h', headers: { Authorization: 'Bearer abcdef' } } },
  seed: '1',
  salt: 'x',
  pacer: { kind: 'constant', ratePerSecond: 5 },
  workload: { kind: 'random' },
  target: { url: 'http://h/v1?api_key=abc', api: 'chat', model: 'm' },
  clock: { origin_monotonic_ns: 123_456_789_012_345, started_at: '2026-11-29T14:36:00.000Z' },
  planned: 3,
}
const startedAt = new Date(2026, 10, 29, 14, 36)
const rows: RequestRow[] = [
  streamedRow({ id: 'b', plannedMs: 200, ttftMs: 30, gapsMs: [10, 11] }),
  streamedRow({ id: 'a', plannedMs: 100, ttftMs: 30, gapsMs: [] }),
  { ...unsentRow, id: 'c', planned_ms: 300, error_message: 'your key sk-hidden-one is wrong: TOPSECRET' },
]
const byTime = (given: Rows): string[] => given.map(({ id }) => id)

describe('a run folder', () => {
  test('is finished as run.json and requests.parquet, without its journal, and reads back in order of intent', async () => {
    const folder = await createRunFolder(start, { parent, startedAt, timers, secrets: ['TOPSECRET'] })
    expect(folder.path).toBe(join(parent, '1129-1436-a-test'))
    folder.journal.append(rows)
    await finishRunFolder(folder, startManifest(start), rows, ['TOPSECRET'])
    expect((await readdir(folder.path)).sort()).toEqual(['requests.parquet', 'run.json'])
    const all = await Promise.all([
      readRun(folder.path),
      readRun(join(folder.path, 'run.json')),
      readRun(join(folder.path, 'requests.parquet')),
    ])
    for (const run of all) {
      expect(byTime(run.rows)).toEqual(['a', 'b', 'c'])
      expect(run).toMatchObject({ complete: true, planned: 3, missing: [], path: folder.path })
      // The copy inside the file cannot hold the file's own sum.
      const sum = all[0]?.manifest.requests_file
      expect(sum?.bytes).toBeGreaterThan(0)
      expect({ ...run.manifest, requests_file: sum }).toEqual(all[0]?.manifest)
      expect(run.manifest.target?.url).toBe('http://h/v1?api_key=[redacted]')
      expect(run.manifest.clock.origin_monotonic_ns).toBe(123_456_789_012_345)
    }
    for (const name of ['run.json', 'requests.parquet']) {
      expect(await readFile(join(folder.path, name), 'latin1')).not.toMatch(/abcdef|TOPSECRET|me:secret/)
    }
  })

  test('whose name is taken gets a number; two made at once never share one', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, () =>
        createRunFolder({ ...start, name: 'same' }, { parent, startedAt, timers }),
      ),
    )
    await Promise.all(made.map((folder) => folder.journal.close()))
    expect(new Set(made.map(({ path }) => path)).size).toBe(5)
  })

  test('whose rows are fewer than its plan says so', async () => {
    const folder = await createRunFolder(start, { parent, startedAt, timers })
    await finishRunFolder(folder, startManifest(start), rows.slice(0, 2))
    expect(await readRun(folder.path)).toMatchObject({
      complete: false,
      missing: ['2 rows for 3 planned requests'],
    })
  })

  test('of a killed run is read from its journal, also with a torn last line', async () => {
    const folder = await createRunFolder(start, { parent, startedAt, timers, secrets: ['TOPSECRET'] })
    folder.journal.append(rows)
    await folder.journal.flush()
    const file = join(folder.path, 'journal.ndjson')
    expect(await readFile(file, 'utf8')).not.toMatch(/abcdef|TOPSECRET|me:secret/)
    await appendFile(file, '{"id":"d","plan')
    for (const path of [folder.path, file]) {
      const run = await readRun(path)
      expect(byTime(run.rows)).toEqual(['a', 'b', 'c'])
      expect(run.complete).toBe(false)
      expect(run.missing.join('; ')).toMatch(
        /was killed, or its files could not be written.*0 of 3.*cut while it was written/,
      )
      expect(run.manifest).toMatchObject({ planned: 3, name: 'a test' })
    }
    await folder.journal.close()
  })

  test('a header that comes later in the journal replaces the first', async () => {
    const folder = await createRunFolder(start, { parent, startedAt, timers })
    folder.journal.append(rows.slice(0, 1))
    folder.journal.update(startManifest({ ...start, server: { engine: 'vllm' } }))
    await folder.journal.close()
    expect((await readRun(folder.path)).manifest.server).toEqual({ engine: 'vllm' })
  })

  test('of a killed run has a window that ends with the last that was seen', async () => {
    const window = {
      warmup_s: 0,
      measure_s: 60,
      drain_s: 1,
      start_ms: 0,
      end_ms: 60_000,
      how: 'given' as const,
    }
    const folder = await createRunFolder(start, { parent, startedAt, timers })
    folder.journal.update(startManifest({ ...start, window }))
    folder.journal.append(rows)
    await folder.journal.close()
    const seen = (await readRun(folder.path)).manifest.window!
    expect(seen.start_ms).toBe(0)
    expect(seen.end_ms).toBeGreaterThan(Math.max(...rows.map((row) => row.planned_ms ?? 0)))
    expect(seen.end_ms).toBeLessThan(60_000)
    expect(seen.measure_s).toBe(seen.end_ms / 1000)
  })

  test('killed between its parquet and its manifest is still read from the journal', async () => {
    const folder = await createRunFolder(start, { parent, startedAt, timers })
    folder.journal.append(rows)
    await folder.journal.close()
    await writeFile(join(folder.path, 'requests.parquet'), 'PAR1 but cut')
    expect((await readRun(folder.path)).rows.length).toBe(3)
  })
})

describe('what is no run says what it is instead', () => {
  test.each([
    ['nothing there', 'absent', /no run here/],
    ['an empty folder', 'empty', /holds no run/],
    ['a sweep', 'sweep', /a sweep, not a run/],
    ['a manifest of a newer form', 'newer', /plimsoll\.run\/2/],
    ['a manifest that is cut', 'broken', /manifest is cut/],
    ['a manifest that is not JSON', 'prose', /not JSON/],
    ['a manifest that is empty', 'hollow', /manifest is empty/],
    ['an empty journal', 'blank', /holds nothing of the run/],
    ['a journal of rows alone', 'headless', /header line/],
    ['a parquet file that is cut', 'cut', /Parquet file is cut/],
    ['a parquet file that is empty', 'zero', /Parquet file is empty/],
    ['a parquet file with a hole', 'hole', /Parquet file is damaged/],
    ['a parquet file that is none', 'text', /cannot be read as Parquet/],
    ['a file of another kind', 'other/x.csv', /not part of a run folder/],
  ])('%s', async (_, path, message) => {
    const files: Record<string, string> = {
      'sweep/sweep.json': '{}',
      'newer/run.json': '{"schema":"plimsoll.run/2"}',
      'newer/requests.parquet': 'x',
      'broken/run.json': '{"schema":',
      'broken/requests.parquet': 'x',
      'prose/run.json': 'hello',
      'prose/requests.parquet': 'x',
      'hollow/run.json': '',
      'hollow/requests.parquet': 'x',
      'zero/requests.parquet': '',
      'hole/requests.parquet': 'PAR1xxxxxxxxPAR1',
      'text/requests.parquet': 'id,outcome',
      'blank/journal.ndjson': '',
      'headless/journal.ndjson': '{"id":"a","outcome":"ok"}\n',
      'cut/requests.parquet': 'PAR1xxxxxxxxxxxx',
      'other/x.csv': '1',
    }
    await mkdir(join(parent, 'empty'), { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(parent, name, '..'), { recursive: true })
      await writeFile(join(parent, name), text)
    }
    await expect(readRun(join(parent, path))).rejects.toThrow(message)
  })

  test('a manifest of an older version gets null for what it lacks', () => {
    const read = manifestFromJson(
      { schema: 'plimsoll.run/1', clock: { origin_monotonic_ns: 5, started_at: '' }, name: 'x' },
      'run.json',
    )
    expect(read).toMatchObject({ name: 'x', summary: null, warnings: [], pacer: null })
  })
})

test.each([
  ['a plain name', 'base line', '1129-1436-base-line'],
  ['nothing usable', '///', '1129-1436-run'],
  ['a way out of the folder', '../../etc', '1129-1436-etc'],
  ['letters with accents', 'Übung läuft', '1129-1436-Ubung-lauft'],
])('the folder of %s', (_, name, wanted) => expect(runFolderName(startedAt, name)).toBe(wanted))

describe('the journal', () => {
  interface FakeTimers {
    readonly pending: Map<number, { callback: () => void; ms: number }>
    setTimeout(callback: () => void, ms: number): number
    clearTimeout(timer: unknown): void
  }
  function fakeTimers(): FakeTimers {
    const pending = new Map<number, { callback: () => void; ms: number }>()
    let next = 1
    return {
      pending,
      setTimeout(callback, ms) {
        pending.set(next, { callback, ms })
        return next++
      },
      clearTimeout: (timer) => void pending.delete(timer as number),
    }
  }
  function fakeFile(): JournalFile & { text: string } {
    return {
      text: '',
      async append(text) {
        this.text += text
      },
      async close() {},
    }
  }

  test('writes its header at once, rows within a second, and sets no timer while nothing is pending', async () => {
    const file = fakeFile()
    const timers = fakeTimers()
    const journal = createJournal(file, startManifest(start), { timers })
    await journal.flush()
    expect(file.text.split('\n').length).toBe(2)
    expect(timers.pending.size).toBe(0)
    journal.append(rows)
    const [timer] = timers.pending.values()
    expect(timer?.ms).toBeLessThanOrEqual(1000)
    timer?.callback()
    await journal.flush()
    expect(file.text.split('\n').length).toBe(5)
  })

  test('tells of the write that failed, at flush and at close', async () => {
    const timers = fakeTimers()
    const full: JournalFile = { append: () => Promise.reject(new Error('disk full')), close: async () => {} }
    const journal = createJournal(full, startManifest(start), { timers })
    await expect(journal.flush()).rejects.toThrow('disk full')
    await expect(journal.close()).rejects.toThrow('disk full')
  })

  test('cut at any byte reads as the rows whose lines are whole, never as others', async () => {
    const file = fakeFile()
    const journal = createJournal(file, startManifest(start), { timers: fakeTimers() })
    journal.append(rows.map((row) => ({ ...row, error_message: 'é 🚢' })))
    await journal.close()
    const bytes = Buffer.from(file.text, 'utf8')
    const headerEnd = bytes.indexOf(10) + 1
    const path = join(parent, 'cut.ndjson')
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: headerEnd, max: bytes.length }), async (cut) => {
        await writeFile(path, bytes.subarray(0, cut))
        const read: RequestRow[] = []
        const content = await readJournal(path, (row) => read.push(row))
        const whole = bytes.subarray(headerEnd, cut).filter((byte) => byte === 10).length
        expect([whole, whole + 1]).toContain(read.length)
        expect(byTime(read)).toEqual(byTime(rows).slice(0, read.length))
        expect(content.unreadable).toBe(0)
        expect(content.torn).toBe(read.length === whole && cut > headerEnd && bytes[cut - 1] !== 10)
      }),
      { numRuns: 60 },
    )
  })

  test('counts lines that cannot be read and goes on', async () => {
    const path = join(parent, 'garbled.ndjson')
    const header = JSON.stringify({ journal: 'plimsoll.journal/1', manifest: startManifest(start) })
    await writeFile(path, `${header}\n\u0000\u0000garbage\n{"id":"a","outcome":"ok"}\n{"outcome":"ok"}\n`)
    const read: RequestRow[] = []
    const content = await readJournal(path, (row) => read.push(row))
    expect(content).toMatchObject({ rows: 1, unreadable: 2, firstUnreadableLine: 2, torn: false })
  })
})
