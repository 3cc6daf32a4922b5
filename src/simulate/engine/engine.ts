import type { Random } from '../../base/random.ts'
import { checkEngineConfig, usableBlocks, type EngineConfig } from './engine-config.ts'
import type {
  AcceptedRequest,
  Engine,
  EngineDisturbance,
  EngineEvent,
  EngineOptions,
  EngineRequest,
  EngineStats,
  StepFacts,
  SubmitResult,
  TokenRunVisitor,
} from './engine-interface.ts'
import { admitState, checkRequest, refusal } from './intake.ts'
import { RequestQueue } from './request-queue.ts'
import { RequestState, type FinishReason, type RequestFacts } from './request-state.ts'
import { createScheduler, scheduledConfig } from './create-scheduler.ts'
import type { SchedulerCore, SchedulerSink } from './scheduler-core.ts'
import { StepClock } from './step-clock.ts'
import { stepTimeMs } from './step-time.ts'

/**
 * A replica that stands idle at time 0. `random` is drawn from only for jitter, `options.acceptance` only for drafts. Throws PLIM_ENGINE for an impossible
 * configuration.
 */
export function createEngine(config: EngineConfig, random: Random, options: EngineOptions = {}): Engine {
  checkEngineConfig(config)
  return new SimulatedEngine(scheduledConfig(config), random, options)
}

class SimulatedEngine implements Engine, SchedulerSink {
  private readonly config: EngineConfig
  private readonly tellTokens: boolean
  /** Somebody wants to know of each step when it ends. */
  private readonly isHeard: boolean
  /** No step takes less, 0 where that cannot be said. A little less than it is reckoned, so that rounding does no harm. */
  private readonly leastStepMs: number
  private readonly disturbance: EngineDisturbance | null
  private readonly onStep: ((step: StepFacts) => void) | null
  private readonly scheduler: SchedulerCore
  private readonly clock: StepClock
  /** Arrived, still in the front end. */
  private readonly intake = new RequestQueue()

  /** Time up to which everything has happened; while idle, the earliest start of a step. */
  private atMs = 0
  private stepping = false
  private busyMs = 0
  private trimAt = 256

  private poolChange = 0
  private aborts: RequestState[] = []
  private events: EngineEvent[] = []
  private readonly reuse: boolean
  /** Where memory is used again: that of the next events, and states of requests that are gone. */
  private eventsLater: EngineEvent[] = []
  private readonly idle: RequestState[] = []
  private told = false
  private accepted = 0
  private refused = 0
  private readonly finishedCounts = { length: 0, stop: 0, abort: 0, error: 0 }
  private errorMessage: string | null = null

  constructor(config: EngineConfig, random: Random, options: EngineOptions) {
    this.config = config
    this.tellTokens = (options.events ?? 'tokens') === 'tokens'
    this.disturbance = options.disturbance ?? null
    this.onStep = options.onStep ?? null
    this.reuse = options.reuse ?? false
    this.isHeard = this.tellTokens || this.onStep !== null
    const oneToken = { tokens: 1, decodeContextTokens: 0, prefillPairs: 0, sequences: 1 }
    const isSure = config.jitterSigma === 0 && this.disturbance === null
    this.leastStepMs = isSure ? (1 - 1e-9) * stepTimeMs(config.stepTime, oneToken) : 0
    this.scheduler = createScheduler(config, this, {
      rowByRow: options.rowByRow ?? false,
      acceptance: options.acceptance ?? null,
    })
    this.clock = new StepClock(config, random, this.disturbance)
  }

  submit(request: EngineRequest, nowMs: number): SubmitResult {
    this.happenUntil(nowMs, 'ends')
    checkRequest(request)
    const refused = refusal(request, this.config, this.scheduler.pool.usable, this.waitingCount())
    if (refused !== null) {
      this.refused += 1
      return refused
    }
    const state = admitState(
      this.idle.pop() ?? new RequestState(),
      request,
      this.config,
      nowMs,
      this.accepted,
    )
    this.intake.insertByEligible(state)
    this.accepted += 1
    return state
  }

