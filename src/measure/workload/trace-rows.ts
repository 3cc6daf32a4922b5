/** One request of recorded traffic: when, how long, and what its prompt shares with others. */
export interface TraceEntry {
  /** After the first of the trace, ms. */
  readonly atMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  /** Ids of the prompt's blocks from its beginning: prompts that begin with the same ids begin alike. Null: shares nothing. */
  readonly blocks: readonly number[] | null
  readonly segment: string | null
  readonly session: string | null
}

/** Rows as they are read, before they are ordered. */
export interface TraceRows {
  readonly entries: readonly TraceEntry[]
  readonly blockTokens: number
  readonly skipped: Readonly<Record<string, number>>
}
