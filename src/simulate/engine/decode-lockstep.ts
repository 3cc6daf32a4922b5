import type { BlockPool } from './block-pool.ts'
import { FinishQueue } from './finish-queue.ts'
import type { RequestState } from './request-state.ts'

/**
 * The decoding rows of a replica, which all get one token in each step. Nothing is touched per row and step: a *tick*
 * counts the steps, and what a row has computed is `ticks + computedLessTicks`. Rows that cross a block's edge at the same
 * ticks (every `blockSize` of them) are counted together.
 */
export class DecodeLockstep {
  /** Ticks scheduled so far. */
  ticks = 0
  /** Rows in the lockstep. */
  rows = 0
  /** Rows among them whose full blocks get a hash. */
  hashedRows = 0
  /** Σ computed over them. */
  contextTokens = 0
  /** Who ends when. */
  readonly finishes: FinishQueue = new FinishQueue()
  private readonly blockSize: number
  /** Rows whose next block is due at ticks ≡ index (modulo the block size). */
  private readonly dueCount: Int32Array
  /** Of those, the ones whose full blocks get a hash, in order of admission. */
  private readonly dueHashed: RequestState[][]

  constructor(blockSize: number) {
    this.blockSize = blockSize
    this.dueCount = new Int32Array(blockSize)
    this.dueHashed = Array.from({ length: blockSize }, () => [])
  }

  /** A row that has computed all but its last token. */
  enter(row: RequestState): void {
    row.decoding = true
    row.caughtUp = true
    row.enteredTick = this.ticks
    row.computedLessTicks = row.computed - this.ticks
    row.finishTick = this.ticks + row.outputLimit - row.outputTokens
    this.finishes.push(row)
    this.rows += 1
    this.contextTokens += row.computed
    const due = this.dueIndex(row)
    this.dueCount[due] = (this.dueCount[due] as number) + 1
    // Blocks beyond the shared ones are only ever looked for by their owner: see Scheduler.preempt.
    if (row.sharedBlocks > row.nodes.length) {
      const list = this.dueHashed[due] as RequestState[]
      let at = list.length
      while (at > 0 && (list[at - 1] as RequestState).admission > row.admission) at -= 1
      list.splice(at, 0, row)
      this.hashedRows += 1
    }
  }

  /** Out again, with its counts made explicit. */
  leave(row: RequestState): void {
    this.settle(row)
    row.decoding = false
    this.rows -= 1
    this.contextTokens -= row.computed
    const due = this.dueIndex(row)
    this.dueCount[due] = (this.dueCount[due] as number) - 1
    if (this.hashedRows > 0) {
      const list = this.dueHashed[due] as RequestState[]
      const at = list.indexOf(row)
      if (at >= 0) {
        list.splice(at, 1)
        this.hashedRows -= 1
      }
    }
  }

  /** Brings `computed`, `outputTokens` and `blocks` of a row up to date. Between steps only. */
  settle(row: RequestState): void {
    row.computed = this.ticks + row.computedLessTicks
    row.outputTokens = row.computed - row.promptTokens + 1
    row.blocks = Math.ceil(row.computed / this.blockSize)
  }

  /** Blocks that the next tick takes. */
  blocksDue(): number {
    return this.dueCount[this.ticks % this.blockSize] as number
  }

  /** Blocks that the next `ticks` ticks take. */
  blocksDueWithin(ticks: number): number {
    const rounds = Math.floor(ticks / this.blockSize)
    let blocks = rounds * this.rows
    for (let i = rounds * this.blockSize; i < ticks; i++) {
      blocks += this.dueCount[(this.ticks + i) % this.blockSize] as number
    }
    return blocks
  }

  /** Every row gets a token scheduled. The caller has compared `blocksDue` with the pool's free blocks. */
  tick(pool: BlockPool): void {
    const due = this.blocksDue()
    if (due > 0) pool.take(due)
    this.ticks += 1
    this.contextTokens += this.rows
    if (this.hashedRows > 0) {
      const filled = this.dueHashed[this.ticks % this.blockSize] as RequestState[]
      for (let i = 0; i < filled.length; i++) this.registerFilled(filled[i] as RequestState, pool)
    }
  }

  /** So many ticks at once. The caller has compared `blocksDueWithin` with the pool's free blocks; no row is hashed. */
  skip(ticks: number, pool: BlockPool): void {
    const due = this.blocksDueWithin(ticks)
    if (due > 0) pool.take(due)
    this.ticks += ticks
    this.contextTokens += ticks * this.rows
  }

  private registerFilled(row: RequestState, pool: BlockPool): void {
    const full = Math.min((this.ticks + row.computedLessTicks) / this.blockSize, row.sharedBlocks)
    const hashes = row.hashes()
    for (let block = row.nodes.length; block < full; block++) {
      row.addNode(pool.register(hashes.low(block), hashes.high(block)))
    }
  }

  private dueIndex(row: RequestState): number {
    const index = -row.computedLessTicks % this.blockSize
    return index < 0 ? index + this.blockSize : index
  }
}
