import { countBelow } from '../../stats/count-below.ts'
import { inFlightAtArrivals, loadSwings } from '../../stats/swings.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { Rows } from '../record/rows.ts'
import { isCancelled, type RunWindow } from './run-window.ts'

/**
 * How often the load swung independently inside the window (`loadSwings` of the requests in flight at each intended send). `all` are the
 * run's rows in order of intended send, those outside the window too: they are in flight beside the others. Null where the rows do
 * not say when they began and ended, as in some imports.
 */
export function runSwings(all: Rows, window: RunWindow): number | null {
  const sent = all.filter((row) => row.planned_ms !== null && row.outcome !== 'unsent')
  if (!sent.some((row) => lastedMs(row) !== null)) return null
  const first = sent.at(0)?.planned_ms ?? null
  // An import without starts has all of them at one moment.
  if (sent.length > 1 && sent.every((row) => row.planned_ms === first)) return null
  const startsMs = new Float64Array(sent.length)
  const endsMs = new Float64Array(sent.length)
  for (const [at, row] of sent.entries()) {
    startsMs[at] = row.planned_ms as number
    endsMs[at] = (row.planned_ms as number) + (lastedMs(row) ?? 0)
  }
  const inFlight = inFlightAtArrivals(startsMs, endsMs)
  // Those in the window stand together.
  return loadSwings(
    inFlight.subarray(countBelow(startsMs, window.startMs), countBelow(startsMs, window.endMs)),
  )
}

function lastedMs(row: RequestRow): number | null {
  if (row.outcome === 'censored' && !isCancelled(row)) return Number.POSITIVE_INFINITY
  return row.done_ms ?? row.e2e_ms
}
