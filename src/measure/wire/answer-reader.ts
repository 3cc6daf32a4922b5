import type { ApiKind } from './api.ts'
import type { ChunkFacts } from './chunk-facts.ts'
import type { JsonFields } from './json-fields.ts'
import { anthropicReader } from './read-anthropic.ts'
import { embeddingsReader } from './read-embeddings.ts'
import { llamacppReader } from './read-llamacpp.ts'
import { responsesReader } from './read-responses.ts'
import { tgiReader } from './read-tgi.ts'

/**
 * Reads the answers of an API that is not OpenAI's chat or completions: each event into the same facts, so that a row is the same
 * whatever the API. One reader watches one answer and may remember what it has seen of it.
 */
export interface AnswerReader {
  /** `last`: this event ends the answer, as `[DONE]` does. `ignored`: it is none of the API's, or says nothing. */
  event(value: JsonFields, facts: ChunkFacts): 'event' | 'last' | 'ignored'
  /** A whole answer that was not streamed. */
  whole(value: JsonFields, facts: ChunkFacts): void
}

/** Null: the chat and completions APIs, which have a scanner of their own. */
export function readerOf(api: ApiKind): AnswerReader | null {
  switch (api) {
    case 'responses':
      return responsesReader
    case 'anthropic':
      return anthropicReader
    case 'tgi':
      return tgiReader()
    case 'llamacpp':
      return llamacppReader
    case 'embeddings':
      return embeddingsReader
    default:
      return null
  }
}
