import type { ResponseFields } from '../wire/response-fields.ts'
import { counterOf, type Ledger } from './ledger.ts'
import type { Finished, StopReason } from './thread-messages.ts'

/** What the senders need of their thread. */
export interface SenderDeps {
  readonly clock: { nowMs(): number }
  readonly timers: {
    setTimeout(callback: () => void, ms: number): unknown
    clearTimeout(handle: unknown): void
  }
  /** Runs `callback` once the reads that are waiting have been served. */
  readonly soon: (callback: () => void) => void
  /** Sends one request; `onFinish` comes exactly once. */
  readonly start: (
    index: number,
    plannedMs: number,
    content: Pick<Departure, 'body' | 'headers'>,
    onFinish: (fields: ResponseFields) => void,
  ) => { abort(why: 'censored' | 'cancelled'): void }
  readonly finish: (finished: Finished) => void
  readonly ledger: Ledger
}

/** A request that is sent now. */
export interface Departure {
  readonly index: number
  readonly plannedMs: number
  readonly body: Buffer
  /** Headers of this request alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** When the client hangs up, ms after the intended send; NaN: it waits. */
  readonly cancelAfterMs: number
}

/** The requests that a worker has sent and that have not ended. */
export interface Flight {
  readonly size: number
  /** `afterwards` runs once the transport is done with the request, never inside this call. */
  send(request: Departure, afterwards: (fields: ResponseFields) => void): void
  /** Ends each with the outcome `censored`. */
  censor(): void
}

export function openFlight(deps: SenderDeps): Flight {
  const { counters } = deps.ledger
  const running = new Map<number, ReturnType<SenderDeps['start']>>()
  let size = 0
  return {
    get size() {
      return size
    },
    send(request, afterwards) {
      const { index, plannedMs, cancelAfterMs } = request
      let hangUp: unknown = null
      let started = false
      let over = false
      size++
      Atomics.add(counters, counterOf.sent, 1)
      Atomics.add(counters, counterOf.inFlight, 1)
      const exchange = deps.start(index, plannedMs, request, (fields) => {
        if (over) return
        over = true
        size--
        Atomics.sub(counters, counterOf.inFlight, 1)
        running.delete(index)
        if (hangUp !== null) deps.timers.clearTimeout(hangUp)
        deps.finish({ index, fields })
        if (started) queueMicrotask(() => afterwards(fields))
        else deps.soon(() => afterwards(fields))
      })
      started = true
      if (over) return
      running.set(index, exchange)
      if (Number.isNaN(cancelAfterMs)) return
      const waitMs = plannedMs + cancelAfterMs - deps.clock.nowMs()
      hangUp = deps.timers.setTimeout(() => exchange.abort('cancelled'), Math.max(0, Math.ceil(waitMs)))
    },
    censor() {
      // An entry that leaves the map while it is walked is not met again.
      for (const exchange of running.values()) exchange.abort('censored')
    },
  }
}

/** How a worker's part of a run goes on and ends; the same for both kinds of loop. */
export interface Sender {
  /** From now on the plan's times count. */
  begin(): void
  /** Something may be due. */
  tick(): void
  /** Sends nothing more; what was not sent ends as `unsent` for this reason, what is in flight drains. */
  stop(reason: StopReason): void
  /** Ends the drain now. */
  cut(): void
}
