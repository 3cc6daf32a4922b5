import { findHits, registerFull } from './prefix-cache.ts'
import { RowBatch } from './row-lists.ts'
import type { FinishReason, RequestState } from './request-state.ts'
import { SchedulerCore } from './scheduler-core.ts'

/** `max_prefill_tokens`, default of `server_args.py`: prompt tokens in one step, where chunks allow more. */
const maxPrefillTokens = 16_384
/** `SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION`: a longer answer is not reckoned with. */
const mostNewTokens = 4096
/** `SGLANG_INIT_NEW_TOKEN_RATIO`, `SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR`, `SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS`, `SGLANG_RETRACT_DECODE_STEPS`. */
const firstRatio = 0.7
const lowestRatio = firstRatio * 0.14
const ratioDecay = (firstRatio - lowestRatio) / 600
const retractSteps = 20

/**
 * SGLang's scheduler, in our own words after `python/sglang/srt/managers/scheduler.py`, `schedule_policy.py` (PrefillAdder) and
 * `schedule_batch.py` (retract_decode) of sgl-project/sglang, 2025 and 2026 (Apache-2.0): first come, first served, without
 * priorities, speculation and the overlapped scheduler. `maxNumBatchedTokens` is its `--chunked-prefill-size`, `maxNumSeqs` its
 * `--max-running-requests`, `blockSize` its `--page-size`.
 *
 * A step is of prompts or of decoding rows, prompts first: while any can be taken, nobody decodes (`mixedChunk` lets the decoding
 * rows into such steps). A prompt is taken when its tokens and those its answer may have fit beside what the running answers are
 * still expected to need: their limits, at most 4096, times a ratio that falls from 0.7 to 0.098 over 600 decode steps. After a
 * prompt that did not fit none is tried until somebody has left. When the blocks of a decode step run out, rows are retracted, those with
 * the fewest tokens first, to the end of the line; and the ratio becomes what their progress says.
 */
export class SglangScheduler extends SchedulerCore {
  private readonly batch = new RowBatch()
  /** `new_token_ratio` */
  private ratio = firstRatio
  /** `batch_is_full` */
  private full = false
  /** The one prompt that is computed in pieces. */
  private chunked: RequestState | null = null

  override schedule(startMs: number): boolean {
    for (;;) {
      this.beginStep()
      this.batch.clear()
      const { full, preemptions } = this
      if (this.prefill(startMs) || this.decode()) return true
      if (this.running.rows.length > 0) continue
      if (this.waiting.size === 0) {
        this.ratio = firstRatio
        return false
      }
      // Nobody runs. If the first in line was tried now, all blocks were free: it will never get in.
      if (!full && preemptions === this.preemptions) this.drop(this.waiting.popFront(), 'error')
      this.full = false
    }
  }

  /** A step of prompts; false when none can be taken. */
  private prefill(startMs: number): boolean {
    const { config, pool, waiting, running } = this
    const { blockSize } = config
    if ((this.full || waiting.size === 0) && this.chunked === null) return false
    const decoding = running.rows.length - (this.chunked === null ? 0 : 1)
    const seats = config.maxNumSeqs - decoding
    const mixed = config.mixedChunk ? decoding : 0
    let inputLeft = maxPrefillTokens
    let chunkLeft = config.enableChunkedPrefill
      ? config.maxNumBatchedTokens - mixed
      : Number.POSITIVE_INFINITY
    let memoryLeft = pool.free * blockSize - mixed
    for (const row of running.rows) if (row.caughtUp) memoryLeft -= this.expectedTokens(row) * this.ratio
    const paged = (tokens: number): number => Math.ceil(tokens / blockSize) * blockSize

    if (this.chunked !== null) {
      const row = this.chunked
      const wanted = row.promptTokens + row.outputTokens - row.computed
      const room = row.blocks * blockSize - row.computed + pool.free * blockSize
      const tokens = Math.min(wanted, chunkLeft, room)
      if (tokens > 0) {
        this.grant(row, tokens)
        memoryLeft -= paged(tokens)
        inputLeft -= paged(tokens)
        chunkLeft -= paged(tokens)
        if (tokens === wanted) {
          this.chunked = null
          memoryLeft -= this.expectedTokens(row)
        }
      }
    }
    while (waiting.size > 0 && !this.full) {
      if (this.batch.size >= seats) {
        this.full = true
        break
      }
      const row = waiting.at(0)
      const total = row.promptTokens + row.outputTokens
      const hit = findHits(row, pool, blockSize, this.hitNodes) * blockSize
      const wanted = total - hit
      const evictable = this.evictableHits()
      const alone = running.rows.length === 0
      const needed = wanted + this.expectedTokens(row) + blockSize
      if (needed >= memoryLeft - evictable * blockSize && !alone) {
        this.full = true
        break
      }
      if (wanted >= inputLeft && this.batch.size > 0) break
      const pages = Math.floor(chunkLeft / blockSize) * blockSize
      const tokens = wanted <= chunkLeft ? wanted : pages === 0 && this.batch.size === 0 ? chunkLeft : pages
      const short = tokens < wanted
      if (tokens <= 0 || (short && this.chunked !== null)) break
      const blocks = Math.ceil((hit + tokens) / blockSize)
      if (blocks - this.hitNodes.length + evictable > pool.free) {
        this.full = true
        break
      }
      this.enter(row, total, hit, startMs)
      this.grant(row, tokens)
      if (short) this.chunked = row
      memoryLeft -= evictable * blockSize + paged(tokens) + (short ? 0 : this.expectedTokens(row))
      inputLeft -= paged(tokens)
      chunkLeft -= paged(tokens)
      if (memoryLeft <= 0) this.full = true
      if (inputLeft <= 0 || chunkLeft <= 0) break
    }
    if (this.batch.size === 0) return false
    if (mixed > 0) this.mixIn()
    return true
  }

