import { iact } from './autocorrelation.ts'
import { longestBatchTime } from './batch-means.ts'
import { mean } from './describe.ts'

/** Turnovers (as many arrivals as are in flight) at the beginning of a series that may belong to filling an empty server. */
const fillingTurnovers = 2

/**
 * How often the load of a run swung independently: n ÷ τ of the requests in flight as each arrival finds them, τ by Sokal's
 * window or by batch means, whichever is larger, without the first two turnovers (at most a quarter). A constant load swings with every
 * request. Null for fewer than two.
 *
 * The requests in flight carry a server's memory: a run is long where they came and went many times. Its latencies alone do not tell
 * it: of a queue that fills once in minutes, a run of seconds sees nothing.
 */
export function loadSwings(inFlightAtArrival: Int32Array | Float64Array): number | null {
  const n = inFlightAtArrival.length
  if (n < 2) return null
  const filling = Math.min(n >> 2, Math.ceil(fillingTurnovers * (mean(inFlightAtArrival) ?? 0)))
  const kept = inFlightAtArrival.subarray(filling)
  const tau = Math.max(1, iact(kept).tau ?? 1, longestBatchTime(kept))
  return n / tau
}

/**
 * Requests in flight as each arrival finds them, arrivals ascending: how many came before and have not ended. `endMs` belongs to the
 * arrival of the same index; Infinity for one that never ended.
 */
export function inFlightAtArrivals(arrivalMs: ArrayLike<number>, endMs: ArrayLike<number>): Int32Array {
  const ends = Float64Array.from(endMs).sort()
  let ended = 0
  return Int32Array.from({ length: arrivalMs.length }, (_, i) => {
    while (ended < ends.length && (ends[ended] as number) <= (arrivalMs[i] as number)) ended++
    return i - ended
  })
}
