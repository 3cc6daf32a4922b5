import type { RequestState } from './request-state.ts'

/** A list that is filled and emptied every step, and keeps its memory. */
export class RowBatch {
  size = 0
  private readonly rows: RequestState[] = []

  at(index: number): RequestState {
    return this.rows[index] as RequestState
  }

  push(row: RequestState): void {
    this.rows[this.size++] = row
  }

  /** In order of admission, from the back. */
  insert(row: RequestState): void {
    let at = this.size++
    for (; at > 0 && this.at(at - 1).admission > row.admission; at--) this.rows[at] = this.at(at - 1)
    this.rows[at] = row
  }

  clear(): void {
    this.size = 0
  }
}

/** The running requests in order of admission, and among them those that have not caught up. */
export class RunningRows {
  readonly rows: RequestState[] = []
  readonly prefilling: RequestState[] = []
  private admissions = 0

  admit(row: RequestState): void {
    row.running = true
    row.admission = this.admissions++
    this.rows.push(row)
    this.prefilling.push(row)
  }

  /** The youngest. */
  last(): RequestState {
    return this.rows[this.rows.length - 1] as RequestState
  }

  remove(row: RequestState): void {
    if (!row.caughtUp) this.endPrefill(row)
    if (this.rows[0] === row) this.rows.shift()
    else if (this.last() === row) this.rows.pop()
    else this.rows.splice(this.rows.indexOf(row), 1)
  }

  /** The row has caught up, or leaves. */
  endPrefill(row: RequestState): void {
    const { prefilling } = this
    if (prefilling.length === 1) prefilling.pop()
    else prefilling.splice(prefilling.indexOf(row), 1)
  }

  /** Whether every row that has not caught up is younger than every row that has. */
  prefillsAreLast(): boolean {
    return this.rows[this.rows.length - this.prefilling.length] === this.prefilling[0]
  }
}
