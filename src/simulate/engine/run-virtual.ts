import type { Engine, EngineEvent, EngineRequest } from './engine-interface.ts'
import type { FinishReason, RequestFacts, RequestId } from './request-state.ts'
import { segmentEndMs } from './step-log.ts'

/** What became of one request in virtual time. */
export interface VirtualResult {
  readonly id: RequestId
  readonly arrivalMs: number
  /** `refused` at intake, else how it left the engine. */
  readonly outcome: 'refused' | FinishReason
  /** Why, where it was refused or ended with an error. */
  readonly message: string | null
  /** When it left; its arrival, where it was refused. */
  readonly endMs: number
  /** Null where it was refused. */
  readonly facts: RequestFacts | null
  /** Time of each output token, where they were asked for. */
  readonly tokenTimesMs: Float64Array | null
}

export interface VirtualOptions {
  /** Requests by arrival, ascending. May be endless when `untilMs` is given. */
  readonly arrivals: Iterable<EngineRequest>
  /** Called for each result as it comes; a request that it returns joins the arrivals (a closed loop). */
  readonly onResult?: (result: VirtualResult) => EngineRequest | null | undefined
  readonly keepTokenTimes?: boolean
  /** Nothing is submitted or advanced beyond this; requests still inside have no result. */
  readonly untilMs?: number
}

/**
 * Runs an engine in virtual time and returns the results in the order in which they came. An arrival at the very moment at which
 * a step ends is in time for the next step.
 */
export function runVirtual(engine: Engine, options: VirtualOptions): VirtualResult[] {
  const results: VirtualResult[] = []
  const untilMs = options.untilMs ?? Number.POSITIVE_INFINITY
  const later: EngineRequest[] = []
  const source = options.arrivals[Symbol.iterator]()
  let planned = source.next()

  function keep(result: VirtualResult): void {
    results.push(result)
    const more = options.onResult?.(result)
    if (more === null || more === undefined) return
    let at = later.length
    while (at > 0 && (later[at - 1] as EngineRequest).arrivalMs <= more.arrivalMs) at -= 1
    later.splice(at, 0, more)
  }

  for (;;) {
    const plannedMs = planned.done === true ? Number.POSITIVE_INFINITY : planned.value.arrivalMs
    const laterMs = later.at(-1)?.arrivalMs ?? Number.POSITIVE_INFINITY
    const arrivalMs = Math.min(plannedMs, laterMs)
    const wakeMs = engine.nextWakeMs() ?? Number.POSITIVE_INFINITY
    const nowMs = Math.min(arrivalMs, wakeMs)
    if (nowMs > untilMs || nowMs === Number.POSITIVE_INFINITY) return results
    if (arrivalMs > wakeMs) {
      tell(engine.advance(nowMs))
      continue
    }
    let request: EngineRequest
    if (planned.done !== true && plannedMs <= laterMs) {
      request = planned.value
      planned = source.next()
    } else request = later.pop() as EngineRequest
    const answer = engine.submit(request, nowMs)
    if (answer.kind === 'accepted') continue
    keep({
      id: request.id,
      arrivalMs: request.arrivalMs,
      outcome: 'refused',
      message: answer.message,
      endMs: nowMs,
      facts: null,
      tokenTimesMs: null,
    })
  }

  function tell(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'finished') continue
      const { facts } = event
      keep({
        id: event.id,
        arrivalMs: facts.arrivalMs,
        outcome: event.reason,
        message: event.message,
        endMs: event.atMs,
        facts,
        tokenTimesMs: options.keepTokenTimes === true ? tokenTimesMs(engine, facts) : null,
      })
    }
  }
}

/** The time of each token of a request whose `finished` event is at hand. */
export function tokenTimesMs(engine: Engine, facts: RequestFacts): Float64Array {
  const times = new Float64Array(facts.outputTokens)
  let at = 0
  engine.forEachTokenRun(facts, (originMs, baseMs, slopeMs, steps) => {
    for (let step = 1; step <= steps; step++) times[at++] = segmentEndMs(originMs, baseMs, slopeMs, step)
  })
  return times
}