  abort(request: AcceptedRequest, nowMs: number): boolean {
    this.happenUntil(nowMs, 'ends')
    const row = request as RequestState
    if (row.done || row.aborted) return false
    row.aborted = true
    if (this.stepping) this.aborts.push(row)
    else {
      this.atMs = Math.max(this.atMs, nowMs)
      this.takeOut(row, 'abort', null)
    }
    return true
  }

  nextWakeMs(): number | null {
    if (this.events.length > 0 && !this.told) return this.atMs
    if (this.stepping) return this.isHeard ? this.clock.endMs : this.quietUntilMs()
    const startMs = this.nextStartMs()
    const changeMs = this.nextPoolChangeMs()
    if (startMs === null) return changeMs
    const untilMs = this.isHeard ? startMs : startMs + this.leastMsToFinish()
    return changeMs === null ? untilMs : Math.min(untilMs, changeMs)
  }

  advance(nowMs: number): readonly EngineEvent[] {
    if (this.told) this.renewEvents()
    // What a submission of this moment brought to light is told before anything new is started.
    if (this.events.length === 0 || this.atMs < nowMs) this.happenUntil(nowMs, 'all')
    this.told = true
    return this.events
  }

  stats(beforeMs?: number): EngineStats {
    if (beforeMs !== undefined) this.happenUntil(beforeMs, 'before')
    const { scheduler, finishedCounts } = this
    const { pool } = scheduler
    return {
      running: scheduler.running.rows.length,
      waiting: this.waitingCount(),
      kvUsage: pool.usable === 0 ? 1 : 1 - pool.free / pool.usable,
      freeBlocks: pool.free,
      usableBlocks: pool.usable,
      preemptions: scheduler.preemptions,
      promptTokens: scheduler.promptTokens,
      generationTokens: scheduler.generationTokens,
      prefixQueries: scheduler.prefixQueries,
      prefixHits: scheduler.prefixHits,
      prefixQueriesPreempted: scheduler.prefixQueriesPreempted,
      prefixHitsPreempted: scheduler.prefixHitsPreempted,
      steps: this.clock.steps,
      busyMs: this.busyMs,
      accepted: this.accepted,
      refused: this.refused,
      finished: { ...finishedCounts },
      speculation:
        scheduler.speculation === null
          ? null
          : { ...scheduler.speculation, acceptedAt: [...scheduler.speculation.acceptedAt] },
    }
  }

  forEachTokenRun(facts: RequestFacts, visit: TokenRunVisitor): void {
    this.clock.log.forEachRun(facts as RequestState, visit)
  }

  // The scheduler's words, at `atMs`.

  token(row: RequestState, count: number): void {
    if (this.tellTokens && !row.aborted) this.tell({ kind: 'tokens', id: row.id, atMs: this.atMs, count })
  }

  preempted(row: RequestState): void {
    this.tell({ kind: 'preempted', id: row.id, atMs: this.atMs })
  }

  finished(row: RequestState, reason: FinishReason): void {
    const told = row.aborted ? 'abort' : reason
    this.finishedCounts[told] += 1
    const message =
      told === 'error' ? (this.errorMessage ?? 'no step of this engine can hold the request any more') : null
    this.tell({ kind: 'finished', id: row.id, atMs: this.atMs, reason: told, facts: row, message })
  }

  private tell(event: EngineEvent): void {
    if (this.told) this.renewEvents()
    this.events.push(event)
  }

  private renewEvents(): void {
    this.told = false
    if (this.events.length === 0) return
    if (!this.reuse) {
      this.events = []
      return
    }
    const over = this.events
    this.events = this.eventsLater
    this.eventsLater = over
    for (const event of over) {
      if (event.kind === 'finished' && this.scheduler.hasForgotten(event.facts as RequestState, event.reason))
        this.idle.push(event.facts as RequestState)
    }
    over.length = 0
  }

