import { escaped } from '../../../base/escaped.ts'
import { noun } from '../../../base/noun.ts'
import type { Warning } from '../../../base/warnings.ts'
import { formatCount } from '../../../base/units.ts'
import { note } from './import-notes.ts'
import type { ImportedRun } from './imported-run.ts'
import type { JsonFault } from './json-stream.ts'

/** Where a text ends in the middle, or first is no part of its format. */
export interface BreakPlace extends JsonFault {
  readonly file: string
  /** How many such places there are. */
  readonly places: number
  /** Whether nothing behind it was read. */
  readonly isStopped: boolean
}

/** What that took from a run. */
export interface FileBreak {
  readonly place: BreakPlace
  /** Requests of which anything was read; of a summary, its figures. */
  readonly read: number
  readonly what: 'requests' | 'figures'
  readonly loss: RunLoss
}

/** What of a run did not come, as far as its format can tell. */
export interface RunLoss {
  /** Requests that have all that the file holds of a request. */
  readonly whole: number
  /** How many the file says that it has; null where it does not. */
  readonly planned: number | null
  /** "itls of 36 requests", "errors". */
  readonly missing: readonly string[]
}

/** Whether what stands behind the place was, or may have been, there: the text does not just end. */
export function isTorn({ truncated, places }: BreakPlace): boolean {
  return !truncated || places > 1
}

/** What a break took from these runs, the only one of which may know it better. */
export function breakOf(place: BreakPlace, runs: readonly ImportedRun[]): FileBreak {
  const isSummary = runs.every(({ rowsKnown }) => !rowsKnown)
  const read = runs.reduce((sum, run) => sum + (isSummary ? run.published.length : run.rows.length), 0)
  const known = runs.length === 1 ? runs[0]?.loss : undefined
  const loss = known ?? { whole: read, planned: null, missing: [] }
  return isSummary
    ? { place, read, what: 'figures', loss: { ...loss, whole: read, planned: null } }
    : { place, read, what: 'requests', loss }
}

/** A break in a sentence, and what may have made it. */
export function breakText(found: FileBreak): string {
  return `${whatBroke(found)}; ${causeOf(found)}`
}

function causeOf({ place }: FileBreak): string {
  return isTorn(place)
    ? 'two writers on one file, or a torn line'
    : 'the tool was ended while it wrote, or the copy is not whole'
}

function whatBroke(found: FileBreak): string {
  const { place, loss } = found
  const { file, line, column, path, expected, received, places, isStopped } = place
  const at = `${file}:${line}:${column}`
  const inside = path === '' ? '' : `, inside ${path}`
  const read = amount(found)
  const were = noun(found.read, 'was', 'were')
  if (isTorn(place)) {
    const what = `expected ${expected}, received ${received}`
    if (isStopped)
      return `the file cannot be read from ${at} on${inside} (${what}): ${read} before it ${were} read, what came behind is lost`
    return places === 1
      ? `the file cannot be read at ${at}${inside} (${what}): ${read} around it ${were} read, what stood there is lost`
      : `${formatCount(places)} places of the file cannot be read, the first ${at}${inside} (${what}): ${read} around them ${were} read, what stood there is lost`
  }
  const broken = `the file breaks off at ${at}${inside}`
  return loss.missing.length === 0
    ? `${broken}: ${read} before it ${were} read, what came behind is lost`
    : `${broken}: ${formatCount(loss.whole)} of ${loss.planned === null ? read : formatCount(loss.planned)} ${found.what} are whole as far as it goes; lost: ${loss.missing.join(', ')}`
}

function amount({ read, what }: FileBreak): string {
  return `${formatCount(read)} ${noun(read, what.slice(0, -1), what)}`
}

/** The finding of a break. */
export function breakNote(found: FileBreak): Warning {
  return note('file_truncated', whatBroke(found), causeOf(found), {
    line: found.place.line,
    column: found.place.column,
    faults: found.place.places,
    read: found.read,
    whole: found.loss.whole,
    planned: found.loss.planned,
  })
}

/** `itls[24]`, `metrics.inter_chunk_latency.value[57]`. Keys are the file's own words: only letters that a terminal shows as they are. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((one) => (typeof one === 'number' ? `[${one}]` : one === '' ? '' : `.${escaped(one.slice(0, 60))}`))
    .join('')
    .replace(/^\./, '')
}
