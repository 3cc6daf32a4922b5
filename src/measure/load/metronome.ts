import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { entryPath } from '../../base/entry.ts'
import type { MetronomeData } from './metronome-thread.ts'

export interface Metronome {
  /** One for each worker: a message on it says that something is due. */
  readonly ports: readonly MessagePort[]
  start(startMs: number): void
  stop(): void
}

/**
 * The thread that wakes `workers` workers at `plannedMs`, request i belonging to worker i mod `workers`. Should it die, the
 * workers' own timers take over, a millisecond or two later each time.
 */
export async function startMetronome(
  plannedMs: Float64Array,
  workers: number,
  clockOriginNs: bigint,
): Promise<Metronome> {
  const channels = Array.from({ length: workers }, () => new MessageChannel())
  const over = new Int32Array(new SharedArrayBuffer(4))
  const theirs = channels.map(({ port1 }) => port1)
  const data: MetronomeData = {
    plannedMs,
    workerOf: Uint16Array.from(plannedMs, (_, i) => i % workers),
    ports: theirs,
    over,
    clockOriginNs,
  }
  const thread = new Worker(entryPath('./metronome-thread.ts', import.meta.url), {
    workerData: data,
    transferList: theirs,
  })
  await new Promise<void>((resolve) => {
    thread.once('message', () => resolve())
    thread.once('error', () => resolve())
  })
  thread.on('error', () => undefined)
  return {
    ports: channels.map(({ port2 }) => port2),
    start: (startMs) => thread.postMessage(startMs),
    stop() {
      Atomics.store(over, 0, 1)
      Atomics.notify(over, 0)
      void thread.terminate()
    },
  }
}
