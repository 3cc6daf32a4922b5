import type { AnswerReader } from './answer-reader.ts'
import { errorFacts } from './error-facts.ts'
import { countOf, fieldsOf, listOf } from './json-fields.ts'

/** Embeddings (platform.openai.com/docs/api-reference/embeddings): one JSON answer, no output token, hence no TTFT and no TPOT. */
export const embeddingsReader: AnswerReader = {
  event: () => 'ignored',
  whole(value, facts) {
    facts.error = errorFacts(value)
    facts.promptTokens = countOf(fieldsOf(value['usage'])['prompt_tokens'])
    facts.hasOutput = listOf(value['data']).some(({ embedding }) =>
      typeof embedding === 'string' ? embedding !== '' : Array.isArray(embedding) && embedding.length > 0,
    )
  },
}