  private waitingCount(): number {
    return this.scheduler.waiting.size + this.intake.size
  }

  /**
   * Ends and starts steps up to `untilMs`. Of what falls on that time: `before`, nothing; `ends`, a step that ends there is ended;
   * `all`, one that would start there is started too, but not in the call that ended the one before.
   */
  private happenUntil(untilMs: number, upTo: 'before' | 'ends' | 'all'): void {
    for (;;) {
      if (this.stepping) {
        const { endMs } = this.clock
        if (endMs > untilMs || (endMs === untilMs && upTo === 'before')) return
        if (this.skipSteps(untilMs)) continue
        this.endStep()
        if (this.atMs === untilMs) return
        continue
      }
      const startMs = this.nextStartMs()
      const changeMs = this.nextPoolChangeMs()
      if (changeMs !== null && changeMs <= untilMs && (startMs === null || changeMs <= startMs)) {
        if (changeMs === untilMs && upTo === 'before') return
        this.atMs = Math.max(this.atMs, changeMs)
        this.changePool()
        continue
      }
      if (startMs === null || startMs > untilMs || (upTo !== 'all' && startMs === untilMs)) return
      this.startStep(startMs)
    }
  }

  private nextStartMs(): number | null {
    if (this.scheduler.running.rows.length > 0 || this.scheduler.waiting.size > 0) return this.atMs
    if (this.scheduler.stepPlanned) return this.atMs
    return this.intake.size > 0 ? Math.max(this.atMs, this.intake.at(0).eligibleMs) : null
  }

  private startStep(startMs: number): void {
    const { scheduler, intake } = this
    this.atMs = startMs
    while (intake.size > 0 && intake.at(0).eligibleMs <= startMs)
      scheduler.waiting.pushBack(intake.popFront())
    if (!scheduler.schedule(startMs)) return
    this.stepping = true
    this.clock.start(scheduler, startMs + scheduler.stepDelayMs)
  }

  private endStep(): void {
    this.stepping = false
    this.atMs = this.clock.endMs
    this.busyMs += this.clock.endMs - this.clock.startMs
    this.scheduler.complete(this.clock.endMs, this.clock.log.end - 1, this.tellTokens)
    if (this.onStep !== null) {
      this.onStep({
        startMs: this.clock.startMs,
        endMs: this.clock.endMs,
        tokens: this.scheduler.stepTokens,
        rows: this.scheduler.stepRows,
      })
    }
    if (this.aborts.length > 0) this.takeOutAborted()
    if (this.clock.log.length > this.trimAt) this.trimLog()
  }

  /**
   * On to the step that runs at `untilMs`, or to the first before it that is not like the running one, without taking each. False:
   * the running one is that step, or each has to be told.
   */
  private skipSteps(untilMs: number): boolean {
    const { clock, scheduler } = this
    const { lockstep } = scheduler
    if (this.isHeard || !this.isQuiet() || lockstep.hashedRows > 0) return false
    const beforeMs = Math.min(untilMs, this.nextPoolChangeMs() ?? Number.POSITIVE_INFINITY)
    const steps = clock.stepsStartedBefore(beforeMs, lockstep.finishes.firstTick() - lockstep.ticks)
    if (steps === 0 || lockstep.blocksDueWithin(steps) > scheduler.pool.free) return false
    const { startMs } = clock
    clock.skip(steps)
    this.busyMs += clock.startMs - startMs
    this.atMs = clock.startMs
    scheduler.skip(steps)
    return true
  }

  private takeOutAborted(): void {
    for (const row of this.aborts) if (!row.done) this.takeOut(row, 'abort', null)
    this.aborts.length = 0
  }

  private takeOut(row: RequestState, reason: FinishReason, message: string | null): void {
    this.errorMessage = message
    if (!this.intake.remove(row)) this.scheduler.drop(row, reason)
    else {
      row.done = true
      this.finished(row, reason)
    }
    this.errorMessage = null
  }

