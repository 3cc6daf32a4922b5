import type { AnswerReader } from './answer-reader.ts'
import type { ChunkFacts } from './chunk-facts.ts'
import { errorFacts } from './error-facts.ts'
import { addOutput, countOf, fieldsOf, isFields, listOf } from './json-fields.ts'

/**
 * Anthropic's Messages API (docs.anthropic.com/en/api/messages-streaming): `content_block_delta` carries output, `message_delta` the
 * running total of output tokens and why it stopped, `message_stop` ends the answer.
 */
export const anthropicReader: AnswerReader = {
  event(value, facts) {
    switch (value['type']) {
      case 'message_start': {
        // Its output_tokens are of an answer that has only begun: the total comes with message_delta.
        readPromptUsage(fieldsOf(value['message'])['usage'], facts)
        return 'event'
      }
      case 'content_block_start':
        readBlock(fieldsOf(value['content_block']), facts)
        return 'event'
      case 'content_block_delta': {
        const delta = fieldsOf(value['delta'])
        addOutput(facts, 'content', delta['text'])
        addOutput(facts, 'reasoning', delta['thinking'])
        addOutput(facts, 'toolArguments', delta['partial_json'])
        return 'event'
      }
      case 'content_block_stop':
        return 'event'
      case 'message_delta':
        facts.finishReason = finishOf(fieldsOf(value['delta'])['stop_reason'])
        readPromptUsage(value['usage'], facts)
        facts.completionTokens = countOf(fieldsOf(value['usage'])['output_tokens'])
        return 'event'
      case 'message_stop':
        return 'last'
      case 'error':
        facts.error = errorFacts(value, true)
        return 'event'
      default:
        return 'ignored'
    }
  },

  whole(value, facts) {
    facts.finishReason = finishOf(value['stop_reason'])
    readPromptUsage(value['usage'], facts)
    facts.completionTokens = countOf(fieldsOf(value['usage'])['output_tokens'])
    for (const block of listOf(value['content'])) {
      readBlock(block, facts)
      if (isFields(block['input'])) addOutput(facts, 'toolArguments', JSON.stringify(block['input']))
    }
  },
}

/** A block as it begins; a tool's name is output, its arguments are still empty. */
function readBlock(block: Readonly<Record<string, unknown>>, facts: ChunkFacts): void {
  addOutput(facts, 'content', block['text'])
  addOutput(facts, 'reasoning', block['thinking'])
  if (typeof block['name'] === 'string' && block['name'] !== '') facts.hasOutput = true
}

/** The whole prompt: what was read from the cache and what was written to it are counted beside `input_tokens`. */
function readPromptUsage(usage: unknown, facts: ChunkFacts): void {
  if (!isFields(usage)) return
  const fresh = countOf(usage['input_tokens'])
  if (fresh === -1) return
  const read = countOf(usage['cache_read_input_tokens'])
  facts.promptTokens = fresh + Math.max(0, read) + Math.max(0, countOf(usage['cache_creation_input_tokens']))
  facts.cachedTokens = read
}

/** In the words of the chat API, so that a row reads the same. */
function finishOf(reason: unknown): string | null {
  if (typeof reason !== 'string' || reason === '') return null
  return (
    { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', tool_use: 'tool_calls' }[reason] ??
    reason
  )
}
