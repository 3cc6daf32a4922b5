import type { RequestState } from './request-state.ts'

/**
 * The rows of the lockstep by the tick that ends them: a binary heap. Rows that leave early stay in it until they come to the
 * top, where they are known by what they are now.
 */
export class FinishQueue {
  private size = 0
  private ticks = new Int32Array(16)
  private rows: RequestState[] = []

  push(row: RequestState): void {
    if (this.size === this.ticks.length) {
      const larger = new Int32Array(this.size * 2)
      larger.set(this.ticks)
      this.ticks = larger
    }
    const tick = row.finishTick
    let at = this.size++
    while (at > 0) {
      const above = (at - 1) >> 1
      if ((this.ticks[above] as number) <= tick) break
      this.ticks[at] = this.ticks[above] as number
      this.rows[at] = this.rows[above] as RequestState
      at = above
    }
    this.ticks[at] = tick
    this.rows[at] = row
  }

  /** The first tick that ends a row; infinite when none does. */
  firstTick(): number {
    while (this.size > 0) {
      const row = this.rows[0] as RequestState
      if (row.decoding && row.finishTick === this.ticks[0]) return this.ticks[0] as number
      this.drop()
    }
    return Number.POSITIVE_INFINITY
  }

  /** Takes the row of `firstTick`, which must be finite. */
  take(): RequestState {
    const row = this.rows[0] as RequestState
    this.drop()
    return row
  }

  clear(): void {
    this.size = 0
    this.rows = []
  }

  private drop(): void {
    const last = --this.size
    const row = this.rows[last] as RequestState
    const tick = this.ticks[last] as number
    this.rows.pop()
    if (last === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= last) break
      if (below + 1 < last && (this.ticks[below + 1] as number) < (this.ticks[below] as number)) below += 1
      if ((this.ticks[below] as number) >= tick) break
      this.ticks[at] = this.ticks[below] as number
      this.rows[at] = this.rows[below] as RequestState
      at = below
    }
    this.ticks[at] = tick
    this.rows[at] = row
  }
}
