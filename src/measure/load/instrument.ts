import type { Clock } from '../../base/clock.ts'
import {
  type Calibration,
  calibrationOf,
  capacityPhase,
  errorPhase,
  startFakeServer,
  warmPhase,
} from './calibration.ts'
import { type LoadWorker, startLoadWorker } from './load-worker.ts'

/** Load threads that are warm, and what they can do. Several runs one after the other may use it (a sweep). */
export interface LoadInstrument {
  readonly workers: readonly LoadWorker[]
  readonly calibration: Calibration | null
  close(): Promise<void>
}

export interface InstrumentOptions {
  readonly workers: number
  /** False: threads that are neither warmed nor calibrated, for tests of what does not need it. */
  readonly calibrate?: boolean
  /** What is known already: the threads are warmed, not measured again. */
  readonly calibration?: Calibration | null
}

/**
 * Starts the load threads, lets each run its code on a loopback fake until it is compiled, and measures on the first one the
 * instrument's own error and what an event costs. About a second in all.
 */
export async function openInstrument(options: InstrumentOptions, clock: Clock): Promise<LoadInstrument> {
  const workers = await Promise.all(
    Array.from({ length: options.workers }, () => startLoadWorker(clock.originMonotonicNs)),
  )
  async function close(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.kill()))
  }
  if (options.calibrate === false) return { workers, calibration: options.calibration ?? null, close }
  const fake = await startFakeServer(clock.originMonotonicNs)
  try {
    await Promise.all(
      workers.map((worker) => {
        worker.send({ kind: 'calibrate', port: fake.port, phases: [warmPhase] })
        return worker.reply('calibrated')
      }),
    )
    const known = options.calibration ?? null
    if (known !== null) return { workers, calibration: known, close }
    const first = workers[0]!
    first.send({ kind: 'calibrate', port: fake.port, phases: [errorPhase, capacityPhase] })
    const { readings } = await first.reply('calibrated')
    return { workers, calibration: calibrationOf(readings, workers.length), close }
  } catch (error) {
    await close()
    throw error
  } finally {
    await fake.close()
  }
}

/** How many load threads a plan gets: one for each core but one unless told, and none that would have nothing to do. */
export function workerCount(asked: number | null, cores: number, atMost: number): number {
  return Math.max(1, Math.min(asked ?? cores - 1, atMost))
}
