const schedulerFile = '/proc/thread-self/schedstat'

/**
 * CPU time of the calling thread so far, ms; null where it cannot be read at this moment. Linux tells it in nanoseconds
 * (`/proc/thread-self/schedstat`, first word); elsewhere, and on kernels that count none (a sandbox's), the active time of the event
 * loop stands in, which counts waiting for a core as work.
 */
export function threadCpuReader(
  readFile: (path: string) => string,
  eventLoopActiveMs: () => number,
): () => number | null {
  function read(): number | null {
    try {
      const [word = ''] = readFile(schedulerFile).split(' ', 1)
      // A thread that asks has run: 0 is what is written where nothing is counted.
      return Number(word) > 0 ? Number(word) / 1e6 : null
    } catch {
      // No such file; or connections use up the open files (EMFILE), of which a thread must not die.
      return null
    }
  }
  return read() === null ? eventLoopActiveMs : read
}

/** The share of one core that a thread used between two readings; null where either is missing, or the first is not over. */
export function cpuShare(beganMs: number | null, nowMs: number | null, elapsedMs: number): number | null {
  if (beganMs === null || nowMs === null || elapsedMs <= 0) return null
  // A thread that sent something used the core: no time at all was not measured.
  return nowMs > beganMs ? (nowMs - beganMs) / elapsedMs : null
}
