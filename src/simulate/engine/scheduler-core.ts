import { BlockPool } from './block-pool.ts'
import { DecodeLockstep } from './decode-lockstep.ts'
import { usableBlocks, type EngineConfig } from './engine-config.ts'
import { registerFull } from './prefix-cache.ts'
import { RequestQueue } from './request-queue.ts'
import { RunningRows } from './row-lists.ts'
import { noteTokens, type FinishReason, type RequestState } from './request-state.ts'

/** What a scheduler tells as it goes; `atMs` is known to whoever listens. */
export interface SchedulerSink {
  preempted(row: RequestState): void
  finished(row: RequestState, reason: FinishReason): void
  /** Tokens for a row that is not in the lockstep, all of one step; `outputTokens` is up to date. */
  token(row: RequestState, count: number): void
}

/** What speculative decoding did so far, as vLLM counts it: accepted tokens before they are trimmed at a stop. */
export interface SpeculationCounts {
  drafts: number
  draftTokens: number
  acceptedTokens: number
  /** By position in the draft. */
  readonly acceptedAt: number[]
}

/**
 * A scheduling policy without a clock: `schedule` builds one step, `complete` takes its result. Here is what all of them share: who
 * waits and who runs, the pool, what the running step holds, and the counters.
 */
export abstract class SchedulerCore {
  readonly config: EngineConfig
  readonly pool: BlockPool
  /** Empty in policies that walk every row in every step. */
  readonly lockstep: DecodeLockstep
  readonly waiting: RequestQueue = new RequestQueue()
  readonly running: RunningRows = new RunningRows()

  /** Of the step being built or run. */
  stepTokens = 0
  stepRows = 0
  stepContextTokens = 0
  /** Halves come late: a field that begins as a whole number would give every engine another shape when the first does. */
  stepPrefillPairs: number = Number.NaN
  /** Time that passes before the step can begin. */
  stepDelayMs = 0
  /** A step is planned already, and runs even if nobody needs it any more. */
  stepPlanned = false
  /** True when the step is a tick of the lockstep and nothing else. */
  stepIsPureDecode = false
  /** Grows whenever the rows of the lockstep change: while it stands still, pure steps form one series. */
  lockstepChanges = 0

  /** End of the last completed step, and its segment of the step log. */
  lastEndMs = 0
  lastSegment = -1

  preemptions = 0
  promptTokens = 0
  generationTokens = 0
  prefixQueries = 0
  prefixHits = 0
  prefixQueriesPreempted = 0
  prefixHitsPreempted = 0
  /** Null where nothing is drafted. */
  readonly speculation: SpeculationCounts | null

  protected readonly hitNodes: number[] = []
  protected readonly sink: SchedulerSink

  constructor(config: EngineConfig, sink: SchedulerSink) {
    this.config = config
    this.sink = sink
    this.pool = new BlockPool(usableBlocks(config))
    this.lockstep = new DecodeLockstep(config.blockSize)
    const { speculative } = config
    this.speculation =
      speculative === null
        ? null
        : {
            drafts: 0,
            draftTokens: 0,
            acceptedTokens: 0,
            acceptedAt: Array.from({ length: speculative.draftTokens }, () => 0),
          }
  }

  /** Builds the next step; false when there is nothing to run. `startMs` is noted on rows that are scheduled first. */
  abstract schedule(startMs: number): boolean

  /**
   * The result of the step, which ended at `endMs` as part of `segment` of the step log. With `tokenOfLockstep`, the sink hears of the
   * rows of the lockstep too; else only of those outside it.
   */
  abstract complete(endMs: number, segment: number, tokenOfLockstep: boolean): void

  /** Ends the running step and those after it, each a tick of the same rows; the last of them, `ticks` on, is the running step. */
  skip(ticks: number): void {
    this.lockstep.skip(ticks, this.pool)
    this.generationTokens += ticks * this.lockstep.rows
  }

  /**
   * Steps after the running one (where none runs: from the next on) in which surely no request ends; 0 where that is not known, or more
   * than `mostLookedAt` requests would have to be looked at. Infinite when there is none.
   */
  stepsToFinish(_mostLookedAt: number): number {
    return 0
  }

  /** Evicts until `blocks` are free. Between steps only. */
  makeRoom(blocks: number): void {
    while (blocks > this.pool.free) this.preempt(this.running.last())
  }

