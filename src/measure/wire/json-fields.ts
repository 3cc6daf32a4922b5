import type { ChunkFacts, TextPiece } from './chunk-facts.ts'

export type JsonFields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in a field, or one without fields. */
export function fieldsOf(value: unknown): JsonFields {
  return isFields(value) ? value : nothing
}

const nothing: JsonFields = {}

/** The objects of a list; none where it is no list. */
export function listOf(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

/** A JSON object from its text, or null. */
export function parseFields(text: string): JsonFields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

/** A count, or -1 where the value is none. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1
}

/** Puts down output of a channel; an empty text, or what is no text, is none. */
export function addOutput(
  facts: ChunkFacts,
  channel: 'content' | 'reasoning' | 'toolArguments',
  value: unknown,
): void {
  if (typeof value !== 'string' || value === '') return
  const piece: TextPiece = facts[channel]
  piece.text = (piece.text ?? '') + value
  facts.hasOutput = true
  if (channel === 'content') facts.hasContent = true
}
