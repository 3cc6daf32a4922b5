import type { Clock } from '../../base/clock.ts'
import {
  type Calibration,
  calibrationOf,
  capacityPhase,
  errorPhase,
  ownErrorOf,
  startFakeServer,
  warmPhase,
} from './calibration.ts'
import type { OwnError } from './client-health.ts'
import { type LoadWorker, startLoadWorker } from './load-worker.ts'
import type { CalibrationPhase, CalibrationReading } from './thread-messages.ts'

/** Load threads that are warm, and what they can do. Several runs one after the other may use it (a sweep). */
export interface LoadInstrument {
  readonly workers: readonly LoadWorker[]
  readonly calibration: Calibration | null
  /**
   * The instrument's own error once more, between two runs, in about half a second; null where it was never calibrated, or cannot be
   * measured: its first thread died.
   */
  measureError(): Promise<OwnError | null>
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
  if (options.calibrate === false) {
    return { workers, calibration: options.calibration ?? null, measureError: async () => null, close }
  }
  const fakes = await Promise.all(
    Array.from({ length: Math.ceil(workers.length / workersPerFake) }, () =>
      startFakeServer(clock.originMonotonicNs),
    ),
  )
  const read = (i: number, phases: readonly CalibrationPhase[]): Promise<readonly CalibrationReading[]> =>
    readPhases(workers[i]!, fakes[Math.floor(i / workersPerFake)]!.port, phases)
  try {
    await Promise.all(workers.map((_, i) => read(i, [warmPhase])))
    const known = options.calibration ?? null
    const calibration = known ?? calibrationOf(await read(0, [errorPhase, capacityPhase]), workers.length)
    return { workers, calibration, measureError: () => measureError(workers[0]!, clock), close }
  } catch (error) {
    await close()
    throw error
  } finally {
    await Promise.all(fakes.map((fake) => fake.close()))
  }
}

async function readPhases(
  worker: LoadWorker,
  port: number,
  phases: readonly CalibrationPhase[],
): Promise<readonly CalibrationReading[]> {
  worker.send({ kind: 'calibrate', port, phases })
  return (await worker.reply('calibrated')).readings
}

async function measureError(worker: LoadWorker, clock: Clock): Promise<OwnError | null> {
  if (worker.dead) return null
  let fake: Awaited<ReturnType<typeof startFakeServer>> | null = null
  try {
    fake = await startFakeServer(clock.originMonotonicNs)
    return ownErrorOf(await readPhases(worker, fake.port, [errorPhase]))
  } catch {
    // What was measured before must not be lost for want of this figure.
    return null
  } finally {
    await fake?.close()
  }
}

/** One fake feeds so many workers at once within a second. */
const workersPerFake = 4

/** How many load threads a plan gets: one for each core but one unless told, and none that would have nothing to do. */
export function workerCount(asked: number | null, cores: number, atMost: number): number {
  return Math.max(1, Math.min(asked ?? cores - 1, atMost))
}
