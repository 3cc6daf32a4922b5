import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { noun } from '../base/noun.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import type { Rows } from '../measure/record/rows.ts'
import { partSalt } from '../measure/workload/salt.ts'
import { goneAfter } from './answered-before.ts'
import type { FlowDeps } from './flow-deps.ts'
import { settle, type LiveTarget } from './live-target.ts'
import { measureLoad } from './measure-load.ts'
import type { RunConfig } from './options/run-config.ts'
import { documentOptions } from './run-document.ts'
import { runProgress } from './run-progress.ts'

/** Where it is measured: server, client, folder. */
export interface MeasureGround {
  readonly run: RunConfig
  readonly target: LiveTarget
  readonly instrument: Parameters<typeof measureLoad>[2]
  readonly deps: FlowDeps
  readonly folder: string
}

/** Equal requests of users who wait for their answers, first sends spread over `staggerMs`. */
export interface ClosedLoopAsked {
  readonly users: number
  readonly staggerMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  readonly count: number
  /** Ends it earlier; null: only the count does. */
  readonly durationMs: number | null
  /** Of the run folder inside the ground's, and of the salt. */
  readonly name: string
  readonly label: string
}

export interface ClosedLoopResult {
  readonly rows: Rows
  readonly pacer: Pacer
  /** When it began, on the clock of `deps`. */
  readonly fromMs: number
}

/** Measures one closed loop on a settled server, judged by nothing. */
export async function closedLoop(
  { run, target, instrument, deps, folder }: MeasureGround,
  { users, staggerMs, promptTokens, outputTokens, count, durationMs, name, label }: ClosedLoopAsked,
): Promise<ClosedLoopResult> {
  const pacer = { kind: 'concurrency', users, thinkTimeMs: 0, staggerMs } as const
  const workload = {
    kind: 'random',
    prompt: { kind: 'fixed', tokens: promptTokens },
    output: { kind: 'fixed', tokens: outputTokens },
  } as const
  const config: RunConfig = {
    ...run,
    pacer,
    workload,
    workers: 1,
    count,
    durationMs,
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
      measureMs: durationMs,
      count,
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
  ).catch(async (error: unknown) => {
    throw await afterOthers(error, folder, name)
  })
  return { rows, pacer, fromMs }
}

/** The error of a loop that others came before, where the server is gone: it answered those. */
async function afterOthers(error: unknown, folder: string, name: string): Promise<unknown> {
  const there = await readdir(folder).catch((): string[] => [])
  const before = there.filter((other) => other !== name).sort()
  const last = before.at(-1)
  if (last === undefined) return error
  const done = `${before.length} ${noun(before.length, 'measurement')}`
  return goneAfter(error, { done, folder, shown: join(folder, last), goOn: null })
}
