import { rename, stat } from 'node:fs/promises'
import { PlimsollError } from '../../base/errors.ts'
import type { RunManifest } from './manifest.ts'
import { redact } from './redact.ts'
import type { Rows } from './rows.ts'
import { writeRequests } from './write-requests.ts'

/**
 * `--format parquet`: the rows as one Parquet file that stands alone, its manifest in the file's own metadata, written beside its place and
 * renamed. Made from the rows, so that it also works for a run that was killed and has only its journal.
 * @throws PlimsollError PLIM_FILE when there is a file that may not be written over, or none can be written.
 */
export async function exportParquet(
  file: string,
  manifest: RunManifest,
  rows: Rows,
  options: { readonly overwrite: boolean },
): Promise<void> {
  if (!options.overwrite && (await isThere(file))) {
    throw new PlimsollError('PLIM_FILE', `${file} is there already`, { hint: '--force writes over it' })
  }
  try {
    writeRequests(`${file}.tmp`, rows, JSON.stringify(redact(manifest)))
    await rename(`${file}.tmp`, file)
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', `${file} cannot be written`, {
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file },
      cause,
    })
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
