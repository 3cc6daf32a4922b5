import { badRequest, notFound } from './api-error.ts'
import { type ChatMessage, tokenize, tokenizeChat } from './tokenizer.ts'

/** A generation request, checked. Sampling parameters are accepted and mean nothing here: the text is made up. */
export interface CompletionRequest {
  readonly kind: 'chat' | 'completions'
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
}

type Body = Readonly<Record<string, unknown>>

/** Reads the body of `/v1/chat/completions` or `/v1/completions`. Throws `ApiFailure` with the field to blame. */
export function parseCompletionRequest(
  kind: CompletionRequest['kind'],
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
    includeUsage: options.includeUsage,
    continuousUsage: options.continuousUsage,
    seed: optionalInteger(body, 'seed'),
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

function parseBody(text: string): Body {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw badRequest(`The body is not JSON: ${(error as Error).message}.`)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('The body must be a JSON object.')
  }
  return body as Body
}

function checkModel(body: Body, modelName: string): void {
  const model = body['model'] ?? modelName
  if (model !== modelName) {
    throw notFound(
      `The model ${JSON.stringify(model)} does not exist; this engine serves "${modelName}".`,
      'model',
    )
  }
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

function messagesOf(body: Body): ChatMessage[] {
  const { messages } = body
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badRequest('messages must be a list with at least one message.', 'messages')
  }
  return messages.map((message: unknown, index) => {
    const { role, content, tool_calls: calls } = (message ?? {}) as Body
    if (typeof role !== 'string') throw badRequest(`messages[${index}].role must be a text.`, 'messages')
    const made = contentText(content, index)
    return { role, content: calls === undefined ? made : made + JSON.stringify(calls) }
  })
}

function contentText(content: unknown, index: number): string {
  if (typeof content === 'string') return content
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content))
    throw badRequest(`messages[${index}].content must be a text or parts.`, 'messages')
  return content
    .map((part: unknown) => {
      const { type, text } = (part ?? {}) as Body
      if (type !== 'text' || typeof text !== 'string') {
        throw badRequest(`messages[${index}]: this engine reads parts of type "text" only.`, 'messages')
      }
      return text
    })
    .join('')
}

function promptOf(body: Body): Int32Array {
  let { prompt } = body
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] !== 'number')
    prompt = prompt[0] as unknown
  if (typeof prompt === 'string') return tokenize(prompt)
  if (isTokenIds(prompt)) return Int32Array.from(prompt)
  if (Array.isArray(prompt) && prompt.length > 1) {
    throw badRequest('this engine takes one prompt a request.', 'prompt')
  }
  throw badRequest('prompt must be a text or a list of token ids.', 'prompt')
}

function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31)
}

function optionalInteger(body: Body, name: string): number | null {
  const value = body[name] ?? null
  if (value !== null && !Number.isSafeInteger(value))
    throw badRequest(`${name} must be a whole number.`, name)
  return value as number | null
}

function optionalBoolean(body: Body, name: string): boolean {
  const value = body[name] ?? false
  if (typeof value !== 'boolean') throw badRequest(`${name} must be true or false.`, name)
  return value
}
