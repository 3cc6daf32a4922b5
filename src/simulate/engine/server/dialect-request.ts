import type { ApiKind } from '../../../measure/wire/api.ts'
import { badRequest } from './api-error.ts'
import { type CompletionRequest, noEmbedding, parseCompletionRequest } from './completion-request.ts'
import {
  type Body,
  checkModel,
  contentText,
  messagesOf,
  optionalBoolean,
  optionalInteger,
  parseBody,
  promptOf,
} from './request-fields.ts'
import { type ChatMessage, tokenizeChat } from './tokenizer.ts'

/**
 * Reads the body of any API into the one request that the engine knows. `ignore_eos` and `min_tokens` are taken everywhere, as by servers
 * that put several APIs before one engine. Throws `ApiFailure` with the field to blame.
 */
export function parseGeneration(
  { kind, path, body: text }: { readonly kind: ApiKind; readonly path: string; readonly body: string },
  modelName: string,
): CompletionRequest {
  if (kind === 'chat' || kind === 'completions') return parseCompletionRequest(kind, text, modelName)
  const body = parseBody(text)
  if (kind !== 'tgi' && kind !== 'llamacpp') checkModel(body, modelName)
  const request = { ...readers[kind](body, path), kind, continuousUsage: false }
  if (request.promptIds.length === 0) throw badRequest('The prompt is empty.', promptNames[kind])
  if (request.maxTokens !== null && request.minTokens > request.maxTokens)
    throw badRequest('min_tokens is above the limit of the answer.', 'min_tokens')
  return request
}

type Native = Exclude<ApiKind, 'chat' | 'completions'>

const promptNames: Readonly<Record<Native, string>> = {
  responses: 'input',
  anthropic: 'messages',
  tgi: 'inputs',
  llamacpp: 'prompt',
  embeddings: 'input',
}

type Read = Omit<CompletionRequest, 'kind' | 'continuousUsage'>

const readers: Readonly<Record<Native, (body: Body, path: string) => Read>> = {
  responses: (body) => ({
    ...sampling(body),
    promptIds: tokenizeChat(inputMessages(body)),
    maxTokens: limit(body, 'max_output_tokens'),
    stream: optionalBoolean(body, 'stream'),
    includeUsage: true,
  }),
  anthropic(body) {
    const maxTokens = limit(body, 'max_tokens')
    if (maxTokens === null) throw badRequest('max_tokens: Field required', 'max_tokens')
    const { system } = body
    const before = system === undefined ? [] : [{ role: 'system', content: contentText(system, 0) }]
    return {
      ...sampling(body),
      promptIds: tokenizeChat([...before, ...messagesOf(body)]),
      maxTokens,
      stream: optionalBoolean(body, 'stream'),
      includeUsage: true,
    }
  },
  tgi(body, path) {
    const { parameters = {} } = body
    if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
      throw badRequest('parameters must be an object.', 'parameters')
    const asked = parameters as Body
    return {
      ...sampling(asked),
      promptIds: promptOf(body, 'inputs'),
      maxTokens: limit(asked, 'max_new_tokens') ?? tgiLimit,
      stream: path.endsWith('_stream'),
      includeUsage: optionalBoolean(asked, 'details'),
    }
  },
  llamacpp(body) {
    const asked = optionalInteger(body, 'n_predict') ?? -1
    return {
      ...sampling(body),
      promptIds: promptOf(body),
      // -1 is no limit, 0 only reads the prompt, which is one step here too.
      maxTokens: asked < 0 ? null : Math.max(1, asked),
      stream: optionalBoolean(body, 'stream'),
      includeUsage: true,
    }
  },
  embeddings(body) {
    const dimensions = limit(body, 'dimensions') ?? defaultDimensions
    if (dimensions > mostDimensions)
      throw badRequest(`dimensions must be at most ${mostDimensions}.`, 'dimensions')
    const format = body['encoding_format'] ?? 'float'
    if (format !== 'float' && format !== 'base64')
      throw badRequest('encoding_format must be float or base64.', 'encoding_format')
    return {
      promptIds: promptOf(body, 'input'),
      maxTokens: 1,
      minTokens: 0,
      ignoreEos: true,
      stream: false,
      includeUsage: true,
      seed: null,
      embedding: { dimensions, base64: format === 'base64' },
    }
  },
}

/** TGI's own where a request has none (`launcher`, `default_max_new_tokens`). */
const tgiLimit = 100
const defaultDimensions = 64
const mostDimensions = 4096

function sampling(body: Body): Pick<Read, 'minTokens' | 'ignoreEos' | 'seed' | 'embedding'> {
  const minTokens = optionalInteger(body, 'min_tokens') ?? 0
  if (minTokens < 0) throw badRequest(`min_tokens must be at least 0, not ${minTokens}.`, 'min_tokens')
  return {
    minTokens,
    ignoreEos: optionalBoolean(body, 'ignore_eos'),
    seed: optionalInteger(body, 'seed'),
    embedding: noEmbedding,
  }
}

function limit(body: Body, name: string): number | null {
  const value = optionalInteger(body, name)
  if (value !== null && value < 1) throw badRequest(`${name} must be at least 1, not ${value}.`, name)
  return value
}

/** The input of the Responses API: one text, or messages; `instructions` stand before them. */
function inputMessages({ input, instructions }: Body): readonly ChatMessage[] {
  const before = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []
  if (typeof input === 'string') return [...before, { role: 'user', content: input }]
  if (!Array.isArray(input)) throw badRequest('input must be a text or a list of messages.', 'input')
  return [...before, ...messagesOf({ messages: input })]
}
