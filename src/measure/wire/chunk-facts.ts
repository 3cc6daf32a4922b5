/** A piece of output text: where its JSON string lies in the event (between the quotes), or the text itself. */
export interface TextPiece {
  /** Null where `start` and `end` say where it is. */
  text: string | null
  start: number
  end: number
  /** Whether the JSON string holds escapes. */
  escaped: boolean
}

/**
 * What one streamed JSON event says, of all that a measurement wants. One object is filled again and again: nothing of it may
 * be kept. Counts are -1 where the event does not say.
 */
export class ChunkFacts {
  /** Some choice carries non-empty content, reasoning, completion text, or a tool call with a name or arguments. */
  hasOutput = false
  /** Some choice carries non-empty content or completion text. */
  hasContent = false
  finishReason: string | null = null
  promptTokens = -1
  completionTokens = -1
  cachedTokens = -1
  reasoningTokens = -1
  /** An error that the event reports. */
  error: ErrorFacts | null = null
  readonly content: TextPiece = emptyPiece()
  readonly reasoning: TextPiece = emptyPiece()
  readonly toolArguments: TextPiece = emptyPiece()

  clear(): void {
    this.hasOutput = false
    this.hasContent = false
    this.finishReason = null
    this.promptTokens = -1
    this.completionTokens = -1
    this.cachedTokens = -1
    this.reasoningTokens = -1
    this.error = null
    clearPiece(this.content)
    clearPiece(this.reasoning)
    clearPiece(this.toolArguments)
  }
}

/** An error as a server reports it, in a body or in a stream. Absent is null. */
export interface ErrorFacts {
  readonly code: string | null
  readonly type: string | null
  readonly message: string | null
}

function emptyPiece(): TextPiece {
  return { text: null, start: 0, end: 0, escaped: false }
}

function clearPiece(piece: TextPiece): void {
  piece.text = null
  piece.start = 0
  piece.end = 0
  piece.escaped = false
}

/** The text of a piece; `bytes` are those of the event. */
export function pieceText(piece: TextPiece, bytes: Uint8Array): string {
  if (piece.text !== null) return piece.text
  if (piece.start === piece.end) return ''
  const raw = utf8(bytes, piece.start, piece.end)
  return piece.escaped ? (JSON.parse(`"${raw}"`) as string) : raw
}

export function utf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}
