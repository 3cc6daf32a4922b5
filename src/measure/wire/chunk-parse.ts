import type { ChunkFacts, TextPiece } from './chunk-facts.ts'
import { errorFacts } from './error-facts.ts'

type Fields = Record<string, unknown>

/**
 * Reads one streamed JSON event with `JSON.parse`: the meaning that `scanChunk` must agree with, and the way for everything that
 * it does not take. False: this is not a JSON object.
 */
export function parseChunk(text: string, facts: ChunkFacts): boolean {
  facts.clear()
  const value = fieldsOf(text)
  if (value === null) return false
  // An event with an error may still say how far the answer came and why it ended.
  facts.error = errorFacts(value)
  readUsage(value['usage'], facts)
  const choices = value['choices']
  if (Array.isArray(choices)) {
    for (const choice of choices) {
      if (!isFields(choice)) continue
      readChoice(choice, facts)
      if (!isFields(value['usage'])) readUsage(choice['usage'], facts)
    }
  }
  return true
}

/** Null: this is not a JSON object. */
function fieldsOf(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

/** A whole answer that was not streamed: `choices[].message` or `choices[].text`. False: not such a JSON object. */
export function parseWholeAnswer(text: string, facts: ChunkFacts): boolean {
  facts.clear()
  const value = fieldsOf(text)
  if (value === null) return false
  facts.error = errorFacts(value)
  if (facts.error !== null) return true
  const choices = value['choices']
  if (!Array.isArray(choices)) {
    facts.error = errorFacts(value, true)
    return true
  }
  readUsage(value['usage'], facts)
  for (const choice of choices) {
    if (isFields(choice)) readChoice({ ...choice, delta: choice['message'] ?? choice['delta'] }, facts)
  }
  return true
}

function readChoice(choice: Fields, facts: ChunkFacts): void {
  const finish = choice['finish_reason']
  if (typeof finish === 'string' && finish !== '') facts.finishReason = finish
  content(choice['text'], facts)
  const delta = choice['delta']
  if (!isFields(delta)) return
  content(delta['content'], facts)
  const reasoning = textOf(delta['reasoning_content']) || textOf(delta['reasoning'])
  if (reasoning !== '') {
    facts.hasOutput = true
    add(facts.reasoning, reasoning)
  }
  const calls = delta['tool_calls']
  if (Array.isArray(calls)) {
    for (const call of calls) if (isFields(call)) toolCall(call['function'], facts)
  }
  toolCall(delta['function_call'], facts)
}

function content(value: unknown, facts: ChunkFacts): void {
  const text = textOf(value)
  if (text === '') return
  facts.hasOutput = true
  facts.hasContent = true
  add(facts.content, text)
}

function toolCall(call: unknown, facts: ChunkFacts): void {
  if (!isFields(call)) return
  const given = call['arguments']
  // Some servers send the arguments as an object instead of its text.
  const text = isFields(given) ? JSON.stringify(given) : textOf(given)
  if (text !== '') add(facts.toolArguments, text)
  if (text !== '' || textOf(call['name']) !== '') facts.hasOutput = true
}

/** A text, or the texts of a list of content parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  let text = ''
  for (const part of value) if (isFields(part) && typeof part['text'] === 'string') text += part['text']
  return text
}

function add(piece: TextPiece, text: string): void {
  piece.text = (piece.text ?? '') + text
}

function readUsage(usage: unknown, facts: ChunkFacts): void {
  if (!isFields(usage)) return
  facts.promptTokens = count(usage['prompt_tokens'])
  facts.completionTokens = count(usage['completion_tokens'])
  const prompt = usage['prompt_tokens_details']
  const completion = usage['completion_tokens_details']
  facts.cachedTokens = isFields(prompt) ? count(prompt['cached_tokens']) : -1
  if (facts.cachedTokens === -1) facts.cachedTokens = count(usage['prompt_cache_hit_tokens'])
  facts.reasoningTokens = isFields(completion) ? count(completion['reasoning_tokens']) : -1
  if (facts.reasoningTokens === -1) facts.reasoningTokens = count(usage['reasoning_tokens'])
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
