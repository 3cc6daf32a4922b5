import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { monotonicClock } from '../../base/clock.ts'
import { standBeforeOthers } from './thread-priority.ts'

/**
 * Wakes the workers of an open loop when a send is due. Timers of an event loop are whole milliseconds, and polling for the rest
 * would burn the core that reads answers; a thread that sleeps on a futex wakes within a tenth of a millisecond and costs some
 * 20 µs a send.
 */
export interface MetronomeData {
  /** Intended sends in ms after the run's origin, ascending, and the worker of each. */
  readonly plannedMs: Float64Array
  readonly workerOf: Uint16Array
  readonly ports: readonly MessagePort[]
  /** Cell 0 becomes 1 when the run is over; cell 1 + worker is 1 while that worker has a message before it. */
  readonly signals: Int32Array
  readonly clockOriginNs: bigint
}

const { plannedMs, workerOf, ports, signals, clockOriginNs } = workerData as MetronomeData
const clock = monotonicClock(performance, process.hrtime.bigint, clockOriginNs)

standBeforeOthers(readlinkSync, getPriority, setPriority)
parentPort!.once('message', (startMs: number) => {
  beat(startMs)
  for (const port of ports) port.close()
})
parentPort!.postMessage('ready')

function beat(startMs: number): void {
  const due = new Uint8Array(ports.length)
  let next = 0
  while (next < plannedMs.length && Atomics.load(signals, 0) === 0) {
    const waitMs = startMs + plannedMs[next]! - clock.nowMs()
    if (waitMs > 0) Atomics.wait(signals, 0, 0, waitMs)
    const nowMs = clock.nowMs() - startMs
    while (next < plannedMs.length && plannedMs[next]! <= nowMs) due[workerOf[next++]!] = 1
    due.forEach((isDue, worker) => {
      if (isDue === 1 && Atomics.exchange(signals, 1 + worker, 1) === 0) ports[worker]!.postMessage(0)
    })
    due.fill(0)
  }
}
