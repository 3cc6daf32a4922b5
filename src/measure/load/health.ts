import { percentile } from '../../stats/percentile.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { Calibration } from './calibration.ts'
import type { ClientHealth } from './client-health.ts'
import type { Host } from './host.ts'
import { liveSketch, mergeSketch, sketchQuantile } from './live-sketch.ts'
import type { WorkerHealth } from './thread-messages.ts'

/** Collects what the instrument says of itself over one run. */
export interface HealthWatch {
  /** The run's origin has come: CPU counts from here. */
  begin(nowMs: number): void
  /** Sending is over: CPU counts to here. Only the first call does. */
  end(nowMs: number): void
  addRow(row: RequestRow): void
  addWorker(health: WorkerHealth): void
  result(calibration: Calibration | null, workers: number, sameMachine: boolean): ClientHealth
}

export function healthWatch(host: Host): HealthWatch {
  const delay = liveSketch()
  const lags: number[] = []
  const shares: (number | null)[] = []
  let events = 0
  let begun: CpuReading | null = null
  let ended: CpuReading | null = null

  function read(nowMs: number): CpuReading {
    return { nowMs, processMs: host.processCpuMs(), machine: host.machineTimes() }
  }

  return {
    begin(nowMs) {
      begun = read(nowMs)
    },
    end(nowMs) {
      ended ??= read(nowMs)
    },
    addRow(row) {
      events += row.n_output_chunks
      if (row.lag_ms !== null) lags.push(row.lag_ms)
    },
    addWorker(health) {
      if (health.loopDelay.length === 0) return
      mergeSketch(delay, health.loopDelay, health.loopDelayMaxMs)
      shares.push(health.cpuShare)
    },
    result(calibration, workers, sameMachine) {
      const known = shares.filter((share) => share !== null)
      const sorted = Float64Array.from(lags).sort()
      return {
        lag_ms: { p50: percentile(sorted, '50'), p99: percentile(sorted, '99'), max: sorted.at(-1) ?? null },
        loop_delay_ms: {
          p50: sketchQuantile(delay, '50'),
          p99: sketchQuantile(delay, '99'),
          max: delay.total === 0 ? null : delay.maxMs,
        },
        cpu: {
          worker_max: known.length === 0 ? null : Math.max(...known),
          workers: shares,
          ...shareOf(begun, ended),
        },
        workers,
        own_error_ms: calibration?.ownErrorMs ?? { p50: null, p99: null },
        capacity_events_per_s: capacityOf(calibration, workers),
        events,
        same_machine: sameMachine,
      }
    },
  }
}

/** Calibrated for all threads of the instrument; a run may use fewer. */
function capacityOf(calibration: Calibration | null, workers: number): number | null {
  const capacity = calibration?.capacityEventsPerSecond ?? null
  return capacity === null ? null : (capacity * workers) / calibration!.workers
}

interface CpuReading {
  readonly nowMs: number
  readonly processMs: number
  readonly machine: { readonly busy: number; readonly total: number } | null
}

function shareOf(
  begun: CpuReading | null,
  ended: CpuReading | null,
): { readonly process: number | null; readonly machine: number | null } {
  if (begun === null || ended === null || ended.nowMs <= begun.nowMs) return { process: null, machine: null }
  const before = begun.machine
  const after = ended.machine
  return {
    process: (ended.processMs - begun.processMs) / (ended.nowMs - begun.nowMs),
    machine:
      before === null || after === null || after.total <= before.total
        ? null
        : (after.busy - before.busy) / (after.total - before.total),
  }
}
