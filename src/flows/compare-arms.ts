import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { isInWindow } from '../measure/metrics/run-window.ts'
import { readRun } from '../measure/record/read-run.ts'
import { runFiles } from '../measure/record/run-folder.ts'
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
  const loads = new Map<string, number>()
  for (const { path, load } of await runPaths(paths)) {
    const record = await readRun(path)
    const document = shownRun(record)
    const { manifest } = record
    const inWindow = record.rows.filter((row) => row.ok && isInWindow(row, windowOf(document)))
    const tpots = inWindow.map((row) => row.tpot_ms).filter((ms) => ms !== null)
    const e2es = inWindow.map((row) => row.e2e_ms).filter((ms) => ms !== null)
    const turn = load === null ? 0 : (loads.get(load) ?? 0)
    if (load !== null) loads.set(load, turn + 1)
    runs.push({
      path,
      document,
      manifest,
      block:
        load === null
          ? (tagsOf(manifest.config)['block'] ?? null)
          : turn === 0
            ? load
            : `${load} (${turn + 1})`,
      load,
      startedAtMs: manifest.clock.started_at === null ? Number.NaN : Date.parse(manifest.clock.started_at),
      perRequest: tpots.length > 0 ? tpots : e2es,
    })
  }
  return runs
}

/**
 * Where the points of a sweep are compared with runs that are no sweep's, those are matched by load too: other loads pooled against one
 * would be compared as if the load made no difference. A load that nobody knows matches none.
 */
export function matchLoads(runs: readonly ArmRun[], others: readonly ArmRun[]): readonly ArmRun[] {
  if (![...runs, ...others].some(({ load }) => load !== null)) return runs
  const turns = new Map<string, number>()
  return runs.map((run) => {
    const load = run.load ?? loadOf(run.document)
    const turn = (turns.get(load) ?? 0) + 1
    turns.set(load, turn)
    return { ...run, load, block: turn === 1 ? load : `${load} (${turn})` }
  })
}

function loadOf({ load }: RunDocument): string {
  if (load.users !== null) return `${load.users} users`
  return load.kind === 'poisson' && load.rate_per_s !== null
    ? `${load.rate_per_s} req/s`
    : load.text.split(':')[0]!
}

function windowOf({ window }: RunDocument): { readonly startMs: number; readonly endMs: number } {
  return { startMs: window.start_ms, endMs: window.end_ms }
}

interface RunPath {
  readonly path: string
  readonly load: string | null
}

async function runPaths(paths: readonly string[]): Promise<readonly RunPath[]> {
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
            load: `${load.value}${load.kind === 'concurrency' ? ' users' : ' req/s'}`,
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
