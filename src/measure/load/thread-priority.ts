/** How far the caller's thread is put before the threads that only count, print and collect garbage. */
const niceSteps = 10
/** Linux knows none before it. */
const foremostNiceness = -20

/**
 * Puts the calling thread a little before the others, so that bytes that arrive are stamped when they arrive and a send that is
 * due leaves. Among equals a thread that wakes waits for the turn of whatever runs, for milliseconds on few cores. Linux gives
 * each thread a priority of its own and lets only the privileged raise it; elsewhere nothing happens and the run says its error
 * as ever. `bench/truth.mjs` shows what it does to the stamps. It counts from the priority that the process was started with, so
 * that `nice -n 5 plimsoll run` stays behind what it was told to stay behind.
 *
 * @returns Whether the thread now stands before the others.
 */
export function standBeforeOthers(
  readLink: (path: string) => string,
  getPriority: (thread: number) => number,
  setPriority: (thread: number, niceness: number) => void,
): boolean {
  try {
    // Of the form 1234/task/1250.
    const thread = Number(readLink('/proc/thread-self').split('/').at(-1))
    // 0 is the calling process as a whole.
    if (!Number.isInteger(thread) || thread <= 0) return false
    const started = getPriority(thread)
    const niceness = Math.max(started - niceSteps, foremostNiceness)
    if (niceness >= started) return false
    setPriority(thread, niceness)
    return true
  } catch {
    return false
  }
}
