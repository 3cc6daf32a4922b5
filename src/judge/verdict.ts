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

/** Rules on the instrument: whether it, and not the server, set the numbers. */
const clientRules: ReadonlySet<string> = new Set([
  'late_sends',
  'loop_delay',
  'stood_still',
  'worker_busy',
  'load_not_sent',
])

/** Whether a reason says that the client set the numbers; a busy worker, a reservation of one run, does so where loads are compared. */
export function isOfClient({ rule, status }: VerdictReason): boolean {
  return clientRules.has(rule) && (status === 'INVALID' || rule === 'worker_busy')
}

/** Whether the client set the numbers. */
export function isClientBound({ reasons }: Pick<Verdict, 'reasons'>): boolean {
  return reasons.some(isOfClient)
}
