import type { EngineConfig } from './engine-config.ts'
import { findHits, registerFull } from './prefix-cache.ts'
import { RowBatch } from './row-lists.ts'
import { noteTokens, type FinishReason, type RequestState } from './request-state.ts'
import { SchedulerCore, type SchedulerSink } from './scheduler-core.ts'

/**
 * The scheduler of vLLM V1. There is no prefill or decode phase: each step every request tries to catch up with its own tokens. In
 * order: (A) running requests, oldest admission first, evicting the youngest when blocks run out; (B) waiting requests, only when
 * nobody was evicted. After `vllm/v1/core/sched/scheduler.py`, `kv_cache_manager.py` and `block_pool.py` of vLLM 0.19 (Apache-2.0), in
 * our own words; without encoders, LoRA and priorities. Speculative decoding and asynchronous scheduling are in ahead-scheduler.ts.
 *
 * When no decoding row can fail to get its token and its block, phase A is one tick of the lockstep, whatever the number of
 * rows. Otherwise the rows are made explicit and walked one by one.
 */
export class Scheduler extends SchedulerCore {
  /** Rows of the running step outside the lockstep, in the order of their list. */
  private readonly explicit = new RowBatch()
  private readonly due = new RowBatch()
  private stepHasTick = false
  /** Rows that have caught up but stand outside the lockstep. */
  private looseRows = false
  private blockedHead: RequestState | null = null
  private blockedAtImprovement = -1
  private readonly rowByRow: boolean
  /** The step being built comes after one whose result is not known yet: who gets nothing now may get something then. */
  protected resultPending = false

  constructor(config: EngineConfig, sink: SchedulerSink, rowByRow: boolean) {
    super(config, sink)
    this.rowByRow = rowByRow
  }

  schedule(startMs: number): boolean {
    for (;;) {
      this.beginStep()
      this.stepHasTick = false
      let evicted = false
      if (this.looseRows) this.gatherLooseRows()
      if (this.running.rows.length > 0 && !this.tickAll()) evicted = this.walkRunning()
      if (!evicted && this.waiting.size > 0) this.admit(startMs)
      if (this.stepTokens > 0) {
        this.stepIsPureDecode = this.explicit.size === 0
        return true
      }
      if (this.resultPending) return false
      // Nobody runs, so every block is free and the budget whole: whoever is first in line now will never get in.
      if (this.running.rows.length === 0) {
        if (this.waiting.size === 0) return false
        if (!evicted) this.drop(this.waiting.popFront(), 'error')
      } else if (!evicted) return false
    }
  }

  /** Phase A for all rows at once; false, with nothing changed, when they have to be walked. */
  private tickAll(): boolean {
    const { lockstep, pool, config } = this
    const { prefilling } = this.running
    const rows = lockstep.rows
    if (this.rowByRow || rows > config.maxNumBatchedTokens) return false
    let budget = config.maxNumBatchedTokens - rows
    let blocks = lockstep.blocksDue()
    if (prefilling.length > 0) {
      let wanted = 0
      for (const row of prefilling) {
        const tokens = Math.min(this.wantedTokens(row), Math.max(0, budget - wanted))
        row.scheduledTokens = tokens
        wanted += tokens
        blocks += Math.ceil((row.computed + tokens) / config.blockSize) - row.blocks
      }
      // A prefill that is older than a decoding row is served first. With tokens for all, that order matters only for
      // which of two equal blocks is found later.
      if ((wanted >= budget || lockstep.hashedRows > 0) && !this.running.prefillsAreLast()) return false
      budget -= wanted
    }
    if (blocks > pool.free) return false
    if (rows > 0) {
      this.stepContextTokens = lockstep.contextTokens
      this.stepTokens = rows
      this.stepRows = rows
      this.stepHasTick = true
      lockstep.tick(pool)
    }
    for (const row of prefilling) if (row.scheduledTokens > 0) this.grant(row, row.scheduledTokens)
    return true
  }

