/**
 * What the threads of a run share: the next index of a closed loop, live counters, and when each request was meant to be and was
 * sent, so that the main thread can still write a row for every request of a worker that died.
 */
export interface Ledger {
  readonly buffer: SharedArrayBuffer
  /** `counterOf` names the cells. */
  readonly counters: Int32Array
  /** Request i is at i mod length. Intended and actual send, ms after the origin; NaN until each is known. */
  readonly plannedMs: Float64Array
  readonly sentMs: Float64Array
}

export const counterOf = {
  /** The next index that a free slot takes. */
  next: 0,
  sent: 1,
  inFlight: 2,
} as const

const counterBytes = 16

/** `size`: the requests of an open loop; in a closed one more than can be in flight or on their way to the main thread. */
export function createLedger(size: number): Ledger {
  const ledger = openLedger(new SharedArrayBuffer(counterBytes + 16 * size))
  ledger.plannedMs.fill(Number.NaN)
  ledger.sentMs.fill(Number.NaN)
  return ledger
}

/** The ledger in a buffer that came from another thread. */
export function openLedger(buffer: SharedArrayBuffer): Ledger {
  const size = (buffer.byteLength - counterBytes) / 16
  return {
    buffer,
    counters: new Int32Array(buffer, 0, counterBytes / 4),
    plannedMs: new Float64Array(buffer, counterBytes, size),
    sentMs: new Float64Array(buffer, counterBytes + 8 * size, size),
  }
}

/** Notes how far request `index` has come; NaN for what is not known yet. */
export function noteRequest(ledger: Ledger, index: number, plannedMs: number, sentMs: number): void {
  const at = index % ledger.sentMs.length
  ledger.plannedMs[at] = plannedMs
  ledger.sentMs[at] = sentMs
}
