import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { readRun } from '../measure/record/read-run.ts'
import { runFiles } from '../measure/record/run-folder.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { ExperimentDocument } from '../report/experiment-document.ts'
import type { FindDocument } from '../report/find-document.ts'
import type { FlowDeps, Shown, ShowOutcome } from './flow-deps.ts'
import { experimentSchema } from './experiment-schema.ts'
import { findSchema } from './find-schema.ts'
import { sweepSchema } from './options/document-schemas.ts'
import { parseObjectives } from './judged-objectives.ts'
import { repeatFlags } from './options/repeat-flags.ts'
import { sharesBeginnings } from './options/resolve-workload.ts'
import type { RunConfig } from './options/run-config.ts'
import { runDocument, type DocumentOptions, type RecordedRun } from './run-document.ts'
import { readWatch } from './watch-folder.ts'
import { experimentFile, findFile, readDocument, sweepFile } from './sweep-folder.ts'

/** Reads runs and sweeps back and computes their documents anew from the raw rows. */
export async function showFlow(paths: readonly string[], _deps: FlowDeps): Promise<ShowOutcome> {
  const shown: Shown[] = []
  for (const path of paths) {
    const several = await shownDocument(path)
    if (several !== null) shown.push(several)
    else {
      const record = await readRun(path)
      shown.push({ kind: 'run', path, document: shownRun(record), rows: record.rows, server: record.server })
    }
  }
  return { shown }
}

/** What a folder of several runs, or of a watch, says of itself; null where it is none. */
async function shownDocument(path: string): Promise<Shown | null> {
  const watch = await readWatch(path)
  if (watch !== null) return { kind: 'watch', path, document: watch }
  const sweep = await readDocument<SweepDocument>(path, sweepFile, 'plimsoll.sweep/1', 'sweep', sweepSchema)
  if (sweep !== null) return { kind: 'sweep', path, document: sweep }
  const find = await readDocument<FindDocument>(path, findFile, 'plimsoll.find/1', 'search', findSchema)
  if (find !== null) return { kind: 'find', path, document: find }
  const experiment = await readDocument<ExperimentDocument>(
    path,
    experimentFile,
    'plimsoll.experiment/1',
    'experiment',
    experimentSchema,
  )
  return experiment === null ? null : { kind: 'experiment', path, document: experiment }
}

/** The document of a run from its folder, judged by the objectives that it was run with. */
export function shownRun(record: RecordedRun): ReturnType<typeof runDocument> {
  return runDocument(record, storedOptions(record))
}

/**
 * How a stored run was judged, by its config. Its form is that of what ran it, which no schema holds: what reads it here is what
 * tells whether it can be read.
 * @throws PlimsollError PLIM_RUN_FOLDER for a config that was changed by hand.
 */
function storedOptions({ path, manifest }: RecordedRun): DocumentOptions {
  const config = manifest.config as unknown as Partial<RunConfig>
  try {
    // Those of a run of another tool are not asked for.
    if (manifest.source === undefined) repeatFlags(config)
    return optionsOf(config)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new PlimsollError('PLIM_RUN_FOLDER', 'config of the manifest is not what it should be', {
      received: cause.message,
      where: { file: join(path, runFiles.manifest) },
      hint: 'the file was changed by hand, or written by another version of plimsoll: its rows are still those that were measured',
      cause,
    })
  }
}

function optionsOf(config: Partial<RunConfig>): DocumentOptions {
  return {
    objectives: parseObjectives(config.objectives ?? []),
    ...(config.percentiles === undefined ? {} : { percentiles: config.percentiles }),
    ...(config.percentileType === undefined ? {} : { percentileType: config.percentileType }),
    detectWarmup: config.warmup?.kind === 'detect',
    warmCacheAsked:
      config.warmPrefix === true || (config.workload !== undefined && sharesBeginnings(config.workload)),
    connectionLimit: config.maxConnections ?? null,
  }
}