  protected wantedTokens(row: RequestState): number {
    const wanted = row.promptTokens + row.outputTokens - row.computed
    const threshold = this.config.longPrefillTokenThreshold
    return threshold > 0 && wanted > threshold ? threshold : wanted
  }

  /** Blocks of a row that has computed so many tokens. */
  protected blocksFor(computed: number): number {
    return Math.ceil(computed / this.config.blockSize)
  }

  /** A chunk for a row outside the lockstep whose blocks are known to be there. */
  protected grant(row: RequestState, tokens: number): void {
    this.takeTokens(row, tokens, this.blocksFor(row.computed + tokens), row.caughtUp)
    row.scheduledTokens = tokens
    this.explicit.push(row)
    if (row.sharedBlocks > 0) registerFull(row, this.pool, this.config.blockSize, row.sharedBlocks)
  }

  /** Phase A row by row. True when somebody was evicted. */
  private walkRunning(): boolean {
    this.dissolveLockstep()
    const { pool, config } = this
    const { rows, prefilling } = this.running
    for (const row of prefilling) row.scheduledTokens = 0
    let budget = config.maxNumBatchedTokens
    let evicted = false
    for (let i = 0; i < rows.length && budget > 0; i++) {
      const row = rows[i] as RequestState
      const tokens = Math.min(this.wantedTokens(row), budget, config.maxModelLen - 1 - row.computed)
      if (tokens <= 0) continue
      const need = this.blocksFor(row.computed + tokens) - row.blocks
      while (need > pool.free) {
        const victim = this.running.last()
        this.preempt(victim)
        evicted = true
        if (victim === row) break
      }
      if (!row.running) break
      this.grant(row, tokens)
      budget -= tokens
    }
    return evicted
  }

  /** Phase B: waiting requests in order, until one does not fit. */
  private admit(startMs: number): void {
    const { config, pool, waiting } = this
    const { blockSize } = config
    let budget = config.maxNumBatchedTokens - this.stepTokens
    while (waiting.size > 0 && budget > 0 && this.running.rows.length < config.maxNumSeqs) {
      const row = waiting.at(0)
      if (row === this.blockedHead && pool.improvements === this.blockedAtImprovement) return
      this.blockedHead = null
      const total = row.promptTokens + row.outputTokens
      const hitBlocks = findHits(row, pool, blockSize, this.hitNodes)
      const hit = hitBlocks * blockSize
      let tokens = total - hit
      const threshold = config.longPrefillTokenThreshold
      if (threshold > 0 && tokens > threshold) tokens = threshold
      if (!config.enableChunkedPrefill && tokens > budget) return
      if (tokens > budget) tokens = budget
      const reserve =
        this.evictableHits() - hitBlocks + (this.running.rows.length > 0 ? config.watermarkBlocks : 0)
      const gate = config.reserveFullPrompt ? Math.ceil(Math.min(total, config.maxModelLen) / blockSize) : 0
      const blocks = this.blocksFor(hit + tokens)
      if (Math.max(gate, blocks) + reserve > pool.free) {
        // Without the gate, or with slots for drafts, the need depends on the budget left, which differs from step to step.
        this.blockedHead = config.reserveFullPrompt && config.speculative === null ? row : null
        this.blockedAtImprovement = pool.improvements
        return
      }
      this.enter(row, total, hit, startMs)
      this.grant(row, tokens)
      budget -= tokens
    }
  }

  /**
   * Each of its tokens takes a row a step. Where prompts are not chunked an evicted request may be too long for any step, with the
   * tokens that it has: it is then ended without further steps.
   */
  override stepsToFinish(mostLookedAt: number): number {
    const { lockstep, waiting } = this
    const { rows, prefilling } = this.running
    if (!this.config.enableChunkedPrefill) return 0
    if (prefilling.length + waiting.size > mostLookedAt || lockstep.rows + prefilling.length < rows.length)
      return 0
    let steps = lockstep.finishes.firstTick() - lockstep.ticks
    for (const row of prefilling) steps = Math.min(steps, row.outputLimit - row.outputTokens - 1)
    for (let i = 0; i < waiting.size; i++) {
      const row = waiting.at(i)
      steps = Math.min(steps, row.outputLimit - row.outputTokens)
    }
    return Math.max(0, steps)
  }

