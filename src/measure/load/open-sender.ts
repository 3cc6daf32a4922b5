import { bodyAt } from './body-chunk.ts'
import { openFlight, type Sender, type SenderDeps } from './flight.ts'
import { noteRequest } from './ledger.ts'
import type { RunSpec, StopReason, WorkerShare } from './thread-messages.ts'

/** The last stretch before a send is waited out in a loop: the wake-ups of the metronome are exact to about this. */
const spinMs = 0.05
/** After so long in sends alone (a burst), the reads that wait get their turn. */
const sliceMs = 1

/**
 * Sends each request of an open-loop share at its time, whatever the server does. Late is late: a request whose time has passed
 * (the thread was busy, or all connections were) is sent as soon as can be and keeps its intended time.
 */
export function openSender(
  share: Extract<WorkerShare, { kind: 'open' }>,
  spec: Pick<RunSpec, 'maxInFlight' | 'sendEndMs' | 'drainMs'>,
  deps: SenderDeps,
  onEnd: () => void,
): Sender {
  const { clock, timers } = deps
  const limit = spec.maxInFlight ?? Number.POSITIVE_INFINITY
  const { turns } = share
  const total = share.indexes.length
  /** Sessions; without turns each request is its own. */
  const n = Math.ceil(total / turns)
  /** Turns whose pause runs, by position. */
  const pausing = new Map<number, unknown>()
  /** Turns whose time has come while no connection is free. */
  const due: { readonly position: number; readonly plannedMs: number }[] = []
  let dropping: StopReason | null = null
  /** Sent, and what comes after it not yet seen to: those in flight, and those that have just ended. */
  let underway = 0
  const flight = openFlight(deps)
  let cursor = 0
  let begun = false
  let ended = false
  let pumping = false
  let timer: unknown = null
  let deadline: unknown = null

  function pump(): void {
    if (!begun || pumping || ended) return
    pumping = true
    const sliceEndMs = clock.nowMs() + sliceMs
    while (due.length > 0 && flight.size < limit) {
      const { position, plannedMs } = due.shift()!
      send(position, plannedMs, clock.nowMs())
    }
    while (cursor < n && flight.size < limit) {
      const plannedMs = share.plannedMs[cursor * turns]!
      let nowMs = clock.nowMs()
      if (plannedMs - nowMs > spinMs) {
        wakeAfter(plannedMs - nowMs)
        break
      }
      if (nowMs > sliceEndMs) {
        deps.soon(pump)
        break
      }
      while (nowMs < plannedMs) nowMs = clock.nowMs()
      send(cursor++ * turns, plannedMs, nowMs)
    }
    pumping = false
    settle()
  }

  function send(position: number, plannedMs: number, nowMs: number): void {
    const index = share.indexes[position]!
    noteRequest(deps.ledger, index, plannedMs, nowMs)
    const body = bodyAt(share.bodies, position)
    const cancelAfterMs = share.bodies.cancelAfterMs[position]!
    const headers = share.bodies.headers?.[position]
    underway++
    flight.send({ index, plannedMs, body, headers, cancelAfterMs }, (fields) => {
      underway--
      if (turns > 1) follow(position, fields.done_ms === null ? clock.nowMs() : plannedMs + fields.done_ms)
      if (limited) pump()
      else settle()
    })
  }
  const limited = Number.isFinite(limit)

  /** The session's next turn comes its pause after the answer, whatever became of that. */
  function follow(position: number, freeMs: number): void {
    const next = position + 1
    if (next % turns === 0 || next >= total) return
    const plannedMs = freeMs + share.bodies.thinkTimeMs[next]!
    const over = spec.sendEndMs !== null && plannedMs >= spec.sendEndMs
    if (dropping !== null || over) return dropTurns(next, dropping ?? 'window_ended')
    const timer = timers.setTimeout(
      () => {
        pausing.delete(next)
        due.push({ position: next, plannedMs })
        pump()
      },
      Math.max(0, Math.ceil(plannedMs - clock.nowMs())),
    )
    pausing.set(next, timer)
  }

  /** The turn at `position` and those behind it in its session are never sent. */
  function dropTurns(position: number, reason: StopReason): void {
    const end = Math.min(total, position - (position % turns) + turns)
    for (let at = position; at < end; at++) {
      const plannedMs = share.plannedMs[at]!
      deps.finish({
        index: share.indexes[at]!,
        unsent: reason,
        plannedMs: Number.isNaN(plannedMs) ? null : plannedMs,
      })
    }
  }

  // The metronome wakes this thread more exactly; this timer, good to a millisecond, is there should it not.
  function wakeAfter(ms: number): void {
    timer ??= timers.setTimeout(
      () => {
        timer = null
        pump()
      },
      Math.min(Math.ceil(ms) + 1, 2 ** 30),
    )
  }

  function settle(): void {
    if (ended || cursor < n || pausing.size > 0 || due.length > 0 || underway > flight.size) return
    if (flight.size === 0) {
      ended = true
      for (const handle of [timer, deadline]) if (handle !== null) timers.clearTimeout(handle)
      onEnd()
    } else if (deadline === null && spec.drainMs !== null) {
      startDrain(Math.max(clock.nowMs(), spec.sendEndMs ?? 0) + spec.drainMs)
    }
  }

  function startDrain(untilMs: number): void {
    if (deadline !== null) timers.clearTimeout(deadline)
    deadline = timers.setTimeout(
      // What has arrived by then is read first: it is answered, not cut.
      () => deps.soon(() => cut('drain_ended')),
      Math.max(0, untilMs - clock.nowMs()),
    )
  }

  function dropRest(reason: StopReason): void {
    dropping = reason
    while (cursor < n) dropTurns(cursor++ * turns, reason)
    for (const [position, handle] of pausing) {
      timers.clearTimeout(handle)
      dropTurns(position, reason)
    }
    pausing.clear()
    for (const { position } of due.splice(0)) dropTurns(position, reason)
  }

  function cut(reason: StopReason): void {
    if (ended) return
    dropRest(reason)
    flight.censor()
    settle()
  }

  return {
    begin() {
      begun = true
      if (spec.sendEndMs !== null && spec.drainMs !== null) startDrain(spec.sendEndMs + spec.drainMs)
      pump()
    },
    tick: pump,
    stop(reason) {
      begun = true
      dropRest(reason)
      if (spec.drainMs !== null) startDrain(clock.nowMs() + spec.drainMs)
      settle()
    },
    cut: () => cut('interrupted'),
  }
}
