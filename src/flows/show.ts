import { readRun } from '../measure/record/read-run.ts'
import type { FlowDeps, Shown, ShowOutcome } from './flow-deps.ts'
import { parseObjectives } from './judged-objectives.ts'
import { sharesBeginnings } from './options/resolve-workload.ts'
import type { RunConfig } from './options/run-config.ts'
import { runDocument, type RecordedRun } from './run-document.ts'
import { readWatch } from './watch-folder.ts'
import { isSweepFolder, readSweep } from './sweep-folder.ts'

/** Reads runs and sweeps back and computes their documents anew from the raw rows. */
export async function showFlow(paths: readonly string[], _deps: FlowDeps): Promise<ShowOutcome> {
  const shown: Shown[] = []
  for (const path of paths) {
    const watched = await readWatch(path)
    if (watched !== null) shown.push({ kind: 'watch', path, document: watched })
    else if (await isSweepFolder(path)) shown.push({ kind: 'sweep', path, document: await readSweep(path) })
    else {
      const record = await readRun(path)
      shown.push({ kind: 'run', path, document: shownRun(record), rows: record.rows, server: record.server })
    }
  }
  return { shown }
}

/** The document of a run from its folder, judged by the objectives that it was run with. */
export function shownRun(record: RecordedRun): ReturnType<typeof runDocument> {
  const config = record.manifest.config as unknown as Partial<RunConfig>
  return runDocument(record, {
    objectives: parseObjectives(config.objectives ?? []),
    ...(config.percentiles === undefined ? {} : { percentiles: config.percentiles }),
    ...(config.percentileType === undefined ? {} : { percentileType: config.percentileType }),
    detectWarmup: config.warmup?.kind === 'detect',
    warmCacheAsked:
      config.warmPrefix === true || (config.workload !== undefined && sharesBeginnings(config.workload)),
    connectionLimit: config.maxConnections ?? null,
  })
}
