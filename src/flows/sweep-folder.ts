import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { SweepDocument, SweepPoint } from '../report/documents.ts'

/** The file that makes a folder of runs a sweep. */
export const sweepFile = 'sweep.json'

export async function isSweepFolder(path: string): Promise<boolean> {
  const file = path.endsWith(sweepFile) ? path : join(path, sweepFile)
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  )
}

/** @throws PlimsollError PLIM_RUN_FOLDER for a sweep.json that is none, or of another version. */
export async function readSweep(path: string): Promise<SweepDocument> {
  const file = path.endsWith(sweepFile) ? path : join(path, sweepFile)
  const value: unknown = JSON.parse(await readFile(file, 'utf8'))
  const schema = (value as { schema?: unknown } | null)?.schema
  if (schema !== 'plimsoll.sweep/1') {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'this is not a sweep that this version can read', {
      expected: 'schema plimsoll.sweep/1',
      received: String(schema),
      where: { file },
    })
  }
  return value as SweepDocument
}

/** What a sweep that was ended left to go on with. */
export interface ResumedSweep {
  readonly folder: string
  readonly points: readonly SweepPoint[]
  /** Rows of the measurement windows of its points. */
  readonly rows: readonly RequestRow[]
}

/** @throws PlimsollError PLIM_RUN_FOLDER when there is no sweep, or one of its points cannot be read. */
export async function resumedSweep(path: string): Promise<ResumedSweep> {
  const folder = path.endsWith(sweepFile) ? dirname(path) : path
  if (!(await isSweepFolder(folder))) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no sweep to go on with', {
      expected: `a folder with ${sweepFile}`,
      where: { file: folder },
    })
  }
  const { points } = await readSweep(folder)
  const rows: RequestRow[] = []
  for (const { run } of points) {
    if (run === null) continue
    const record = await readRun(join(folder, run))
    rows.push(...record.rows.filter((row) => row.phase === 'measure'))
  }
  return { folder, points, rows }
}
