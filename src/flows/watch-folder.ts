import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import type { WatchDocument } from '../report/watch-document.ts'

/** The last look of a watch that was recorded: what `show` prints of it. */
const watchFile = 'watch.json'

export async function writeWatch(folder: string, document: WatchDocument): Promise<void> {
  await writeFile(join(folder, watchFile), `${JSON.stringify(document, null, 2)}\n`)
}

/**
 * The last look of a recorded watch; null where the path holds none.
 * @throws PlimsollError PLIM_RUN_FOLDER for one of another version.
 */
export async function readWatch(path: string): Promise<WatchDocument | null> {
  const file = path.endsWith(watchFile) ? path : join(path, watchFile)
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const value: unknown = JSON.parse(text)
  const schema = (value as { schema?: unknown } | null)?.schema
  if (schema !== 'plimsoll.watch/1') {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'this is not a watch that this version can read', {
      expected: 'schema plimsoll.watch/1',
      received: String(schema),
      where: { file },
    })
  }
  return value as WatchDocument
}
