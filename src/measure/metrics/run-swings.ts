import { inFlightAtArrivals, loadSwings } from '../../stats/swings.ts'
import type { RequestRow } from '../record/request-row.ts'
import { isCancelled, isInWindow, type RunWindow } from './run-window.ts'

/**
 * How often the load swung independently inside the window (`loadSwings` of the requests in flight at each intended send). `all` are the
 * run's rows in order of intended send, those outside the window too: they are in flight beside the others. Null where the rows do
 * not say when they began and ended, as in some imports.
 */
export function runSwings(all: readonly RequestRow[], window: RunWindow): number | null {
  const sent = all.filter((row) => row.planned_ms !== null && row.outcome !== 'unsent')
  if (!sent.some((row) => lastedMs(row) !== null)) return null
  const first = sent[0]?.planned_ms ?? null
  // An import without starts has all of them at one moment.
  if (sent.length > 1 && sent.every((row) => row.planned_ms === first)) return null
  const startsMs = Float64Array.from(sent, (row) => row.planned_ms as number)
  const endsMs = Float64Array.from(sent, (row) => (row.planned_ms as number) + (lastedMs(row) ?? 0))
  const inFlight = inFlightAtArrivals(startsMs, endsMs)
  return loadSwings(inFlight.filter((_, at) => isInWindow(sent[at] as RequestRow, window)))
}

function lastedMs(row: RequestRow): number | null {
  if (row.outcome === 'censored' && !isCancelled(row)) return Number.POSITIVE_INFINITY
  return row.done_ms ?? row.e2e_ms
}
