import { dirname, join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { formatPlain } from '../base/units.ts'
import type { SweepDocument, SweepPoint } from '../report/documents.ts'
import { isSweepFolder, readSweep, sweepFile } from './sweep-folder.ts'

/** A run folder as it was named: by its path, or as a point of a sweep, `SWEEP@16`. */
export interface NamedRun {
  readonly path: string
  /** How it is called in a report. */
  readonly name: string
}

/**
 * The run that a path or `SWEEP@LOAD` names. A folder that has an @ of its own and is no sweep is taken as it is.
 * @throws PlimsollError PLIM_RUN_FOLDER for a load that the sweep has no run of; PLIM_USAGE for a sweep without a load.
 */
export async function namedRun(text: string): Promise<NamedRun> {
  const at = text.lastIndexOf('@')
  if (at > 0 && (await isSweepFolder(text.slice(0, at)))) {
    return pointAt(text.slice(0, at), text.slice(at + 1))
  }
  if (!(await isSweepFolder(text))) return { path: text, name: text }
  const { points } = await readSweep(text)
  throw new PlimsollError('PLIM_USAGE', 'this is a sweep, and not one of its runs', {
    expected: `${text}@LOAD with one of ${loadsOf(points)}`,
    received: text,
  })
}

async function pointAt(sweep: string, written: string): Promise<NamedRun> {
  const { points } = await readSweep(sweep)
  const wanted = /^\d+(?:\.\d+)?$/.test(written) ? Number(written) : null
  const point = points.find(({ load }) => load.value === wanted)
  if (point?.run !== undefined && point.run !== null) return runOf(sweep, point)
  throw new PlimsollError(
    'PLIM_RUN_FOLDER',
    `the sweep has no run at ${written === '' ? 'no load' : written}`,
    {
      expected: `one of ${loadsOf(points)}`,
      received: `${sweep}@${written}`,
    },
  )
}

function runOf(sweep: string, point: SweepPoint): NamedRun {
  const folder = sweep.endsWith(sweepFile) ? dirname(sweep) : sweep
  return { path: join(folder, point.run ?? ''), name: `${sweep}@${point.load.value}` }
}

/**
 * The two points of a sweep that tell why it goes no further: A the first that fails above the capacity (where none was judged, the first
 * above it), B the point at capacity.
 * @throws PlimsollError PLIM_USAGE where the sweep has no such two.
 */
export async function pointsAtTheWall(
  sweep: string,
): Promise<{ readonly a: NamedRun; readonly b: NamedRun }> {
  const document = await readSweep(sweep)
  const found = wallPoints(document)
  if (typeof found !== 'string') return { a: runOf(sweep, found.above), b: runOf(sweep, found.at) }
  throw new PlimsollError('PLIM_USAGE', `${found}: slower than what?`, {
    expected: `two points, as in plimsoll why ${sweep}@${document.points.at(-1)?.load.value ?? 32} ${sweep}@${document.points[0]?.load.value ?? 16}`,
    received: `loads ${loadsOf(document.points)}`,
  })
}

/** The points, or why there are none, as a clause. */
function wallPoints({
  points,
  capacity,
}: Pick<SweepDocument, 'points' | 'capacity'>):
  | { readonly at: SweepPoint; readonly above: SweepPoint }
  | string {
  const kept = points.filter(({ run }) => run !== null).sort((a, b) => a.load.value - b.load.value)
  if (capacity.load === null) return 'the sweep found no capacity'
  const load = capacity.load
  const at = kept.find((point) => point.load.value === load)
  if (at === undefined) return `the run at capacity, ${formatPlain(load)}, is not in the sweep`
  const higher = kept.filter((point) => point.load.value > load)
  const above = higher.find(({ passes }) => passes === 'no') ?? higher[0]
  return above === undefined ? `nothing was tested above the capacity of ${formatPlain(load)}` : { at, above }
}

function loadsOf(points: readonly SweepPoint[]): string {
  return points
    .filter(({ run }) => run !== null)
    .map(({ load }) => formatPlain(load.value))
    .join(', ')
}