  /** Segments that no request in the engine, and none in an event still at hand, can ask for. */
  private trimLog(): void {
    let oldest = this.clock.log.end
    const { running, waiting } = this.scheduler
    for (const row of running.rows) oldest = firstSegmentOf(row, oldest)
    for (let i = 0; i < waiting.size; i++) oldest = firstSegmentOf(waiting.at(i), oldest)
    for (const event of this.events) {
      if (event.kind === 'finished') oldest = firstSegmentOf(event.facts as RequestState, oldest)
    }
    this.clock.log.trim(oldest)
    this.trimAt = Math.max(256, this.clock.log.length * 2)
  }

  private nextPoolChangeMs(): number | null {
    return this.disturbance?.poolChanges[this.poolChange]?.atMs ?? null
  }

  /** The pool becomes smaller or larger; what no longer fits is evicted, what never will is ended with an error. */
  private changePool(): void {
    const { scheduler, config } = this
    const { pool } = scheduler
    const change = this.disturbance?.poolChanges[this.poolChange]
    if (change === undefined) return
    this.poolChange += 1
    const whole = usableBlocks(config)
    const usable = Math.max(0, Math.round(whole * (1 - change.lostShare)) - change.lostBlocks)
    if (usable >= pool.usable) {
      pool.grow(usable - pool.usable)
      return
    }
    const message = `needs more than the ${usable} blocks that are left of the pool`
    for (const row of this.everyRequest()) {
      if (row.blocksAtMost > usable) this.takeOut(row, 'error', message)
    }
    const lost = pool.usable - usable
    scheduler.makeRoom(lost)
    pool.shrink(lost)
  }

  /** In the order in which they were accepted. */
  private everyRequest(): RequestState[] {
    const { running, waiting } = this.scheduler
    const all = [...running.rows]
    for (const queue of [waiting, this.intake]) for (let i = 0; i < queue.size; i++) all.push(queue.at(i))
    return all.sort((a, b) => a.number - b.number)
  }

  /** Rows only decode, and nobody waits, comes or goes. */
  private isQuiet(): boolean {
    const { waiting, stepIsPureDecode } = this.scheduler
    return stepIsPureDecode && waiting.size === 0 && this.intake.size === 0 && this.aborts.length === 0
  }

  /**
   * A time before which nothing can be told. While rows only decode and nobody waits: the end of the first of them, if the blocks
   * last until there. Else no answer ends before its tokens have had their steps. A submission brings it forward.
   */
  private quietUntilMs(): number {
    const { clock } = this
    const { lockstep, pool } = this.scheduler
    if (this.isQuiet()) {
      const more = lockstep.finishes.firstTick() - lockstep.ticks
      if (more <= 0) return clock.endMs
      if (lockstep.blocksDueWithin(more) <= pool.free) {
        const untilMs = clock.endAfterMs(more)
        const changeMs = this.nextPoolChangeMs()
        if (untilMs !== null && (changeMs === null || changeMs > untilMs)) return untilMs
      }
    }
    return clock.endMs + this.leastMsToFinish()
  }

  /** From the end of the running step, or from the start of the next, to the first answer that can be over. */
  private leastMsToFinish(): number {
    if (this.leastStepMs === 0 || this.aborts.length > 0 || this.intake.size > mostLookedAt) return 0
    let steps = this.scheduler.stepsToFinish(mostLookedAt)
    for (let i = 0; i < this.intake.size; i++) steps = Math.min(steps, this.intake.at(i).outputLimit)
    return steps === Number.POSITIVE_INFINITY ? 0 : steps * this.leastStepMs
  }
}

/** Requests beside the decoding rows that are looked at to say when the first answer can be over. */
const mostLookedAt = 8

function firstSegmentOf({ firstSegment }: RequestState, atMost: number): number {
  return firstSegment >= 0 && firstSegment < atMost ? firstSegment : atMost
}
