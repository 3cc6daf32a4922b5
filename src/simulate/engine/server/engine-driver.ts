import type { Clock } from '../../../base/clock.ts'
import type {
  AcceptedRequest,
  Engine,
  EngineEvent,
  EngineRequest,
  SubmitResult,
} from '../engine-interface.ts'

/** What becomes of one request, told in order. */
export interface RequestListener {
  onTokens(count: number, atMs: number): void
  /** The last word about the request. */
  onFinished(event: Extract<EngineEvent, { kind: 'finished' }>): void
}

/**
 * A timer of whole milliseconds typically fires 0.15 ms late: it is set at least this much early, and what is left is spent
 * turning the loop, which still serves every socket.
 */
const marginMs = 0.5

/**
 * Runs an engine in real time. While a step is under way the loop sleeps until shortly before its end and then spins, so that
 * tokens leave within microseconds of their time; with nothing under way there is no timer at all. The engine reckons
 * its steps from each other, not from when it was woken: being late once makes nothing after it later.
 */
export class EngineDriver {
  private readonly engine: Engine
  private readonly clock: Clock
  private readonly onEvent: (event: EngineEvent) => void
  private readonly requests = new Map<
    string | number,
    { accepted: AcceptedRequest; listener: RequestListener }
  >()
  private timer: NodeJS.Timeout | null = null
  private immediate: NodeJS.Immediate | null = null
  private stopped = false
  private readonly turn = (): void => this.wake()

  /** `onEvent` hears everything first, for metrics. */
  constructor(engine: Engine, clock: Clock, onEvent: (event: EngineEvent) => void) {
    this.engine = engine
    this.clock = clock
    this.onEvent = onEvent
  }

  submit(request: EngineRequest, listener: RequestListener): SubmitResult {
    const result = this.engine.submit(request, this.clock.nowMs())
    if (result.kind === 'accepted') this.requests.set(request.id, { accepted: result, listener })
    this.arm()
    return result
  }

  /** Nothing more is told of the request; the engine lets go of it at the end of the running step. */
  abort(id: string | number): void {
    const request = this.requests.get(id)
    if (request === undefined) return
    this.requests.delete(id)
    this.engine.abort(request.accepted, this.clock.nowMs())
    this.arm()
  }

  stop(): void {
    this.stopped = true
    this.requests.clear()
    this.disarm()
  }

  private disarm(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    if (this.immediate !== null) clearImmediate(this.immediate)
    this.timer = null
    this.immediate = null
  }

  private arm(): void {
    this.disarm()
    const wakeMs = this.stopped ? null : this.engine.nextWakeMs()
    if (wakeMs === null) return
    const delayMs = wakeMs - this.clock.nowMs()
    if (delayMs >= marginMs + 1) this.timer = setTimeout(this.turn, Math.floor(delayMs - marginMs))
    else this.immediate = setImmediate(this.turn)
  }

  private wake(): void {
    const wakeMs = this.engine.nextWakeMs()
    const nowMs = this.clock.nowMs()
    if (wakeMs !== null && nowMs >= wakeMs) this.tell(this.engine.advance(nowMs))
    this.arm()
  }

  private tell(events: readonly EngineEvent[]): void {
    // A listener may submit or abort, which may put the engine on to its other array of events: these stay as they are.
    for (const event of events) {
      this.onEvent(event)
      const listener = this.requests.get(event.id)?.listener
      if (listener === undefined) continue
      if (event.kind === 'tokens') listener.onTokens(event.count, event.atMs)
      else if (event.kind === 'finished') {
        this.requests.delete(event.id)
        listener.onFinished(event)
      }
    }
  }
}
