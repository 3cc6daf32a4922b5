import { rm } from 'node:fs/promises'
import { systemError } from '../../base/system-errors.ts'

/**
 * Does what writes into a run folder. Where it fails, the `halves` (files written beside their place) are removed: they would take
 * the room that the journal may need.
 * @throws PlimsollError PLIM_RUN_FOLDER for a disk that is full or may not be written, else what was thrown.
 */
export async function writingInto<T>(
  path: string,
  halves: readonly string[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    for (const half of halves) await rm(half, { force: true }).catch(() => undefined)
    throw systemError(cause, 'the run folder', 'PLIM_RUN_FOLDER', path) ?? cause
  }
}