  /** Evicts a row that is outside the lockstep: it will compute its prompt and its outputs again. */
  preempt(row: RequestState): void {
    this.withdraw(row, Number.POSITIVE_INFINITY)
    this.waiting.pushFront(row)
    this.sink.preempted(row)
  }

  /** Whether nothing here remembers a request that has ended: it was never taken out of its turn. */
  hasForgotten({ preemptions }: RequestState, reason: FinishReason): boolean {
    return preemptions === 0 && (reason === 'length' || reason === 'stop')
  }

  /** Takes a request out of the engine, wherever it is. Between steps only. */
  drop(row: RequestState, reason: FinishReason): void {
    if (row.running) this.running.remove(row)
    else this.waiting.remove(row)
    this.retire(row, reason)
  }

  protected beginStep(): void {
    this.stepTokens = 0
    this.stepRows = 0
    this.stepContextTokens = 0
    this.stepPrefillPairs = 0
  }

  /** The row stops running and loses its blocks, of which the first `cachedBlocks` may be found again by their owner. */
  protected withdraw(row: RequestState, cachedBlocks: number): void {
    this.running.remove(row)
    // Blocks that nobody else can ask for get their hash only here, where their owner may come back for them.
    if (row.cacheable) registerFull(row, this.pool, this.config.blockSize, cachedBlocks)
    this.releaseBlocks(row)
    row.running = false
    row.caughtUp = false
    row.computed = 0
    row.preemptions += 1
    this.preemptions += 1
  }

  /** The first in line begins to run, with the blocks of `hitNodes`, of which it has computed `hit` tokens of `total`. */
  protected enter(row: RequestState, total: number, hit: number, startMs: number): void {
    const { pool, hitNodes } = this
    this.waiting.popFront()
    for (let i = 0; i < hitNodes.length; i++) {
      const node = hitNodes[i] as number
      pool.pin(node)
      row.addNode(node)
    }
    this.countAdmission(row, total, hit, startMs)
    row.blocks = hitNodes.length
    row.computed = hit
    this.running.admit(row)
  }

  /** Of the found blocks, those that taking them up costs a free block. */
  protected evictableHits(): number {
    let evictable = 0
    for (let i = 0; i < this.hitNodes.length; i++) {
      if (this.pool.isEvictable(this.hitNodes[i] as number)) evictable += 1
    }
    return evictable
  }

  private countAdmission(row: RequestState, total: number, hit: number, startMs: number): void {
    if (row.firstScheduledMs < 0) {
      row.firstScheduledMs = startMs
      row.cachedTokens = hit
    }
    if (!this.config.enablePrefixCaching) return
    if (row.preemptions === 0) {
      this.prefixQueries += total
      this.prefixHits += hit
    } else {
      this.prefixQueriesPreempted += total
      this.prefixHitsPreempted += hit
    }
  }

  /** Tokens of a row in the step, for which its blocks are taken; `blocks` is what it then holds. */
  protected takeTokens(row: RequestState, tokens: number, blocks: number, decoding: boolean): void {
    const need = blocks - row.blocks
    if (need > 0) {
      this.pool.take(need)
      row.blocks = blocks
    }
    if (decoding) this.stepContextTokens += row.computed
    else this.stepPrefillPairs += tokens * (row.computed + tokens / 2)
    this.stepTokens += tokens
    this.stepRows += 1
    row.computed += tokens
  }

  /** `count` tokens of the last step for a row outside the lockstep; true when they are its last. */
  protected give(row: RequestState, count: number): boolean {
    if (row.running && !row.caughtUp) {
      row.caughtUp = true
      this.running.endPrefill(row)
    }
    if (row.outputTokens === 0) this.promptTokens += row.promptTokens
    row.outputTokens += count
    this.generationTokens += count
    if (row.firstTokenMs < 0) {
      row.firstTokenMs = this.lastEndMs
      row.firstSegment = this.lastSegment
    }
    noteTokens(row, this.lastSegment, this.lastSegment, this.lastEndMs)
    this.sink.token(row, count)
    return row.outputTokens >= row.outputLimit
  }

  protected retire(row: RequestState, reason: FinishReason): void {
    this.releaseBlocks(row)
    row.running = false
    row.done = true
    this.sink.finished(row, reason)
  }

  private releaseBlocks(row: RequestState): void {
    this.pool.release(row.nodes, row.blocks - row.nodes.length)
    row.dropNodes()
    row.blocks = 0
  }
}
