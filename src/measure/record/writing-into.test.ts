import { appendFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { plainManifest } from '../../../test/fixtures/manifest.ts'
import { createJournal, openJournal, type Journal } from './journal.ts'
import { keptRows } from './kept-rows.ts'
import { readRun } from './read-run.ts'
import { wholeRow } from './row-table.ts'
import { finishRunFolder, runFiles, writeRun } from './run-folder.ts'
import { writeServerFile } from './server-file.ts'
import { unknownSample } from './server-samples.ts'
import { streamedRow } from './made-rows.ts'

const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-full-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const manifest = plainManifest()
const rows = [streamedRow({ id: 'a', plannedMs: 0, ttftMs: 1, gapsMs: [1] })]

/** A folder in which this file is on a disk without room. */
function fullAt(name: string): string {
  const folder = mkdtempSync(join(scratch, 'run-'))
  symlinkSync('/dev/full', join(folder, name))
  return folder
}

test.each<[string, string, (folder: string) => Promise<unknown>]>([
  ['the requests', 'requests.parquet.tmp', (folder) => writeRun(folder, manifest, rows)],
  ['the manifest', 'run.json.tmp', (folder) => writeRun(folder, manifest, rows)],
  ['the server’s metrics', 'server.parquet.tmp', (folder) => writeServerFile(folder, [unknownSample])],
])('a full disk is told as such where %s are written, and no half is left', async (_, name, write) => {
  const folder = fullAt(name)
  await expect(write(folder)).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    message: 'the run folder cannot be written',
    where: { file: folder },
    hint: expect.stringContaining('the disk is full') as string,
  })
  expect(existsSync(join(folder, name))).toBe(false)
})

const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) }

test('a journal that takes not even its first line is refused before anything is sent', async () => {
  await expect(openJournal('/dev/full', manifest, { timers })).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    message: 'the journal of the run cannot be written',
  })
})

/** The journal of a folder whose disk has room for so many characters. */
function journalWithRoom(folder: string, room: number): Journal {
  const path = join(folder, runFiles.journal)
  let left = room
  const file = {
    append(text: string): Promise<void> {
      appendFileSync(path, text.slice(0, left))
      if (text.length > left) return Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
      left -= text.length
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  return createJournal(file, manifest, { timers, flushAtLength: 1 })
}

describe('a journal that was cut by a full disk', () => {
  const many = Array.from({ length: 40 }, (_, i) =>
    streamedRow({ id: `r${i}`, plannedMs: i, ttftMs: 30 / 7, gapsMs: [1 / 3, i * 0.1, 0] }),
  )

  test('loses no row of the run under way, however early it was cut and however few rows are held', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 30_000 }),
        fc.integer({ min: 1, max: 3000 }),
        async (more, limit) => {
          const folder = mkdtempSync(join(scratch, 'run-'))
          const header = JSON.stringify({ journal: 'plimsoll.journal/1', manifest }).length + 1
          const journal = journalWithRoom(folder, header + more)
          const kept = keptRows(join(folder, runFiles.journal), journal, limit)
          for (const row of many) {
            kept.append(row)
            await Promise.resolve()
          }
          expect((await kept.all()).map(wholeRow)).toEqual(many)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('does no harm where the rest can be written', async () => {
    const folder = mkdtempSync(join(scratch, 'run-'))
    const journal = journalWithRoom(folder, 5000)
    journal.append(many)
    await finishRunFolder({ path: folder, journal }, { ...manifest, planned: 40 }, many)
    const read = await readRun(folder)
    expect(read.complete).toBe(true)
    expect(read.rows.map(wholeRow)).toEqual(many)
  })

  test.each<[string, number, boolean]>([
    ['all rows, where the journal is whole', 1_000_000, true],
    ['what is there and what is missing, where it is not', 5000, false],
  ])('leaves a folder that tells %s', async (_, room, complete) => {
    const folder = fullAt('requests.parquet.tmp')
    const journal = journalWithRoom(folder, room)
    journal.append(many)
    const finished = finishRunFolder(
      { path: folder, journal },
      { ...manifest, planned: 40, seed: 'last' },
      many,
    )
    await expect(finished).rejects.toMatchObject({ code: complete ? 'PLIM_RUN_FOLDER' : 'ENOSPC' })
    const read = await readRun(folder)
    // run.json was written: it knows more than the journal's header.
    expect(read.manifest.seed).toBe('last')
    expect(read.complete).toBe(complete)
    // By its path too the journal is that of a run that ended: what it lacks is lost.
    const alone = await readRun(join(folder, runFiles.journal))
    expect(alone).toEqual(read)
    expect(alone.rowsLost?.count ?? 0).toBe(40 - read.rows.length)
    if (complete) expect(read.rows.map(wholeRow)).toEqual(many)
    else {
      expect(read.rows.length).toBeGreaterThan(0)
      expect(read.missing.join('; ')).toBe(
        `its rows could not be written: these are the ${read.rows.length} of its journal; ${40 - read.rows.length} of 40 planned requests have no row; the last line of the journal was cut while it was written`,
      )
    }
  })

  test('is read by its path, whatever became of the manifest beside it', async () => {
    const folder = mkdtempSync(join(scratch, 'run-'))
    const journal = journalWithRoom(folder, 5000)
    journal.append(many)
    await journal.close().catch(() => undefined)
    writeFileSync(join(folder, runFiles.manifest), '{"schema":')
    expect((await readRun(join(folder, runFiles.journal))).rows.length).toBeGreaterThan(0)
  })

  test.each([
    ['no line', ''],
    ['half a line', '{"journal":"plimsoll.jo'],
  ])('with %s is said to hold nothing, and not that the run never began', async (received, text) => {
    const folder = mkdtempSync(join(scratch, 'run-'))
    writeFileSync(join(folder, runFiles.journal), text)
    await expect(readRun(folder)).rejects.toMatchObject({
      message: 'the journal holds nothing of the run',
      received,
      hint: expect.stringContaining('the disk was full') as string,
    })
  })
})

test('what is thrown for another reason stays what it is', async () => {
  const folder = mkdtempSync(join(scratch, 'run-'))
  writeFileSync(join(folder, 'x'), '')
  await expect(writeRun(folder, manifest, [null as never])).rejects.toBeInstanceOf(TypeError)
})
