import type { RequestRow } from '../record/request-row.ts'

/** What one exchange with the server contributes to the row: everything but the plan's own columns. */
export type ResponseFields = Omit<
  RequestRow,
  'id' | 'phase' | 'worker' | 'prompt_id' | 'segment' | 'session' | 'turn' | 'asked_output_tokens' | 'outcome'
> & {
  /** `censored` is the caller's word: an exchange that was aborted because the drain ended. */
  readonly outcome: 'ok' | 'failed' | 'shed' | 'censored'
}
