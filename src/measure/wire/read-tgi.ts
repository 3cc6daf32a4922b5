import type { AnswerReader } from './answer-reader.ts'
import type { ChunkFacts } from './chunk-facts.ts'
import { errorFacts } from './error-facts.ts'
import { addOutput, countOf, fieldsOf, isFields, listOf, type JsonFields } from './json-fields.ts'

/**
 * TGI's `generate_stream` (text-generation-inference, `router/src/lib.rs`): an event a token, the last with `generated_text` and
 * details. Tokens of each event are known by that alone. Special tokens count, but are no output.
 */
export function tgiReader(): AnswerReader {
  let tokens = 0
  return {
    event(value, facts) {
      facts.error = errorFacts(value)
      if (facts.error !== null) return 'event'
      const token = value['token']
      if (!isFields(token)) return 'ignored'
      tokens++
      facts.completionTokens = tokens
      if (token['special'] !== true) addOutput(facts, 'content', token['text'])
      const details = value['details']
      const isLast = typeof value['generated_text'] === 'string'
      if (isFields(details)) readDetails(details, facts)
      else if (isLast) facts.finishReason = 'stop'
      return isLast ? 'last' : 'event'
    },

    whole(value, facts) {
      facts.error = errorFacts(value)
      addOutput(facts, 'content', value['generated_text'])
      readDetails(fieldsOf(value['details']), facts)
      facts.finishReason ??= 'stop'
    },
  }
}

function readDetails(details: JsonFields, facts: ChunkFacts): void {
  const generated = countOf(details['generated_tokens'])
  if (generated !== -1) facts.completionTokens = generated
  facts.promptTokens = countOf(details['input_length'])
  const prefill = listOf(details['prefill']).length
  if (facts.promptTokens === -1 && prefill > 0) facts.promptTokens = prefill
  const reason = details['finish_reason']
  if (typeof reason !== 'string') return
  facts.finishReason = reason === 'eos_token' || reason === 'stop_sequence' ? 'stop' : reason
}
