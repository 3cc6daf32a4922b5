import type { Prompt } from './request-body.ts'

/** A prompt that somebody wrote. */
export interface PromptItem {
  readonly id: string
  readonly segment: string | null
  readonly prompt: Prompt
  readonly outputTokens: number | null
  /** Further fields of the body, as a batch file has them. */
  readonly extraBody?: Readonly<Record<string, unknown>>
  /** The line as it stands, where templates ask for its fields. */
  readonly row?: Readonly<Record<string, unknown>>
}
