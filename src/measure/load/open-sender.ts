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
  const n = share.indexes.length
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
    while (cursor < n && flight.size < limit) {
      const plannedMs = share.plannedMs[cursor]!
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
      send(cursor++, plannedMs, nowMs)
    }
    pumping = false
    settle()
  }

  function send(position: number, plannedMs: number, nowMs: number): void {
    const index = share.indexes[position]!
    noteRequest(deps.ledger, index, plannedMs, nowMs)
    const body = bodyAt(share.bodies, position)
    const cancelAfterMs = share.bodies.cancelAfterMs[position]!
    flight.send({ index, plannedMs, body, cancelAfterMs }, limited ? pump : settle)
  }
  const limited = Number.isFinite(limit)

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
    if (ended || cursor < n) return
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
    deadline = timers.setTimeout(() => cut('drain_ended'), Math.max(0, untilMs - clock.nowMs()))
  }

  function dropRest(reason: StopReason): void {
    while (cursor < n) {
      const position = cursor++
      deps.finish({
        index: share.indexes[position]!,
        unsent: reason,
        plannedMs: share.plannedMs[position]!,
      })
    }
  }

  function cut(reason: StopReason): void {
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
