import { randomStream, type Random } from '../../base/random.ts'
import { createEngine } from '../engine/engine.ts'
import { tokenTimesMs } from '../engine/run-virtual.ts'
import type { AcceptedRequest, EngineEvent } from '../engine/engine-interface.ts'
import type { RequestFacts } from '../engine/request-state.ts'
import { faultTimeline } from '../engine/fault-timeline.ts'
import { FleetAccount, type LossKind } from './fleet-account.ts'
import type { FleetSpec, ReplicaGroup } from './fleet-spec.ts'
import { inFront, LiveRequests, pausing, Replica } from './replicas.ts'
import { createRouter, type Router } from './router.ts'
import { drawBackoff } from './scaler.ts'
import { openTraffic } from './traffic.ts'
import { Agenda, WakeQueue } from './wake-queue.ts'

/** What became of one request, for those who want every one of them. Times from 0 of the simulation. */
export interface FleetResult {
  /** From 0, in order of first arrival. */
  readonly number: number
  readonly sentMs: number
  /** When it was known: last token, refusal, loss. */
  readonly endMs: number
  readonly outcome: 'ok' | LossKind | 'censored'
  readonly replica: number | null
  readonly attempts: number
  readonly promptTokens: number
  readonly outputTokens: number
  readonly facts: RequestFacts | null
  readonly tokenTimesMs: Float64Array | null
}

/** What happens at a time, beside arrivals and what replicas do by themselves. */
type Duty =
  | { readonly kind: 'call'; readonly call: () => void }
  | { readonly kind: 'retry'; readonly slot: number }
  | { readonly kind: 'hang_up' | 'queue_timeout'; readonly slot: number; readonly use: number }

/**
 * The running simulation: arrivals, router, replicas, the line in front of them. What changes the set of replicas (autoscaler,
 * faults) is in fleet-control.ts.
 *
 * Of what falls on one moment: duties first, in the order in which they were put on the agenda; then arrivals; then replicas, by
 * their index. A step that ends at that moment has ended for all of them.
 */
export class FleetRun {
  readonly spec: FleetSpec
  readonly account: FleetAccount
  readonly replicas: Replica[] = []
  /** Those that serve, by index. */
  readonly ready: Replica[] = []
  nowMs = 0
  private readonly agenda = new Agenda<Duty>()
  private readonly wakes = new WakeQueue()
  private readonly live = new LiveRequests()
  private readonly router: Router
  private readonly backoffs: Random
  private readonly onResult: ((result: FleetResult) => void) | null
  private readonly keepTokenTimes: boolean
  /** Slots and their uses that wait in front, by turns: slot, use, slot, use, … */
  private line: number[] = []
  private lineStart = 0
  private waitingInFront = 0
  /** Periodic duties do not keep a simulation going. */
  private readonly untilMs: number

  constructor(spec: FleetSpec, onResult: ((result: FleetResult) => void) | null, keepTokenTimes: boolean) {
    this.spec = spec
    this.account = new FleetAccount(spec.objective, spec.windowMs, spec.durationMs, spec.groups.length)
    this.router = createRouter(spec.router, randomStream(spec.seed, 'router'))
    this.backoffs = randomStream(spec.seed, 'backoff')
    this.onResult = onResult
    this.keepTokenTimes = keepTokenTimes
    this.untilMs = spec.durationMs + spec.drainMs
    if (spec.router.signalEveryMs > 0) {
      this.every(spec.router.signalEveryMs, 0, () => this.router.look(this.ready))
    }
  }

  /** Calls at that time. */
  at(atMs: number, call: () => void): void {
    this.agenda.add(atMs, { kind: 'call', call })
  }

  /** Calls at `firstMs` and every `periodMs` after it while the simulation lasts. */
  every(periodMs: number, firstMs: number, call: () => void): void {
    let times = 0
    const again = (): void => {
      call()
      times += 1
      this.at(firstMs + times * periodMs, again)
    }
    this.at(firstMs, again)
  }

  run(): void {
    const traffic = openTraffic(this.spec.traffic, this.spec.seed, this.spec.durationMs)
    const { request } = traffic
    let more = traffic.next()
    for (;;) {
      const dutyMs = this.agenda.firstMs()
      const arrivalMs = more ? request.atMs : Number.POSITIVE_INFINITY
      const wakeMs = this.wakes.firstMs()
      const nextMs = Math.min(dutyMs, arrivalMs, wakeMs)
      if (nextMs > this.untilMs) break
      if (!more && this.live.used === 0 && nextMs > this.spec.durationMs) break
      this.nowMs = nextMs
      if (dutyMs === nextMs) this.fulfil(this.agenda.take())
      else if (arrivalMs === nextMs) {
        const slot = this.live.take()
        const { live } = this
        live.sentMs[slot] = arrivalMs
        live.attempt[slot] = 0
        live.number[slot] = this.account.arrived
        live.outputTokens[slot] = request.outputTokens
        live.affinity[slot] = request.affinity
        live.prompt[slot] = request.prompt
        this.account.arrive(arrivalMs)
        this.attempt(slot)
        more = traffic.next()
      } else this.wake(this.wakes.first())
    }
    this.nowMs = Math.min(this.untilMs, Math.max(this.nowMs, this.spec.durationMs))
    for (const slot of this.live.all()) {
      this.account.censor(this.live.sentMs[slot] as number)
      this.tell(slot, 'censored', null, null)
    }
  }

