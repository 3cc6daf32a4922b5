import type { FinishReason, RequestState } from './request-state.ts'
import { SchedulerCore } from './scheduler-core.ts'

/**
 * Static batching, as `generate` of Hugging Face's transformers and FasterTransformer do it, and as Orca (OSDI '22, §3.1) describes
 * its trouble: whoever waits when the last batch is done makes up the next, nobody joins it, and it runs until its longest answer
 * ends. Prompts are padded to the longest, which is computed for every row; a row that has ended stays in the batch and is computed
 * like the others. Its caller has the end at once here (answers are streamed); its place and its blocks are free with the batch.
 *
 * Seats and blocks limit a batch, `maxNumBatchedTokens` does not: its prompts are one step. Blocks for all that the callers allow are
 * held from the beginning, so nothing is ever evicted. There is no prefix cache.
 */
export class StaticScheduler extends SchedulerCore {
  /** Rows of the batch, the ended ones with them. */
  private places = 0
  /** Tokens of the longest prompt. */
  private width = 0
  /** Tokens that each row has got in this batch. */
  private given = 0
  private heldBlocks = 0

  override schedule(startMs: number): boolean {
    if (this.running.rows.length === 0) this.form(startMs)
    const { places, width, given } = this
    if (places === 0) return false
    this.beginStep()
    this.stepRows = places
    if (given === 0) {
      this.stepTokens = places * width
      this.stepPrefillPairs = places * width * (width / 2)
    } else {
      this.stepTokens = places
      this.stepContextTokens = places * (width + given - 1)
    }
    return true
  }

  private form(startMs: number): void {
    const { waiting, pool, config } = this
    let rest = 0
    while (waiting.size > 0 && this.places < config.maxNumSeqs) {
      const row = waiting.at(0)
      const places = this.places + 1
      const width = Math.max(this.width, row.promptTokens + row.outputTokens)
      const longest = Math.max(rest, row.allowedTokens - row.outputTokens)
      const blocks = places * Math.ceil((width + longest) / config.blockSize)
      // Alone it is always taken: intake has seen that what it will really need is there.
      if (blocks > pool.free && places > 1) break
      rest = longest
      this.places = places
      this.width = width
      this.heldBlocks = Math.min(blocks, pool.free)
      waiting.popFront()
      if (row.firstScheduledMs < 0) row.firstScheduledMs = startMs
      this.running.admit(row)
    }
    pool.take(this.heldBlocks)
  }

  override complete(endMs: number, segment: number): void {
    this.lastEndMs = endMs
    this.lastSegment = segment
    this.given += 1
    const { rows } = this.running
    let kept = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as RequestState
      if (this.give(row, 1)) this.retire(row, row.stopReason)
      else rows[kept++] = row
    }
    while (rows.length > kept) rows.pop()
    if (kept === 0) this.disband()
  }

  override drop(row: RequestState, reason: FinishReason): void {
    const { running } = row
    super.drop(row, reason)
    if (running && this.running.rows.length === 0) this.disband()
  }

  /** The whole batch begins again: its blocks are one piece. */
  override makeRoom(blocks: number): void {
    if (blocks <= this.pool.free) return
    while (this.running.rows.length > 0) this.preempt(this.running.last())
    this.disband()
  }

  private disband(): void {
    this.pool.release([], this.heldBlocks)
    this.heldBlocks = 0
    this.places = 0
    this.width = 0
    this.given = 0
  }
}
