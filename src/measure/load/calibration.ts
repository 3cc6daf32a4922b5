import { Worker } from 'node:worker_threads'
import { entryPath } from '../../base/entry.ts'
import { percentile } from '../../stats/percentile.ts'
import type { OwnError } from './client-health.ts'
import type { CalibrationPhase, CalibrationReading } from './thread-messages.ts'

/** What this client can do, learned on a loopback fake before anything is measured. */
export interface Calibration {
  /** Stamp − write over `events` events of a light load, ms. Null: nothing came back. */
  readonly ownErrorMs: OwnError
  /** Events in the error reading. */
  readonly events: number
  /** CPU of one worker for one event at 100 streams, µs. */
  readonly cpuPerEventUs: number | null
  /** Events per second that all workers can take: workers ÷ CPU per event. */
  readonly capacityEventsPerSecond: number | null
  readonly workers: number
}

/** Enough requests (512) and events (10,240) for the code to be compiled, in about a third of a second. */
export const warmPhase: CalibrationPhase = { name: 'warm', streams: 64, rounds: 8, events: 20, gapMs: 1.5 }
/** 3,200 events a second, as 64 users at 50 token/s: the error of an unhurried client. */
export const errorPhase: CalibrationPhase = { name: 'error', streams: 64, rounds: 1, events: 16, gapMs: 20 }
/** 50,000 events a second, one to a read: what an event costs when there are many. */
export const capacityPhase: CalibrationPhase = {
  name: 'capacity',
  streams: 100,
  rounds: 1,
  events: 110,
  gapMs: 2,
}

/** Sums the readings of the workers; only the first one reads error and capacity. */
export function calibrationOf(readings: readonly CalibrationReading[], workers: number): Calibration {
  const errors = errorsOf(readings)
  const capacity = readings.find(({ name, failed }) => name === 'capacity' && failed === 0)
  const cpuMs = capacity?.cpuMs ?? 0
  const costMs =
    capacity === undefined || capacity.events === 0 || cpuMs <= 0 ? null : cpuMs / capacity.events
  return {
    ownErrorMs: ownErrorOf(readings),
    events: errors.length,
    cpuPerEventUs: costMs === null ? null : costMs * 1000,
    capacityEventsPerSecond: costMs === null ? null : (workers * 1000) / costMs,
    workers,
  }
}

/** The percentiles of stamp − write over the readings' events. */
export function ownErrorOf(readings: readonly CalibrationReading[]): OwnError {
  const errors = errorsOf(readings)
  return { p50: percentile(errors, '50'), p99: percentile(errors, '99') }
}

function errorsOf(readings: readonly CalibrationReading[]): readonly number[] {
  return readings.flatMap(({ errorsMs }) => [...errorsMs]).sort((a, b) => a - b)
}

/** The loopback fake in a thread of its own. Its stamps are ms on the clock with this origin. */
export async function startFakeServer(
  originNs: bigint,
): Promise<{ readonly port: number; readonly url: string; close(): Promise<void> }> {
  const worker = new Worker(entryPath('./fake-server-thread.ts', import.meta.url), {
    workerData: { originNs },
  })
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await worker.terminate()
    },
  }
}