  private fulfil(duty: Duty): void {
    switch (duty.kind) {
      case 'call':
        return duty.call()
      case 'retry':
        return this.attempt(duty.slot)
      case 'queue_timeout':
        if (this.live.use[duty.slot] !== duty.use || this.live.replica[duty.slot] !== inFront) return
        this.waitingInFront -= 1
        return this.lose(duty.slot, 'queue_timeout')
      default:
        if (this.live.use[duty.slot] !== duty.use) return
        return this.hangUp(duty.slot)
    }
  }

  private attempt(slot: number): void {
    const { live, nowMs } = this
    const { admission, clients } = this.spec
    live.attempt[slot] = (live.attempt[slot] as number) + 1
    live.attemptMs[slot] = nowMs
    live.use[slot] = (live.use[slot] as number) + 1
    live.replica[slot] = inFront
    this.account.attempts += 1
    const use = live.use[slot] as number
    if (clients.timeoutMs !== null) {
      this.agenda.add(nowMs + clients.timeoutMs, { kind: 'hang_up', slot, use })
    }
    if (this.waitingInFront === 0 && this.dispatch(slot)) return
    if (admission.maxQueue !== null && this.waitingInFront >= admission.maxQueue) {
      this.lose(slot, 'shed')
      return
    }
    this.line.push(slot, use)
    this.waitingInFront += 1
    if (admission.queueTimeoutMs !== null) {
      this.agenda.add(nowMs + admission.queueTimeoutMs, { kind: 'queue_timeout', slot, use })
    }
  }

  /** Sends it to a replica that may take it; false where there is none. */
  private dispatch(slot: number): boolean {
    const cap = this.spec.admission.maxInFlightPerReplica
    let targets: readonly Replica[] = this.ready
    if (cap !== null) targets = targets.filter((replica) => replica.inFlight < cap)
    if (targets.length === 0) return false
    const { live, nowMs } = this
    const replica = this.router.choose(targets, live.affinity[slot] as number) as Replica
    const { engine } = replica
    if (engine === null) throw new RangeError('a replica that serves has an engine')
    const answer = engine.submit(
      {
        id: slot,
        arrivalMs: nowMs,
        promptTokenIds: live.prompt[slot] as (typeof live.prompt)[number],
        outputTokens: live.outputTokens[slot] as number,
      },
      nowMs,
    )
    if (answer.kind === 'refused') {
      this.lose(slot, answer.code === 'shed' ? 'shed' : 'refused')
      this.wakes.set(replica.index, engine.nextWakeMs() ?? Number.POSITIVE_INFINITY)
      return true
    }
    live.replica[slot] = replica.index
    live.accepted[slot] = answer
    replica.inFlight += 1
    this.wakes.set(replica.index, engine.nextWakeMs() ?? Number.POSITIVE_INFINITY)
    return true
  }

  /** Whoever is first in line, as long as a replica takes them. */
  serveLine(): void {
    const { live, line } = this
    while (this.waitingInFront > 0 && this.lineStart < line.length) {
      const slot = line[this.lineStart] as number
      const use = line[this.lineStart + 1] as number
      if (live.use[slot] === use && live.replica[slot] === inFront) {
        if (!this.dispatch(slot)) break
        this.waitingInFront -= 1
      }
      this.lineStart += 2
    }
    if (this.lineStart > 4096 && this.lineStart * 2 > line.length) {
      this.line = line.slice(this.lineStart)
      this.lineStart = 0
    }
  }

  private wake(index: number): void {
    const replica = this.replicas[index] as Replica
    this.settle(replica)
  }

  /** Brings a replica up to now. */
  settle(replica: Replica): void {
    const { engine } = replica
    if (engine === null) return
    const events = engine.advance(this.nowMs)
    let freed = false
    for (let i = 0; i < events.length; i++) freed = this.hear(replica, events[i] as EngineEvent) || freed
    this.wakes.set(
      replica.index,
      replica.engine === null ? Number.POSITIVE_INFINITY : (engine.nextWakeMs() ?? Number.POSITIVE_INFINITY),
    )
    if (freed && this.waitingInFront > 0) this.serveLine()
  }

  private hear(replica: Replica, event: EngineEvent): boolean {
    if (event.kind !== 'finished') return false
    replica.inFlight -= 1
    if (replica.inFlight === 0 && replica.state === 'draining') this.retire(replica)
    if (event.reason === 'abort') return true
    const slot = event.id as number
    if (event.reason === 'error') {
      this.lose(slot, 'failed')
      return true
    }
    const { facts } = event
    const { live } = this
    const sentMs = live.sentMs[slot] as number
    const scheduledMs = facts.firstScheduledMs
    this.account.answer(
      sentMs,
      facts.firstTokenMs - sentMs,
      facts.lastTokenMs - sentMs,
      facts.outputTokens,
      scheduledMs - sentMs,
      facts.preemptions,
      replica.groupIndex,
    )
    if (this.onResult !== null) {
      const times =
        this.keepTokenTimes && replica.engine !== null ? tokenTimesMs(replica.engine, facts) : null
      this.tell(slot, 'ok', facts, times)
    }
    live.release(slot)
    return true
  }

