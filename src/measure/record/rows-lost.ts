import { countOutcomes } from '../metrics/run-window.ts'
import type { RunManifest } from './manifest.ts'
import type { Rows } from './rows.ts'

/** Rows of a run that its folder no longer holds, or never could: of requests that were sent, and whose end was known. */
export interface RowsLost {
  readonly count: number
  /** How many requests were sent; of a damaged journal, the rows that are left and those that cannot be read. */
  readonly of: number
  /** What is left of them: nothing, the rows of the run's start (a journal that was cut), or others, no one knows which. */
  readonly left: 'none' | 'start' | 'some'
  /** Whether run.json still has the figures that were measured when the run ended. */
  readonly isSummarized: boolean
}

/** What a run that ended by itself sent, by its own manifest, against its rows. Requests that were never sent are not lost. */
export function rowsLost(manifest: RunManifest, rows: Rows, left: 'start' | 'some'): RowsLost | null {
  const { planned, sent } = countOutcomes(rows)
  // Without a summary nothing tells which of the missing were sent, unless the run ended before its plan did.
  const of = manifest.summary?.counts.sent ?? (manifest.stopped === null ? manifest.planned : null) ?? planned
  const count = of - (manifest.summary === null ? planned : sent)
  if (count <= 0) return null
  return { count, of, left: sent === 0 ? 'none' : left, isSummarized: manifest.summary !== null }
}

/**
 * Lines in the middle of the journal of a run that was killed. What was under way then has no row and is not lost: where it is known
 * how many had been sent, no more than those can be.
 */
export function linesLost(rows: Rows, unreadable: number, sent: number | null): RowsLost | null {
  const kept = countOutcomes(rows).sent
  const count = sent === null ? unreadable : Math.min(unreadable, sent - kept)
  if (count <= 0) return null
  return { count, of: kept + count, left: kept === 0 ? 'none' : 'some', isSummarized: false }
}
