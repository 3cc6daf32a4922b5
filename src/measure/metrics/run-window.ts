import type { RequestRow } from '../record/request-row.ts'
import { sortRows } from '../record/sort-rows.ts'
import type { Rows } from '../record/rows.ts'
import type { Counts } from './run-summary.ts'

/** The measurement window on the run's clock, ms: a request belongs to it by its intended send, start <= planned < end. */
export interface RunWindow {
  readonly startMs: number
  readonly endMs: number
}

/** Whether a request belongs to the window. One that was never given a time (a slot that never came free) does not. */
export function isInWindow(row: RequestRow, window: RunWindow): boolean {
  return row.planned_ms !== null && row.planned_ms >= window.startMs && row.planned_ms < window.endMs
}

/** By intended send, then by id: the same rows give the same figures to the last bit, in whatever order they came. */
export function inOrder(rows: Rows): Rows {
  const at = (row: RequestRow): number => row.planned_ms ?? Number.MAX_VALUE
  return sortRows(rows, at, (row) => row.id)
}

/**
 * The window that holds every request whole: from the first intended send to the last thing seen of any. For rows that come
 * without one. Null for no rows.
 */
export function wholeWindow(rows: Rows): RunWindow | null {
  let startMs = Number.POSITIVE_INFINITY
  let endMs = Number.NEGATIVE_INFINITY
  for (const row of rows) {
    if (row.planned_ms === null) continue
    startMs = Math.min(startMs, row.planned_ms)
    endMs = Math.max(endMs, row.planned_ms + Math.max(0, row.done_ms ?? 0, row.e2e_ms ?? 0, row.lag_ms ?? 0))
  }
  if (endMs < startMs) return null
  // The end is not part of the window: the last request of a run without any duration still is.
  return { startMs, endMs: endMs === startMs ? endMs + 1 : nextUp(endMs) }
}

/** A number a little larger, far below what any clock tells apart. */
function nextUp(ms: number): number {
  return ms + Math.max(Math.abs(ms), 1) * Number.EPSILON * 2
}

/** Whether the client itself hung up: nothing can be said of how well the server would have answered. */
export function isCancelled(row: RequestRow): boolean {
  return row.outcome === 'censored' && row.flags.includes('cancelled_by_client')
}

/** How many became what. Every row is in exactly one of the five, so that they always add up to `planned`. */
export function countOutcomes(rows: Rows): Counts {
  const counts = { ok: 0, failed: 0, shed: 0, censored: 0, unsent: 0 }
  let cancelled = 0
  for (const row of rows) {
    counts[row.outcome]++
    if (isCancelled(row)) cancelled++
  }
  return {
    planned: rows.length,
    sent: rows.length - counts.unsent,
    ...counts,
    ...(cancelled === 0 ? {} : { cancelled_by_client: cancelled }),
  }
}

/** Failed attempts by kind; refusals and requests cut at the end under their own names where they carry none. */
export function countErrors(rows: Rows): Record<string, number> {
  const errors: Record<string, number> = {}
  for (const row of rows) {
    if (row.outcome === 'ok' || row.outcome === 'unsent' || isCancelled(row)) continue
    const kind = row.error_kind ?? row.outcome
    errors[kind] = (errors[kind] ?? 0) + 1
  }
  return errors
}

/** The longest message that is kept, characters. */
const longestMessage = 200

/** What was said most often of each kind of failure: the server's own words where it had some. */
export function commonestMessages(rows: Rows): Record<string, string> {
  const told = new Map<string, Map<string, number>>()
  for (const { outcome, error_kind: kind, error_message: message } of rows) {
    if (outcome === 'ok' || outcome === 'unsent' || kind === null || message === null || message === '')
      continue
    const counts = told.get(kind) ?? new Map<string, number>()
    told.set(kind, counts)
    const text = message.slice(0, longestMessage)
    // A server that says something else each time fills no memory.
    if (counts.has(text) || counts.size < 1000) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return Object.fromEntries(
    [...told].map(([kind, counts]) => [
      kind,
      [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0],
    ]),
  )
}