  private hangUp(slot: number): void {
    const index = this.live.replica[slot] as number
    if (index === inFront) this.waitingInFront -= 1
    else {
      const replica = this.replicas[index] as Replica
      // What ended at this very moment has ended in time.
      const use = this.live.use[slot]
      this.settle(replica)
      if (this.live.use[slot] !== use) return
      replica.engine?.abort(this.live.accepted[slot] as AcceptedRequest, this.nowMs)
      this.settle(replica)
    }
    this.lose(slot, 'client_timeout')
  }

  /** The replica and all that is in it are gone. */
  kill(replica: Replica): void {
    if (replica.engine === null || replica.state === 'gone') return
    this.settle(replica)
    const lost = this.live.of(replica.index)
    replica.engine = null
    replica.inFlight = 0
    this.retire(replica)
    for (const slot of lost) this.lose(slot, 'replica_lost')
  }

  /** Takes nothing new; gone when it is empty. */
  drain(replica: Replica): void {
    if (replica.state === 'gone' || replica.state === 'draining') return
    this.leaveReady(replica)
    replica.state = 'draining'
    if (replica.inFlight === 0) this.retire(replica)
  }

  private retire(replica: Replica): void {
    this.leaveReady(replica)
    replica.state = 'gone'
    replica.goneMs = this.nowMs
    this.wakes.set(replica.index, Number.POSITIVE_INFINITY)
  }

  private leaveReady(replica: Replica): void {
    const at = this.ready.indexOf(replica)
    if (at >= 0) this.ready.splice(at, 1)
  }

  /** A new replica, which serves from `readyMs` on; infinite: when `serve` is called. */
  order(group: ReplicaGroup, readyMs: number): Replica {
    const replica = new Replica(this.wakes.add(), group, this.spec.groups.indexOf(group), this.nowMs)
    this.replicas.push(replica)
    if (readyMs <= this.nowMs) this.serve(replica)
    else if (readyMs < Number.POSITIVE_INFINITY) this.at(readyMs, () => this.serve(replica))
    return replica
  }

  /** A started replica begins to serve. */
  serve(replica: Replica): void {
    if (replica.state !== 'starting' && replica.state !== 'warm') return
    const faults = this.spec.faults.flatMap((one) =>
      one.kind === 'engine' && one.replica === replica.index ? [one.fault] : [],
    )
    const timeline = faultTimeline(faults, randomStream(this.spec.seed, 'faults', replica.index))
    replica.engine = createEngine(
      replica.group.engine,
      randomStream(this.spec.seed, 'engine', replica.index),
      {
        events: 'requests',
        reuse: this.onResult === null,
        disturbance: timeline.disturbance(),
        acceptance: randomStream(this.spec.seed, 'acceptance', replica.index),
      },
    )
    replica.state = 'ready'
    replica.readyMs = this.nowMs
    let at = this.ready.length
    while (at > 0 && (this.ready[at - 1] as Replica).index > replica.index) at -= 1
    this.ready.splice(at, 0, replica)
    this.serveLine()
  }

  private lose(slot: number, kind: LossKind): void {
    const { live } = this
    const { clients } = this.spec
    const attempts = live.attempt[slot] as number
    if (kind !== 'refused' && attempts <= clients.retries) {
      live.use[slot] = (live.use[slot] as number) + 1
      live.replica[slot] = pausing
      const pauseMs = drawBackoff(clients.backoffMs, attempts, this.backoffs)
      this.agenda.add(this.nowMs + pauseMs, { kind: 'retry', slot })
      return
    }
    this.account.lose(live.sentMs[slot] as number, kind)
    this.tell(slot, kind, null, null)
    live.release(slot)
  }

  private tell(
    slot: number,
    outcome: FleetResult['outcome'],
    facts: RequestFacts | null,
    times: Float64Array | null,
  ): void {
    if (this.onResult === null) return
    const { live } = this
    const replica = live.replica[slot] as number
    this.onResult({
      number: live.number[slot] as number,
      sentMs: live.sentMs[slot] as number,
      endMs: facts?.lastTokenMs ?? this.nowMs,
      outcome,
      replica: replica >= 0 ? replica : null,
      attempts: live.attempt[slot] as number,
      promptTokens: (live.prompt[slot] as (typeof live.prompt)[number]).length,
      outputTokens: live.outputTokens[slot] as number,
      facts,
      tokenTimesMs: times,
    })
  }

  inFrontOfAll(): number {
    return this.waitingInFront
  }

  /** Requests that wait: in front, and in the lines of the replicas. */
  waiting(): number {
    let waiting = this.waitingInFront
    for (const replica of this.replicas) waiting += replica.engine?.stats(this.nowMs).waiting ?? 0
    return waiting
  }
}