  /** Tokens that a row's answer may still have. */
  private expectedTokens(row: RequestState): number {
    return Math.min(row.lengthLimit - row.outputTokens, mostNewTokens)
  }

  private grant(row: RequestState, tokens: number): void {
    const { blockSize } = this.config
    this.takeTokens(row, tokens, Math.ceil((row.computed + tokens) / blockSize), row.caughtUp)
    this.batch.push(row)
    if (row.sharedBlocks > 0) registerFull(row, this.pool, blockSize, row.sharedBlocks)
  }

  /** The decoding rows join a step of prompts, if their blocks are there. */
  private mixIn(): void {
    if (this.blocksToDecode() > this.pool.free) return
    for (const row of this.running.rows) if (row.caughtUp) this.grant(row, 1)
  }

  private blocksToDecode(): number {
    const { blockSize } = this.config
    let blocks = 0
    for (const row of this.running.rows) {
      if (row.caughtUp && row.computed === row.blocks * blockSize) blocks += 1
    }
    return blocks
  }

  /** A step of all decoding rows; false when there is none. */
  private decode(): boolean {
    const { pool } = this
    if (this.blocksToDecode() > pool.free) this.retractSome()
    else this.ratio = Math.max(this.ratio - ratioDecay, lowestRatio)
    for (const row of this.running.rows) if (row.caughtUp) this.grant(row, 1)
    return this.batch.size > 0
  }

  /**
   * Retracts until the others have their blocks. SGLang ends the last one with an error where even it finds none (beside a prompt in
   * pieces); here it goes back in line like the others.
   */
  private retractSome(): void {
    const { running, pool } = this
    do {
      let victim: RequestState | null = null
      for (const row of running.rows)
        if (row.caughtUp && (victim === null || goesBefore(row, victim))) victim = row
      if (victim === null) break
      this.preempt(victim)
    } while (this.blocksToDecode() > pool.free)
    let tokens = 0
    let limits = 0
    for (const row of running.rows) {
      if (!row.caughtUp) continue
      tokens += row.outputTokens + retractSteps
      limits += row.lengthLimit
    }
    this.ratio = Math.min(1, tokens / (limits + 1))
  }

  /** Its outputs are not kept in the tree (`is_insert=False`); its prompt is there since it was computed. */
  override preempt(row: RequestState): void {
    this.withdraw(row, Math.floor(row.promptTokens / this.config.blockSize))
    this.waiting.pushBack(row)
    this.left(row)
    this.sink.preempted(row)
  }

  override complete(endMs: number, segment: number): void {
    this.lastEndMs = endMs
    this.lastSegment = segment
    const { batch } = this
    for (let i = 0; i < batch.size; i++) {
      const row = batch.at(i)
      if (row.computed < row.promptTokens + row.outputTokens) continue
      if (this.give(row, 1)) this.drop(row, row.stopReason)
    }
    batch.clear()
  }

  override drop(row: RequestState, reason: FinishReason): void {
    super.drop(row, reason)
    this.left(row)
  }

  private left(row: RequestState): void {
    this.full = false
    if (this.chunked === row) this.chunked = null
  }
}

/** Whether `a` is retracted before `b`: fewer tokens, then a longer prompt, then later admitted. `a` was admitted after `b`. */
function goesBefore(a: RequestState, b: RequestState): boolean {
  return (
    a.outputTokens < b.outputTokens || (a.outputTokens === b.outputTokens && a.promptTokens >= b.promptTokens)
  )
}
