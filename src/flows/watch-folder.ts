import type { WatchDocument } from '../report/watch-document.ts'
import { watchSchema } from './operate-schemas.ts'
import { readDocument, writeDocument } from './sweep-folder.ts'

/** The last look of a watch that was recorded: what `show` prints of it. */
const watchFile = 'watch.json'

export async function writeWatch(folder: string, document: WatchDocument): Promise<void> {
  await writeDocument(folder, watchFile, document)
}

/**
 * The last look of a recorded watch; null where the path holds none.
 * @throws PlimsollError PLIM_RUN_FOLDER for one of another version.
 */
export async function readWatch(path: string): Promise<WatchDocument | null> {
  return await readDocument<WatchDocument>(path, watchFile, 'plimsoll.watch/1', 'watch', watchSchema)
}
