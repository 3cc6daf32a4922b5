import type { ApiKind } from '../../../measure/wire/api.ts'
import type { EmbeddingAsked } from './answer-embeddings.ts'
import { badRequest } from './api-error.ts'
import {
  type Body,
  checkModel,
  isTokenIds,
  messagesOf,
  optionalBoolean,
  optionalInteger,
  parseBody,
  promptOf,
} from './request-fields.ts'
import { tokenize, tokenizeChat } from './tokenizer.ts'

/** A generation request, checked. Sampling parameters are accepted and mean nothing here: the text is made up. */
export interface CompletionRequest {
  readonly kind: ApiKind
  readonly promptIds: Int32Array
  /** Null: as many as the model's length allows (chat), which the caller works out. */
  readonly maxTokens: number | null
  readonly minTokens: number
  readonly ignoreEos: boolean
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly continuousUsage: boolean
  /** The request's own sampling seed, which changes text and drawn length. */
  readonly seed: number | null
  /** Of an embedding, which vector. */
  readonly embedding: EmbeddingAsked
}

export const noEmbedding: EmbeddingAsked = { dimensions: 0, base64: false }

/** Reads the body of `/v1/chat/completions` or `/v1/completions`. Throws `ApiFailure` with the field to blame. */
export function parseCompletionRequest(
  kind: 'chat' | 'completions',
  text: string,
  modelName: string,
): CompletionRequest {
  const body = parseBody(text)
  checkModel(body, modelName)
  const n = optionalInteger(body, 'n')
  if (n !== null && n !== 1) {
    throw badRequest(`this engine answers each request once: n must be 1, not ${n}. Send ${n} requests.`, 'n')
  }
  for (const [name, allowed] of [
    ['best_of', 1],
    ['echo', false],
    ['use_beam_search', false],
  ] as const) {
    const value = body[name] ?? allowed
    if (value !== allowed) throw badRequest(`this engine cannot do ${name} = ${JSON.stringify(value)}.`, name)
  }
  checkStop(body['stop'])
  const stream = optionalBoolean(body, 'stream')
  const options = streamOptions(body, stream)
  const maxTokens =
    (kind === 'chat' ? optionalInteger(body, 'max_completion_tokens') : null) ??
    optionalInteger(body, 'max_tokens')
  if (maxTokens !== null && maxTokens < 1) {
    throw badRequest(`max_tokens must be at least 1, not ${maxTokens}.`, 'max_tokens')
  }
  const minTokens = optionalInteger(body, 'min_tokens') ?? 0
  if (minTokens < 0) throw badRequest(`min_tokens must be at least 0, not ${minTokens}.`, 'min_tokens')
  if (maxTokens !== null && minTokens > maxTokens) {
    throw badRequest(`min_tokens (${minTokens}) must not be above max_tokens (${maxTokens}).`, 'min_tokens')
  }
  const promptIds = kind === 'chat' ? tokenizeChat(messagesOf(body)) : promptOf(body)
  if (promptIds.length === 0)
    throw badRequest('The prompt is empty.', kind === 'chat' ? 'messages' : 'prompt')
  return {
    kind,
    promptIds,
    maxTokens: maxTokens ?? (kind === 'completions' ? 16 : null),
    minTokens,
    ignoreEos: optionalBoolean(body, 'ignore_eos'),
    stream,
    includeUsage: !stream || options.includeUsage,
    continuousUsage: options.continuousUsage,
    seed: optionalInteger(body, 'seed'),
    embedding: noEmbedding,
  }
}

/** What `/tokenize` is asked for: the ids of `prompt`, or of `messages` in the chat template; their texts too, if wanted. */
export function parseTokenizeRequest(
  text: string,
  modelName: string,
): { readonly ids: Int32Array; readonly wantsTexts: boolean } {
  const body = parseBody(text)
  checkModel(body, modelName)
  const wantsTexts = optionalBoolean(body, 'return_token_strs')
  if (body['messages'] !== undefined) {
    const opening = (body['add_generation_prompt'] ?? true) === true
    return { ids: tokenizeChat(messagesOf(body), opening), wantsTexts }
  }
  const { prompt } = body
  if (typeof prompt !== 'string') throw badRequest('prompt must be a text.', 'prompt')
  return { ids: tokenize(prompt), wantsTexts }
}

/** The ids of a `/detokenize` request. */
export function parseDetokenizeRequest(text: string, modelName: string): readonly number[] {
  const body = parseBody(text)
  checkModel(body, modelName)
  const { tokens } = body
  if (!isTokenIds(tokens)) throw badRequest('tokens must be a list of token ids.', 'tokens')
  return tokens
}

function checkStop(stop: unknown): void {
  const list = stop === undefined || stop === null || typeof stop === 'string' ? [] : stop
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
    throw badRequest('stop must be a text or a list of texts.', 'stop')
  }
}

function streamOptions(body: Body, stream: boolean): { includeUsage: boolean; continuousUsage: boolean } {
  const options = body['stream_options'] ?? null
  if (options === null) return { includeUsage: false, continuousUsage: false }
  if (!stream) throw badRequest('stream_options need stream = true.', 'stream_options')
  if (typeof options !== 'object') throw badRequest('stream_options must be an object.', 'stream_options')
  const includeUsage = optionalBoolean(options as Body, 'include_usage')
  // As in vLLM, running totals are an addition to the final usage, and mean nothing without it.
  return {
    includeUsage,
    continuousUsage: includeUsage && optionalBoolean(options as Body, 'continuous_usage_stats'),
  }
}
