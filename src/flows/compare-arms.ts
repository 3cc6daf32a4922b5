import { rowValues } from '../measure/record/row-values.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { describePacer } from '../measure/load/describe-pacer.ts'
import type { Pacer } from '../measure/load/pacer.ts'
import { isInWindow } from '../measure/metrics/run-window.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RecordedRun } from './run-document.ts'
import { runFiles } from '../measure/record/run-folder.ts'
import { loadWords } from '../plan/sweep-schedule.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import type { RunDocument } from '../report/documents.ts'
import { tagsOf } from './run-facts.ts'
import { shownRun } from './show.ts'
import { isSweepFolder, readSweep, sweepFile } from './sweep-folder.ts'

/** A run as an arm of a comparison holds it: its figures, without its rows. */
export interface ArmRun {
  readonly path: string
  readonly document: RunDocument
  readonly manifest: RunManifest
  /** Said by the tag `block`, or the load of a sweep's point. */
  readonly block: string | null
  /** Set for the points of a sweep: "8 users". */
  readonly load: string | null
  readonly startedAtMs: number
  /** TPOT of each answer in the window, or E2E where no answer has one: for the design effect. */
  readonly perRequest: readonly number[]
}

/**
 * Reads the runs of an arm. A path is a run, a sweep (each point is a run, its load the block), or a folder of runs or of sweeps.
 * @throws PlimsollError PLIM_RUN_FOLDER where there is nothing of a run.
 */
export async function readArm(paths: readonly string[]): Promise<readonly ArmRun[]> {
  const runs: ArmRun[] = []
  const found = await runPaths(paths)
  const blocks = blocksByLoad(found.map(({ load }) => load))
  for (const [index, { path, load }] of found.entries()) {
    const record = await readRun(path)
    const run = armRun(path, shownRun(record), record)
    runs.push({ ...run, block: blocks[index] ?? run.block, load })
  }
  return runs
}

/** A run as it was measured or read, without its rows. */
export function armRun(
  path: string,
  document: RunDocument,
  { manifest, rows }: Pick<RecordedRun, 'manifest' | 'rows'>,
): ArmRun {
  const inWindow = rows.filter((row) => row.ok && isInWindow(row, windowOf(document)))
  const tpots = rowValues(inWindow, (row) => row.tpot_ms)
  const e2es = rowValues(inWindow, (row) => row.e2e_ms)
  return {
    path,
    document,
    manifest,
    block: tagsOf(manifest.config)['block'] ?? null,
    load: null,
    startedAtMs: manifest.clock.started_at === null ? Number.NaN : Date.parse(manifest.clock.started_at),
    perRequest: Array.from(tpots.length > 0 ? tpots : e2es),
  }
}

/**
 * Where the points of a sweep are compared with runs that are no sweep's, those are matched by load too: other loads pooled against one
 * would be compared as if the load made no difference. A load that nobody knows matches none.
 */
export function matchLoads(runs: readonly ArmRun[], others: readonly ArmRun[]): readonly ArmRun[] {
  if (![...runs, ...others].some(({ load }) => load !== null)) return runs
  const loads = runs.map((run) => run.load ?? loadOf(run.manifest.pacer))
  const blocks = blocksByLoad(loads)
  return runs.map((run, index) => ({ ...run, load: loads[index] ?? null, block: blocks[index] ?? null }))
}

/** The block of each run by its load, counted where a load comes again: "8 users", "8 users (2)". Null where no load is known. */
function blocksByLoad(loads: readonly (string | null)[]): readonly (string | null)[] {
  const turns = new Map<string, number>()
  return loads.map((load) => {
    if (load === null) return null
    const turn = (turns.get(load) ?? 0) + 1
    turns.set(load, turn)
    return turn === 1 ? load : `${load} (${turn})`
  })
}

/** A load in the words of a sweep's points where it is such a one; users who pause between their requests are another. */
function loadOf(pacer: Pacer | null): string {
  if (pacer === null) return 'unknown'
  if (pacer.kind === 'poisson') return loadWords({ kind: 'rate', value: pacer.ratePerSecond })
  if (pacer.kind !== 'concurrency') return describePacer(pacer).split(':')[0]!
  const users = loadWords({ kind: 'concurrency', value: pacer.users })
  if (pacer.thinkTimeMs === 0) return users
  const about = pacer.thinkTime === 'exponential' ? 'about ' : ''
  return `${users} who pause ${about}${pacer.thinkTimeMs / 1000} s`
}

function windowOf({ window }: RunDocument): { readonly startMs: number; readonly endMs: number } {
  return { startMs: window.start_ms, endMs: window.end_ms }
}

export interface RunPath {
  readonly path: string
  readonly load: string | null
}

/** The runs that paths mean, in their order. */
export async function runPaths(paths: readonly string[]): Promise<readonly RunPath[]> {
  const found: RunPath[] = []
  for (const path of paths) {
    if (await isSweepFolder(path)) {
      found.push(...(await sweepPaths(path)))
      continue
    }
    const inside = (await isFolder(path)) && !(await holdsRun(path)) ? await runsIn(path) : []
    if (inside.length > 0) found.push(...(await runPaths(inside)))
    else found.push({ path, load: null })
  }
  return found
}

/** The points of a sweep that were run; the confirmation at the operating point is another kind of run. */
async function sweepPaths(path: string): Promise<readonly RunPath[]> {
  const folder = path.endsWith(sweepFile) ? path.slice(0, -sweepFile.length - 1) || '.' : path
  const { points } = await readSweep(path)
  const found = points.flatMap(({ run, load }): readonly RunPath[] =>
    run === null
      ? []
      : [
          {
            path: join(folder, run),
            load: loadWords(load),
          },
        ],
  )
  if (found.length > 0) return found
  throw new PlimsollError('PLIM_RUN_FOLDER', 'this sweep has no point that was run', {
    where: { file: path },
  })
}

/** Runs and sweeps directly inside a folder, by name. */
async function runsIn(path: string): Promise<readonly string[]> {
  const inside: string[] = []
  for (const name of (await readdir(path)).sort()) {
    const child = join(path, name)
    if ((await isFolder(child)) && ((await isSweepFolder(child)) || (await holdsRun(child))))
      inside.push(child)
  }
  return inside
}

async function holdsRun(path: string): Promise<boolean> {
  const names = await readdir(path)
  return Object.values(runFiles).some((name) => names.includes(name))
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
