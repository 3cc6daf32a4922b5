import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'

/**
 * Starts a thread whose young generation begins with `semiSpaceMib`, where V8 begins with 1 MiB and grows to 16. A thread that
 * stamps arrivals must not collect garbage while bytes wait: each scavenge copies what the streams under way hold, for
 * milliseconds, and with 1 MiB that comes several times a second. `bench/streams.mjs` shows what it does to the stamps.
 *
 * V8 takes the first size of a heap from a flag of the process only (`Heap::ConfigureHeap`), so it is set until the thread is up.
 */
export function startRoomyThread(path: string | URL, workerData: unknown, semiSpaceMib: number): Worker {
  setFlagsFromString(`--min-semi-space-size=${semiSpaceMib}`)
  // V8 counts three semi-spaces to a young generation.
  const thread = new Worker(path, {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 3 * semiSpaceMib },
  })
  const restore = (): void => setFlagsFromString('--min-semi-space-size=0')
  thread.once('online', restore).once('error', restore)
  return thread
}
