import { openInstrument, workerCount } from '../measure/load/instrument.ts'
import { tracePacer } from '../measure/workload/trace.ts'
import type { LoadedWorkload } from '../measure/workload/workload.ts'
import { approvePlan } from './approve-plan.ts'
import { checkClientRoom } from './client-room.ts'
import type { FlowDeps, RunOutcome } from './flow-deps.ts'
import { parseObjectives } from './judged-objectives.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import { openTarget } from './live-target.ts'
import { measureLoad } from './measure-load.ts'
import type { RunConfig } from './options/run-config.ts'
import { readAsked } from './request-templates.ts'
import { runProgress } from './run-progress.ts'
import { documentOptions } from './run-document.ts'

/**
 * One load test from end to end: preflight, calibration, load, folder, document.
 * @throws PlimsollError before anything is sent for what cannot be meant, reached or measured.
 */
export async function runFlow(config: RunConfig, deps: FlowDeps): Promise<RunOutcome> {
  const objectives = parseObjectives(config.objectives)
  checkClientRoom(config, deps.machine, config.pacer.kind === 'concurrency' ? [config.pacer.users] : [])
  const asked = await readAsked(config, deps)
  const { workload } = asked
  const target = await openTarget(config, deps, asked)
  const atMost = config.pacer.kind === 'concurrency' ? config.pacer.users : Number.POSITIVE_INFINITY
  const instrument = await openInstrument(
    { workers: workerCount(config.workers, deps.machine.cores, atMost) },
    deps.clock,
  )
  try {
    const { document, manifest, rows } = await measureLoad(
      {
        config,
        workload,
        pacer: pacerOf(config, workload),
        measureMs: config.durationMs,
        count: config.count,
        warmupMs: config.warmup.kind === 'fixed' ? config.warmup.ms : 0,
        salt: config.salt ?? deps.freshSalt(),
        name: config.name ?? 'run',
        path: config.out,
        warnings: target.warnings,
        judged: documentOptions(config, objectives),
        approve: (plan, window) => approvePlan(plan, window, target, instrument, deps),
      },
      target,
      instrument,
      deps,
      (progress) => deps.onProgress(runProgress(config, progress)),
    )
    return {
      document,
      measured: { manifest, rows },
      interrupted: document.stopped?.kind === 'interrupted',
    }
  } finally {
    await instrument.close()
    await target.close()
  }
}

/** A schedule without times is that of the trace that was read. */
function pacerOf({ pacer, workload }: RunConfig, loaded: LoadedWorkload): Pacer {
  const recorded = pacer.kind === 'schedule' && pacer.timesMs.length === 0
  return recorded && loaded.kind === 'trace' && workload.kind === 'trace'
    ? tracePacer(loaded, workload.speed)
    : pacer
}
