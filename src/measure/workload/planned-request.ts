/**
 * A request as the plan has it, before it is sent. `body` is the exact JSON text of the POST, made before the measurement so
 * that nothing is serialised while time is taken.
 */
export interface PlannedRequest {
  readonly index: number
  /** Intended send in ms after the run's origin; null in a closed loop, where a free slot decides. */
  readonly plannedMs: number | null
  /** Closed loop: the pause that this request's slot takes before it is sent, in ms. */
  readonly thinkTimeMs: number
  readonly body: string
  /** Headers of this request alone; absent: those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The client hangs up so long after the intended send, ms; absent: it waits for the answer. */
  readonly cancelAfterMs?: number
  readonly promptId: string | null
  readonly segment: string | null
  readonly session: string | null
  readonly turn: number | null
  readonly askedOutputTokens: number | null
  /** Prompt tokens as planned (exact, or as calibrated); the server's own count goes on the row. */
  readonly plannedPromptTokens: number | null
}
