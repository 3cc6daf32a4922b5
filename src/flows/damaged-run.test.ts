import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { plainManifest } from '../../test/fixtures/manifest.ts'
import { countOutcomes } from '../measure/metrics/run-window.ts'
import type { RunSummary } from '../measure/metrics/run-summary.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { readRun } from '../measure/record/read-run.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { runHeadline } from '../report/render-run.ts'
import { shownRun } from './show.ts'

// Run folders of which a file was deleted, emptied or cut.

const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-damaged-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const rows = Array.from({ length: 200 }, (_, i) =>
  streamedRow({ id: `r${i}`, plannedMs: 10 * i, ttftMs: 30, gapsMs: [1, 2] }),
)
const counts = countOutcomes(rows)
const manifest = plainManifest({
  planned: rows.length,
  summary: { counts, window_counts: counts, metrics: {} } as unknown as RunSummary,
})

async function folder(): Promise<string> {
  const path = mkdtempSync(join(scratch, 'run '))
  await writeRun(path, manifest, rows)
  return path
}

test('whose rows were deleted is not said to have sent nothing', async () => {
  const path = await folder()
  rmSync(join(path, 'requests.parquet'))
  const document = shownRun(await readRun(path))
  expect(runHeadline(document)).toBe('no request is on record')
  expect(document.verdict.status).toBe('INVALID')
  expect(document.verdict.reasons[0]).toMatchObject({ rule: 'rows_lost', value: 1 })
  expect(document.verdict.reasons.map(({ message }) => message).join()).not.toMatch(/was sent|succeeded/)
  expect(document.counts).toMatchObject({ planned: 200, lost: 200 })
})

test.each([
  [199, 'DEGRADED'],
  [198, 'INVALID'],
])('with %d of 200 rows is %s', async (left, status) => {
  const path = mkdtempSync(join(scratch, 'run '))
  await writeRun(path, manifest, rows.slice(0, left))
  const { verdict } = shownRun(await readRun(path))
  expect(verdict.reasons.find(({ rule }) => rule === 'rows_lost')?.status).toBe(status)
})

describe('a file that was', () => {
  test.each([
    ['emptied', 'requests.parquet', 0, 'this Parquet file is empty', '0 bytes', /summary in run\.json/],
    [
      'cut',
      'requests.parquet',
      900,
      'this Parquet file is cut',
      /^900 bytes that begin/,
      /summary in run\.json/,
    ],
    ['emptied', 'run.json', 0, 'the manifest is empty', '0 bytes', /show '.*\/requests\.parquet'$/],
    [
      'cut',
      'run.json',
      100,
      'the manifest is cut',
      /ends at byte 100, in the middle: …/,
      /show '.*\/requests/,
    ],
  ])('%s: %s at byte %d', async (_, name, bytes, message, received, hint) => {
    const path = await folder()
    truncateSync(join(path, name), bytes)
    const file = join(path, name)
    await expect(readRun(path)).rejects.toMatchObject({
      code: 'PLIM_RUN_FOLDER',
      message,
      where: { file },
      received: expect.stringMatching(received) as string,
      hint: expect.stringMatching(hint) as string,
    })
  })

  test('cut at any byte is told as such', async () => {
    const path = await folder()
    for (const [name, told] of [
      ['requests.parquet', /^this Parquet file is (empty|cut)$/],
      ['run.json', /^the manifest is (empty|cut)$/],
    ] as const) {
      const whole = readFileSync(join(path, name))
      // Without its last line feed a manifest is whole.
      const most = whole.length - (name === 'run.json' ? 2 : 1)
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: most }), async (bytes) => {
          writeFileSync(join(path, name), whole.subarray(0, bytes))
          await expect(readRun(path)).rejects.toMatchObject({
            code: 'PLIM_RUN_FOLDER',
            message: expect.stringMatching(told) as string,
          })
        }),
      )
      writeFileSync(join(path, name), whole)
    }
  })

  test('emptied beside whole rows leaves them readable by the path that the hint names', async () => {
    const path = await folder()
    truncateSync(join(path, 'run.json'), 0)
    expect((await readRun(join(path, 'requests.parquet'))).rows.length).toBe(200)
  })
})

describe('rows that are not those that were written', () => {
  const altered = (path: string) =>
    readRun(path).then((run) => ({
      altered: run.rowsAltered,
      rules: shownRun(run)
        .verdict.reasons.map(({ rule }) => rule)
        .filter((rule) => rule === 'rows_altered'),
    }))

  test('a folder as it was written says nothing', async () => {
    expect(await altered(await folder())).toEqual({ altered: false, rules: [] })
  })

  test.each([['requests.parquet'], ['']])(
    'a byte that was changed is told, read by the path %j',
    async (file) => {
      const path = await folder()
      const rowsFile = join(path, 'requests.parquet')
      const bytes = readFileSync(rowsFile)
      // Inside a time of one of the rows: all of it reads well.
      const at = bytes.indexOf(Buffer.from(new Float64Array([30]).buffer))
      expect(at).toBeGreaterThan(0)
      bytes.writeDoubleLE(3000, at)
      writeFileSync(rowsFile, bytes)
      expect(await altered(join(path, file))).toEqual({ altered: true, rules: ['rows_altered'] })
      const { verdict } = shownRun(await readRun(path))
      expect(verdict.reasons.find(({ rule }) => rule === 'rows_altered')).toMatchObject({
        status: 'DEGRADED',
      })
    },
  )

  test('a run of an older version, whose manifest has no sum, says nothing', async () => {
    const path = await folder()
    const file = join(path, 'run.json')
    const { requests_file: sum, ...older } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    expect(sum).toEqual({
      bytes: expect.any(Number) as number,
      crc32: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    })
    writeFileSync(file, JSON.stringify(older))
    writeFileSync(join(path, 'requests.parquet'), readFileSync(join(path, 'requests.parquet')))
    expect(await altered(path)).toEqual({ altered: false, rules: [] })
  })

  test('edited objectives are no damage', async () => {
    const path = await folder()
    const file = join(path, 'run.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"objective": null', '"objective": "ttft < 1s"'))
    expect((await altered(path)).altered).toBe(false)
  })
})
