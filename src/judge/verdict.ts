/** Whether the client's numbers may be used: three-valued, with every reason that led there. */
export interface Verdict {
  readonly status: 'VALID' | 'DEGRADED' | 'INVALID'
  readonly reasons: readonly VerdictReason[]
}

export interface VerdictReason {
  readonly rule: string
  readonly status: 'DEGRADED' | 'INVALID'
  /** The evidence in a sentence, with the number and the limit it passed. */
  readonly message: string
  readonly value: number | null
  readonly limit: number | null
}
