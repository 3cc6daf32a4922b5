/**
 * CPU time of the calling thread so far, ms. Linux tells it in nanoseconds (`/proc/thread-self/schedstat`, first word); elsewhere
 * the active time of the event loop stands in, which counts waiting for a core as work.
 */
export function threadCpuReader(
  readFile: (path: string) => string,
  eventLoopActiveMs: () => number,
): () => number {
  const path = '/proc/thread-self/schedstat'
  const read = (): number => Number(readFile(path).split(' ', 1)[0]) / 1e6
  try {
    let last = read()
    if (Number.isFinite(last)) {
      return () => {
        try {
          last = read()
        } catch {
          // Where connections use up the open files (EMFILE), a thread must not die of its own gauge: the next look tells all.
        }
        return last
      }
    }
  } catch {
    // No such file: not Linux, or a kernel without scheduler statistics.
  }
  return eventLoopActiveMs
}
