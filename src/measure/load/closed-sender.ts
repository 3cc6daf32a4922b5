import { type BodyChunk, bodyAt, bodyCount } from './body-chunk.ts'
import { type Departure, openFlight, type Sender, type SenderDeps } from './flight.ts'
import { counterOf, noteRequest } from './ledger.ts'
import type { RunSpec, StopReason, WorkerShare } from './thread-messages.ts'

interface Waiting {
  readonly slot: number
  readonly index: number
  readonly freeMs: number
}

/**
 * Runs a worker's slots of a closed loop. A slot that becomes free takes the next index of the whole run (one atomic counter, so
 * the order is the same for any number of workers); its intended send is that moment plus the request's think time. A body that
 * has not arrived from the main thread yet is waited for, and the wait is lag.
 */
export function closedSender(
  share: Extract<WorkerShare, { kind: 'closed' }>,
  spec: Pick<RunSpec, 'sendEndMs' | 'drainMs'>,
  deps: SenderDeps,
  onEnd: () => void,
): Sender & { addBodies(chunk: BodyChunk): void } {
  const { clock, timers, ledger } = deps
  const flight = openFlight(deps)
  const chunks: BodyChunk[] = []
  const { turns } = share
  /** The next turn of each slot that is within a session. */
  const following = new Map<number, number>()
  const bodiless = new Map<number, Waiting>()
  /** Slots in their think time, or before their first send. */
  const pausing = new Map<number, { readonly timer: unknown; readonly drop: (reason: StopReason) => void }>()
  /** Slots that may still send, or have a request in flight. */
  let active = share.slots.length
  let begun = false
  let sending = true
  let ended = false
  let endTimer: unknown = null
  let deadline: unknown = null

  function take(slot: number, freeMs: number): void {
    if (!sending || (spec.sendEndMs !== null && freeMs >= spec.sendEndMs)) return retire()
    const index = nextIndex(slot)
    if (share.count !== null && index >= share.count) return retire()
    const waiting = { slot, index, freeMs }
    const chunk = chunks.find(({ first, offsets }) => index >= first && index < first + offsets.length - 1)
    if (chunk === undefined) bodiless.set(index, waiting)
    else schedule(waiting, chunk)
  }

  /** The next turn of the slot's session, else the first of a new one. */
  function nextIndex(slot: number): number {
    const index = following.get(slot) ?? Atomics.add(ledger.counters, counterOf.next, turns)
    if (index % turns === 0) {
      for (let turn = 0; turn < turns; turn++) noteRequest(ledger, index + turn, Number.NaN, Number.NaN)
    }
    const isLast = (index + 1) % turns === 0 || (share.count !== null && index + 1 >= share.count)
    if (isLast) following.delete(slot)
    else following.set(slot, index + 1)
    return index
  }

  function schedule({ slot, index, freeMs }: Waiting, chunk: BodyChunk): void {
    const position = index - chunk.first
    const plannedMs = freeMs + chunk.thinkTimeMs[position]!
    noteRequest(ledger, index, plannedMs, Number.NaN)
    if (spec.sendEndMs !== null && plannedMs >= spec.sendEndMs) {
      deps.finish({ index, unsent: 'window_ended', plannedMs })
      return retire()
    }
    pause(
      slot,
      plannedMs,
      () =>
        send(slot, {
          index,
          plannedMs,
          body: bodyAt(chunk, position),
          headers: chunk.headers?.[position],
          cancelAfterMs: chunk.cancelAfterMs[position]!,
        }),
      (reason) => deps.finish({ index, unsent: reason, plannedMs }),
    )
  }

  /** Waits until `untilMs`, then acts; a timer that fires early (they are whole milliseconds) waits again. */
  function pause(slot: number, untilMs: number, act: () => void, drop: (reason: StopReason) => void): void {
    const waitMs = untilMs - clock.nowMs()
    if (waitMs <= 0) return act()
    const timer = timers.setTimeout(() => {
      pausing.delete(slot)
      pause(slot, untilMs, act, drop)
    }, Math.ceil(waitMs))
    pausing.set(slot, { timer, drop })
  }

  function send(slot: number, request: Departure): void {
    const { index, plannedMs } = request
    noteRequest(ledger, index, plannedMs, clock.nowMs())
    flight.send(request, (fields) => {
      take(slot, fields.done_ms === null ? clock.nowMs() : plannedMs + fields.done_ms)
    })
  }

  function retire(): void {
    active--
    if (active > 0 || ended) return
    ended = true
    for (const handle of [endTimer, deadline]) if (handle !== null) timers.clearTimeout(handle)
    onEnd()
  }

  function startDrain(): void {
    if (spec.drainMs === null) return
    if (deadline !== null) timers.clearTimeout(deadline)
    // What has arrived by then is read first: it is answered, not cut.
    deadline = timers.setTimeout(() => deps.soon(() => cut('drain_ended')), spec.drainMs)
  }

  function stop(reason: StopReason): void {
    sending = false
    startDrain()
    const paused = [...pausing.values()]
    const unserved = [...bodiless.values()]
    pausing.clear()
    bodiless.clear()
    if (!begun) share.slots.forEach(retire)
    begun = true
    for (const { timer, drop } of paused) {
      timers.clearTimeout(timer)
      drop(reason)
      retire()
    }
    for (const { index, freeMs } of unserved) {
      deps.finish({ index, unsent: reason, plannedMs: freeMs })
      retire()
    }
  }

  function cut(reason: StopReason): void {
    if (ended) return
    stop(reason)
    flight.censor()
  }

  return {
    begin() {
      if (begun) return
      begun = true
      if (spec.sendEndMs !== null) {
        endTimer = timers.setTimeout(() => stop('window_ended'), spec.sendEndMs - clock.nowMs())
      }
      share.slots.forEach((slot, i) => {
        const startMs = share.startMs[i]!
        pause(
          slot,
          startMs,
          () => take(slot, startMs),
          () => undefined,
        )
      })
    },
    tick() {},
    addBodies(chunk) {
      chunks.push(chunk)
      // Indexes are taken in order: once the run is past a chunk, only slots of this worker that hold one of its bodies need it.
      const next = Atomics.load(ledger.counters, counterOf.next)
      const first = Math.min(next, ...bodiless.keys(), ...following.values())
      while (chunks.length > 1 && chunks[0]!.first + bodyCount(chunks[0]!) <= first) chunks.shift()
      for (const [index, waiting] of bodiless) {
        if (index < chunk.first || index >= chunk.first + bodyCount(chunk)) continue
        bodiless.delete(index)
        schedule(waiting, chunk)
      }
    },
    stop,
    cut: () => cut('interrupted'),
  }
}
