import type { ApiError } from './api-error.ts'

/** What the faults do to one request at the level of HTTP, decided when it arrives. */
export interface RequestFate {
  /** Answered with this error instead. */
  readonly refusal: ApiError | null
  /** How its answer breaks after so many tokens; null: it does not. 0 is before the first. */
  readonly breakKind: 'cut' | 'reset' | 'error'
  readonly breakAfterTokens: number | null
  /** Bytes of the answer that are held back and sent together; 0: none. */
  readonly bufferBytes: number
  /** Usage is left out although it was asked for. */
  readonly noUsage: boolean
}

export const untroubled: RequestFate = {
  refusal: null,
  breakKind: 'cut',
  breakAfterTokens: null,
  bufferBytes: 0,
  noUsage: false,
}