  /** One token for each row that has caught up. */
  complete(endMs: number, segment: number, tokenOfLockstep: boolean): void {
    const { lockstep } = this
    this.lastEndMs = endMs
    this.lastSegment = segment
    if (this.stepHasTick) this.generationTokens += lockstep.rows
    if (this.stepHasTick && tokenOfLockstep) this.completeAll()
    else if (this.stepHasTick && lockstep.finishes.firstTick() <= lockstep.ticks) this.completeDue()
    else this.completeExplicits(0, Number.POSITIVE_INFINITY)
    this.explicit.clear()
  }

  /** All rows in the order of the running list, which is also the order in which finished ones give back their blocks. */
  private completeAll(): void {
    const { lockstep } = this
    const { rows } = this.running
    let kept = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as RequestState
      if (row.decoding) {
        lockstep.settle(row)
        this.sink.token(row, 1)
        if (row.finishTick <= lockstep.ticks) {
          this.finishDecoding(row)
          continue
        }
      } else if (row.scheduledTokens > 0 && this.completeExplicit(row)) continue
      rows[kept++] = row
    }
    while (rows.length > kept) rows.pop()
  }

  /** The same, of only those that finish or stand outside the lockstep. */
  private completeDue(): void {
    const { due } = this
    const { finishes, ticks } = this.lockstep
    while (finishes.firstTick() <= ticks) due.insert(finishes.take())
    let next = 0
    for (let i = 0; i < due.size; i++) {
      const row = due.at(i)
      next = this.completeExplicits(next, row.admission)
      this.running.remove(row)
      this.finishDecoding(row)
    }
    due.clear()
    this.completeExplicits(next, Number.POSITIVE_INFINITY)
  }

  /** Rows outside the lockstep from the `next`-th on that are older than `admission`; the number of the one after them. */
  private completeExplicits(next: number, admission: number): number {
    const { explicit } = this
    for (; next < explicit.size && explicit.at(next).admission < admission; next++) {
      const row = explicit.at(next)
      if (this.completeExplicit(row)) this.running.remove(row)
    }
    return next
  }

  private finishDecoding(row: RequestState): void {
    this.leaveLockstep(row)
    this.retire(row, row.stopReason)
  }

  /** True when it finished: the caller takes it off the running list. */
  private completeExplicit(row: RequestState): boolean {
    row.scheduledTokens = 0
    if (row.computed < row.promptTokens + row.outputTokens) return false
    if (!this.give(row, 1)) {
      this.join(row)
      return false
    }
    this.retire(row, row.stopReason)
    return true
  }

  private join(row: RequestState): void {
    if (this.rowByRow) return
    this.lockstep.enter(row)
    this.lockstepChanges += 1
    row.enteredSegment = this.lastSegment + 1
  }

  private leaveLockstep(row: RequestState): void {
    this.lockstep.leave(row)
    this.lockstepChanges += 1
    if (this.lockstep.ticks > row.enteredTick) {
      noteTokens(row, row.enteredSegment, this.lastSegment, this.lastEndMs)
    }
  }

  override drop(row: RequestState, reason: FinishReason): void {
    if (row.decoding) this.leaveLockstep(row)
    super.drop(row, reason)
  }

  override makeRoom(blocks: number): void {
    if (blocks > this.pool.free) this.dissolveLockstep()
    super.makeRoom(blocks)
  }

  /** Every row on its own again. */
  private dissolveLockstep(): void {
    const { lockstep } = this
    if (this.rowByRow) return
    for (const row of this.running.rows) if (row.decoding) this.leaveLockstep(row)
    lockstep.finishes.clear()
    this.looseRows = true
  }

  private gatherLooseRows(): void {
    for (const row of this.running.rows) if (row.caughtUp && !row.decoding) this.join(row)
    this.looseRows = false
  }
}
