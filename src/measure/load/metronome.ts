import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { entryPath } from '../../base/entry.ts'
import type { MetronomeData } from './metronome-thread.ts'

/** A worker's end of the metronome. */
export interface Ticks {
  /** A message says that something is due. There is never more than one before the worker has answered it. */
  readonly port: MessagePort
  /** The answer: set `signals[cell]` to 0, then look for what is due. */
  readonly signals: Int32Array
  readonly cell: number
}

export interface Metronome {
  /** One for each worker. */
  readonly ticks: readonly Ticks[]
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
  const signals = new Int32Array(new SharedArrayBuffer(4 * (1 + workers)))
  const theirs = channels.map(({ port1 }) => port1)
  const data: MetronomeData = {
    plannedMs,
    workerOf: Uint16Array.from(plannedMs, (_, i) => i % workers),
    ports: theirs,
    signals,
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
    ticks: channels.map(({ port2 }, worker) => ({ port: port2, signals, cell: 1 + worker })),
    start: (startMs) => thread.postMessage(startMs),
    stop() {
      Atomics.store(signals, 0, 1)
      Atomics.notify(signals, 0)
      void thread.terminate()
    },
  }
}
