import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openJournal } from './journal.ts'
import { startManifest } from './manifest.ts'
import { finishRunFolder, writeRun } from './run-folder.ts'
import { writeServerFile } from './server-file.ts'
import { unknownSample } from './server-samples.ts'
import { streamedRow } from './made-rows.ts'

const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-full-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const manifest = startManifest({
  name: 'x',
  versions: { plimsoll: '0', node: '0' },
  config: {},
  seed: '1',
  salt: null,
  pacer: null,
  workload: null,
  target: null,
  clock: { origin_monotonic_ns: 0, started_at: null },
})
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

test('a journal on a full disk ends the run with what is full', async () => {
  const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) }
  const journal = await openJournal('/dev/full', manifest, { timers })
  journal.append(rows)
  await expect(finishRunFolder({ path: scratch, journal }, manifest, rows)).rejects.toMatchObject({
    code: 'PLIM_RUN_FOLDER',
    message: 'the journal of the run cannot be written',
  })
})

test('what is thrown for another reason stays what it is', async () => {
  const folder = mkdtempSync(join(scratch, 'run-'))
  writeFileSync(join(folder, 'x'), '')
  await expect(writeRun(folder, manifest, [null as never])).rejects.toBeInstanceOf(TypeError)
})
