import { join } from 'node:path'
import { partSalt } from '../measure/workload/salt.ts'
import { measuredPoints, measuredRun, type MeasuredRun } from '../simulate/calibrate/measured-run.ts'
import type { ClosedLoad } from '../simulate/calibrate/measurement-design.ts'
import type { MeasurementPoint } from '../report/measurement-document.ts'
import type { FlowDeps } from './flow-deps.ts'
import { settle, type LiveTarget } from './live-target.ts'
import { measureLoad } from './measure-load.ts'
import type { RunConfig } from './options/run-config.ts'
import { documentOptions } from './run-document.ts'
import { runProgress } from './run-progress.ts'

/** A point is not measured for longer than this, however slow the server is. */
export const longestPointMs = 20_000

/** One closed loop as it was measured. */
export interface MeasuredLoop {
  readonly name: string
  readonly load: ClosedLoad
  readonly answered: number
  readonly seconds: number
  /** Null where nothing was answered. */
  readonly run: MeasuredRun | null
}

/** Where it is measured: server, client, folder. */
export interface MeasureGround {
  readonly run: RunConfig
  readonly target: LiveTarget
  readonly instrument: Parameters<typeof measureLoad>[2]
  readonly deps: FlowDeps
  readonly folder: string
}

/** Measures equal requests of users who wait for their answers, first sends spread over `staggerMs`; its run folder lies inside `folder`. */
export async function measureLoop(
  { run, target, instrument, deps, folder }: MeasureGround,
  load: ClosedLoad,
  { name, label, staggerMs }: { readonly name: string; readonly label: string; readonly staggerMs: number },
): Promise<MeasuredLoop> {
  const pacer = { kind: 'concurrency', users: load.users, thinkTimeMs: 0, staggerMs } as const
  const workload = {
    kind: 'random',
    prompt: { kind: 'fixed', tokens: load.promptTokens },
    output: { kind: 'fixed', tokens: load.outputTokens },
  } as const
  const config: RunConfig = {
    ...run,
    pacer,
    workload,
    workers: 1,
    count: load.requests,
    durationMs: longestPointMs,
    warmup: { kind: 'fixed', ms: 0 },
    objectives: [],
    ignoreEos: true,
  }
  await settle(target, deps, 10_000)
  const fromMs = deps.clock.nowMs()
  const { rows } = await measureLoad(
    {
      config,
      workload,
      pacer,
      measureMs: longestPointMs,
      count: load.requests,
      warmupMs: 0,
      salt: partSalt(run.salt ?? '', name),
      name,
      path: join(folder, name),
      warnings: [],
      judged: documentOptions(config, []),
    },
    target,
    instrument,
    deps,
    (progress) => deps.onProgress(runProgress(config, progress, label)),
  )
  const answered = rows.filter((row) => row.ok && row.ttft_ms !== null && row.phase === 'measure').length
  return {
    name,
    load,
    answered,
    seconds: (deps.clock.nowMs() - fromMs) / 1000,
    run: answered === 0 ? null : measuredRun(name, pacer, rows),
  }
}

/** Its part of the document. */
export function pointDocument({
  name,
  load,
  answered,
  seconds,
  run,
}: MeasuredLoop): Omit<MeasurementPoint, 'foretold' | 'half_width'> {
  const [point] = run === null ? [] : measuredPoints(run)
  return {
    run: name,
    prompt_tokens: load.promptTokens,
    output_tokens: load.outputTokens,
    users: load.users,
    answered,
    seconds,
    ttft_ms: point?.ttftMs ?? null,
    tpot_ms: point?.tpotMs ?? null,
  }
}
