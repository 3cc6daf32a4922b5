import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { shellWord } from '../base/shell-words.ts'
import { openInstrument, workerCount } from '../measure/load/instrument.ts'
import { makeFreshFolder } from '../measure/record/fresh-folder.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import { credentialsOf } from './credentials.ts'
import type { FlowDeps } from './flow-deps.ts'
import { parseObjectives } from './judged-objectives.ts'
import { openTarget } from './live-target.ts'
import type { RunConfig } from './options/run-config.ts'
import { readAsked } from './request-templates.ts'
import { sampleNeeds } from './sample-needs.ts'
import type { SweepGround } from './sweep-point.ts'

/** Where the points of a sweep or search are measured, until it is closed. */
export interface OpenGround {
  readonly ground: SweepGround
  readonly startedAt: Date
  close(): Promise<void>
}

/**
 * Opens the server and the client for several points, and the folder that their runs are kept in (`folder`, or a new one by `name`).
 * `maxDurationMs` later nothing more is sent; null: no limit.
 * @throws PlimsollError before anything is sent for what cannot be meant, reached or made.
 */
export async function openGround(
  wanted: RunConfig,
  deps: FlowDeps,
  {
    name,
    folder,
    maxDurationMs,
    check,
  }: {
    readonly name: string
    readonly folder: string | null
    readonly maxDurationMs: number | null
    /** Refuses what is asked, knowing all its secrets, before anything is opened. */
    readonly check?: (secrets: readonly string[]) => void
  },
): Promise<OpenGround> {
  const config = { ...wanted, salt: wanted.salt ?? deps.freshSalt() }
  const objectives = parseObjectives(config.objectives)
  const asked = await readAsked(config, deps)
  check?.(credentialsOf(config, deps.env, asked).secrets)
  const target = await openTarget(config, deps, asked)
  try {
    const instrument = await openInstrument(
      { workers: workerCount(config.workers, deps.machine.cores, Number.POSITIVE_INFINITY) },
      deps.clock,
    )
    try {
      const startedAt = new Date(deps.wallClock())
      const path = folder ?? (await makeFolder(config, name, startedAt))
      const over = new AbortController()
      const timer = maxDurationMs === null ? null : setTimeout(() => over.abort(), maxDurationMs)
      return {
        startedAt,
        ground: {
          config,
          objectives,
          workload: asked.workload,
          target,
          instrument,
          deps,
          folder: path,
          needs: sampleNeeds(objectives),
          timeOver: over.signal,
          signal: AbortSignal.any([deps.signal, over.signal]),
        },
        async close() {
          if (timer !== null) clearTimeout(timer)
          await instrument.close()
          await target.close()
        },
      }
    } catch (error) {
      await instrument.close()
      throw error
    }
  } catch (error) {
    await target.close()
    throw error
  }
}

/** A sweep's folder may be gone on with, so one that was named and is there is refused, not given a second name. */
async function makeFolder(config: RunConfig, kind: string, startedAt: Date): Promise<string> {
  const wanted = config.out ?? join(config.runsDir, runFolderName(startedAt, config.name ?? kind))
  if (config.out !== null && (await isThere(wanted))) {
    throw new PlimsollError('PLIM_RUN_FOLDER', `${wanted} is there already`, {
      expected: `a folder that the ${kind} makes itself`,
      hint:
        kind === 'sweep'
          ? `another --out; or --resume ${shellWord(wanted)} goes on with it`
          : 'another --out',
    })
  }
  return makeFreshFolder(wanted, `the folder of the ${kind}`)
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
