import type { ApiError } from './api-error.ts'

export interface AnswerIdentity {
  /** The request's id; each API puts its own word in front. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly createdS: number
  readonly promptTokens: number
}

export interface UsageCounts {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Null while it is not known: running totals come without. */
  readonly cachedTokens: number | null
}

export type FinishWord = 'stop' | 'length'

/**
 * How an API words the answers of the one engine: the events of a stream, in order, or one JSON. A list's texts are written one by
 * one. All is ASCII (others escaped), so that a byte is a character.
 */
export interface AnswerForm {
  /** With the head of a stream, before the engine has done anything. */
  opening(): readonly string[]
  /** Right before the first token. */
  first(running: UsageCounts | null): readonly string[]
  /** The event of the `count` tokens of a step, never empty; the last with the reason why it is the last. */
  tokens(text: string, count: number, last: FinishWord | null, running: UsageCounts | null): string
  /** What follows the last token. `final` null: usage is not told. */
  end(ended: EndedAnswer): readonly string[]
  /** An error in the middle of a stream. */
  failure(error: ApiError): readonly string[]
  whole(ended: EndedAnswer): string
}

export interface EndedAnswer {
  readonly text: string
  readonly finish: FinishWord
  readonly running: UsageCounts | null
  readonly final: UsageCounts | null
}

/** JSON with everything outside ASCII escaped. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A server-sent event; `type` is its name where the API names them. */
export function sse(value: unknown, type: string | null = null): string {
  return `${type === null ? '' : `event: ${type}\n`}data: ${asciiJson(value)}\n\n`
}
