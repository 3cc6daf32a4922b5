import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import type { SweepDocument } from '../report/documents.ts'

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
