import type { Random } from '../../base/random.ts'
import type { EngineConfig } from './engine-config.ts'
import { registerFull } from './prefix-cache.ts'
import type { AheadState, RequestState } from './request-state.ts'
import { Scheduler } from './scheduler.ts'
import type { SchedulerSink } from './scheduler-core.ts'

/** One step as it was built: its rows, which of them will give tokens, and how many drafted tokens it verifies for each. */
class StepPlan {
  readonly rows: RequestState[] = []
  readonly gives: boolean[] = []
  readonly drafts: number[] = []
  /** When the host is done with it. */
  readonly readyMs: number
  tokens = 0
  contextTokens = 0
  prefillPairs = 0

  constructor(readyMs: number) {
    this.readyMs = readyMs
  }
}

/**
 * vLLM V1's scheduler where it reaches ahead of what it knows; every row is walked in every step.
 *
 * **Speculative decoding**: after each token a draft of K more is there, the next step computes 1 + K tokens of the row, and gives the
 * first `a` drafted ones that are accepted and the model's own after them. The rejected are computed tokens no more. Slots for the
 * next draft are held too (`num_lookahead_tokens`). Accepted tokens are counted before the answer is cut at its end.
 *
 * **Asynchronous scheduling** (`vllm/v1/core/sched/async_scheduler.py`, `EngineCore.step_with_batch_queue`, queue of two): the step
 * after the next is built when a step ends and the next one begins. A row is taken to have got its tokens; one that then surely
 * is at `max_tokens` is left out, one that ends by itself has a slot more that is computed for nothing; who arrives while a step runs
 * waits for that one and for the next. A row evicted while a step computes it still gets that step's tokens.
 */
export class AheadScheduler extends Scheduler {
  private readonly acceptance: Random | null
  private readonly draftTokens: number
  /** P(the first i are accepted), i from 1. */
  private readonly reach: readonly number[]
  private plan = new StepPlan(0)
  private runs: StepPlan = this.plan
  private planned: StepPlan | null = null
  private hostFreeMs = 0

  constructor(config: EngineConfig, sink: SchedulerSink, acceptance: Random | null) {
    super(config, sink, true)
    this.acceptance = acceptance
    this.draftTokens = config.speculative?.draftTokens ?? 0
    let all = 1
    this.reach = (config.speculative?.acceptRates ?? []).map((rate) => (all *= rate))
  }

  /** A step may give several tokens. */
  override stepsToFinish(): number {
    return 0
  }

  /** It may be in a step that is still to come. */
  override hasForgotten(): boolean {
    return false
  }

  override schedule(startMs: number): boolean {
    const next = this.planned ?? this.build(startMs)
    this.planned = null
    if (next === null) return false
    if (this.config.asyncScheduling) {
      this.resultPending = true
      this.planned = this.build(startMs)
      this.resultPending = false
      this.stepPlanned = this.planned !== null
      // What a synchronous engine pays before every step passes here while the step before runs, if that is long enough.
      this.stepDelayMs = Math.max(0, next.readyMs - startMs)
    }
    this.runs = next
    this.stepTokens = next.tokens
    this.stepRows = next.rows.length
    this.stepContextTokens = next.contextTokens
    this.stepPrefillPairs = next.prefillPairs
    this.stepIsPureDecode = false
    return true
  }

  private build(startMs: number): StepPlan | null {
    const plan = new StepPlan(Math.max(startMs, this.hostFreeMs) + this.config.hostMs)
    this.plan = plan
    if (!super.schedule(startMs)) return null
    this.hostFreeMs = plan.readyMs
    plan.tokens = this.stepTokens
    plan.contextTokens = this.stepContextTokens
    plan.prefillPairs = this.stepPrefillPairs
    return plan
  }

  private aheadOf(row: RequestState): AheadState {
    row.ahead ??= { resultsPending: 0, tokensPending: 0, eventTokens: this.draftTokens > 0 ? [] : null }
    return row.ahead
  }

  /** Prompt, outputs, and what steps under way will add at most. */
  private known(row: RequestState): number {
    return row.promptTokens + row.outputTokens + this.aheadOf(row).tokensPending
  }

  private decodes(row: RequestState): boolean {
    return row.caughtUp || this.aheadOf(row).resultsPending > 0
  }

  protected override wantedTokens(row: RequestState): number {
    if (row.outputTokens + this.aheadOf(row).resultsPending >= row.lengthLimit) return 0
    const drafts = this.decodes(row) ? this.draftTokens : 0
    const wanted = this.known(row) + drafts - row.computed
    const threshold = this.config.longPrefillTokenThreshold
    return threshold > 0 && wanted > threshold ? threshold : wanted
  }

  protected override blocksFor(computed: number): number {
    const { maxModelLen, blockSize } = this.config
    return Math.ceil(Math.min(computed + this.draftTokens, maxModelLen) / blockSize)
  }

  protected override grant(row: RequestState, tokens: number): void {
    const { plan } = this
    this.takeTokens(row, tokens, this.blocksFor(row.computed + tokens), this.decodes(row))
    const known = this.known(row)
    const gives = row.computed >= known
    const drafts = gives ? row.computed - known : 0
    if (gives) {
      const ahead = this.aheadOf(row)
      ahead.resultsPending += 1
      ahead.tokensPending += 1 + drafts
    }
    plan.rows.push(row)
    plan.gives.push(gives)
    plan.drafts.push(drafts)
    if (row.sharedBlocks > 0) registerFull(row, this.pool, this.config.blockSize, row.sharedBlocks)
  }

  override complete(endMs: number, segment: number): void {
    this.lastEndMs = endMs
    this.lastSegment = segment
    const { rows, gives, drafts } = this.runs
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as RequestState
      if (gives[i] === true && !row.done) this.deliver(row, drafts[i] as number)
    }
  }

  private deliver(row: RequestState, drafts: number): void {
    const accepted = drafts === 0 ? 0 : this.drawAccepted(drafts)
    const ahead = this.aheadOf(row)
    ahead.resultsPending -= 1
    ahead.tokensPending -= 1 + drafts
    if (row.running) row.computed -= drafts - accepted
    const count = Math.min(1 + accepted, row.outputLimit - row.outputTokens)
    ahead.eventTokens?.push(count)
    if (this.give(row, count)) this.drop(row, row.stopReason)
  }

  /** How many of the first `drafts` are accepted: one draw decides, since P(a ≥ i) = p₁…pᵢ. */
  private drawAccepted(drafts: number): number {
    const { speculation, acceptance, reach } = this
    if (speculation === null || acceptance === null) return 0
    const chance = acceptance.next()
    let accepted = 0
    while (accepted < drafts && chance < (reach[accepted] as number)) {
      speculation.acceptedAt[accepted] = (speculation.acceptedAt[accepted] as number) + 1
      accepted += 1
    }
    speculation.drafts += 1
    speculation.draftTokens += drafts
    speculation.acceptedTokens += accepted
    return accepted
  }

  /** Between steps only: what the planned one holds of the evicted is computed for nothing, since they may be back before it ends. */
  override makeRoom(blocks: number): void {
    super.makeRoom(blocks)
    if (this.planned === null) return
    const { rows, gives } = this.planned
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as RequestState
      if (row.running || gives[i] !== true) continue
      gives[i] = false
      const ahead = this.aheadOf(row)
      ahead.resultsPending = 0
      ahead.tokensPending = 0
    }
  }
}
