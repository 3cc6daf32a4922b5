import type { AnswerReader } from './answer-reader.ts'
import type { ChunkFacts } from './chunk-facts.ts'
import { errorFacts } from './error-facts.ts'
import { addOutput, countOf, fieldsOf, type JsonFields } from './json-fields.ts'

/**
 * llama.cpp's native `/completion` (`tools/server/README.md`): each event carries `content` and the running `tokens_predicted`; the
 * one with `stop: true` ends the answer, with `stop_type` and timings.
 */
export const llamacppReader: AnswerReader = {
  event(value, facts) {
    facts.error = errorFacts(value)
    if (facts.error !== null) return 'event'
    if (typeof value['content'] !== 'string') return 'ignored'
    read(value, facts)
    return value['stop'] === true ? 'last' : 'event'
  },

  whole(value, facts) {
    facts.error = errorFacts(value)
    read(value, facts)
  },
}

function read(value: JsonFields, facts: ChunkFacts): void {
  addOutput(facts, 'content', value['content'])
  facts.completionTokens = countOf(value['tokens_predicted'])
  if (value['stop'] !== true) return
  facts.promptTokens = countOf(value['tokens_evaluated'])
  facts.cachedTokens = countOf(fieldsOf(value['timings'])['cache_n'])
  // Older servers say it in three fields instead of `stop_type`.
  const limited = value['stop_type'] === 'limit' || value['stopped_limit'] === true
  facts.finishReason = limited ? 'length' : 'stop'
}
