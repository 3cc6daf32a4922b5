import { randomStream, standardNormal } from '../../../base/random.ts'
import { type AnswerForm, type AnswerIdentity, asciiJson } from './answer-form.ts'

/** Which vector an embedding request asks for. */
export interface EmbeddingAsked {
  readonly dimensions: number
  readonly base64: boolean
}

/**
 * Embeddings (platform.openai.com/docs/api-reference/embeddings): one JSON, a vector of length 1 that is made up, the same for the same
 * prompt; as floats, or as OpenAI's clients ask it, base64 of little-endian 32-bit floats. In the engine it is a prefill and one step.
 */
export function embeddingsForm(
  identity: AnswerIdentity,
  { dimensions, base64 }: EmbeddingAsked,
  promptKey: number,
): AnswerForm {
  return {
    opening: () => [],
    first: () => [],
    tokens: () => '\n',
    end: () => [],
    failure: () => [],
    whole({ final }) {
      const vector = vectorOf(promptKey, dimensions)
      return asciiJson({
        id: `embd-${identity.id}`,
        object: 'list',
        created: identity.createdS,
        model: identity.model,
        data: [{ index: 0, object: 'embedding', embedding: base64 ? base64Of(vector) : Array.from(vector) }],
        ...(final === null
          ? {}
          : { usage: { prompt_tokens: final.promptTokens, total_tokens: final.promptTokens } }),
      })
    },
  }
}

function vectorOf(promptKey: number, dimensions: number): Float32Array {
  const random = randomStream(promptKey, 'embedding')
  const drawn = Float64Array.from({ length: dimensions }, () => standardNormal(random))
  const length = Math.hypot(...drawn)
  return Float32Array.from(drawn, (value) => value / length)
}

function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4))
  return bytes.toString('base64')
}
