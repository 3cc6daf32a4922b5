import { appendFile, readFile, rm, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemError } from '../../base/system-errors.ts'
import { readServerFile, serverFile } from './server-file.ts'
import { type ServerSample, unknownSample } from './server-samples.ts'

/** What the server's metrics said over time while the file still grows, a line a sample; a finished run has `server.parquet`. */
const serverSamplesFile = 'server.ndjson'

/**
 * Adds samples to a folder's file: all of them, or none.
 * @throws PlimsollError PLIM_RUN_FOLDER for a disk that is full or may not be written.
 */
export async function appendServerSamples(folder: string, samples: readonly ServerSample[]): Promise<void> {
  if (samples.length === 0) return
  const file = join(folder, serverSamplesFile)
  const size = await sizeOf(file)
  try {
    await appendFile(file, samples.map((sample) => `${JSON.stringify(sample)}\n`).join(''))
  } catch (cause) {
    // Behind a line that was cut the next one could not be read, should there be room for it.
    if (size !== null) await truncate(file, size).catch(() => undefined)
    throw systemError(cause, 'what the metrics said', 'PLIM_RUN_FOLDER', file) ?? cause
  }
}

/** Null: it cannot be told. */
async function sizeOf(file: string): Promise<number | null> {
  return await stat(file).then(
    ({ size }) => size,
    (cause: NodeJS.ErrnoException) => (cause.code === 'ENOENT' ? 0 : null),
  )
}

/** Removes the growing file, once `server.parquet` holds it all. */
export async function dropServerSamples(folder: string): Promise<void> {
  await rm(join(folder, serverSamplesFile), { force: true })
}

/**
 * The samples of a run, in their order: its `server.parquet`, else what was written while it ran; none where the folder has neither. A
 * last line that was cut is left out.
 */
export async function readServerSamples(path: string): Promise<readonly ServerSample[]> {
  const folder = /\.(json|parquet|ndjson)$/.test(path) ? dirname(path) : path
  const whole = join(folder, serverFile)
  const isThere = await stat(whole).then(
    () => true,
    () => false,
  )
  if (isThere) return readServerFile(whole)
  const text = await readFile(join(folder, serverSamplesFile), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [{ ...unknownSample, ...(JSON.parse(line) as Partial<ServerSample>) }]
    } catch {
      return []
    }
  })
}
