import { badRequest, notFound } from './api-error.ts'
import { type ChatMessage, tokenize } from './tokenizer.ts'

/** The JSON object of a request's body. */
export type Body = Readonly<Record<string, unknown>>

export function parseBody(text: string): Body {
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

export function checkModel(body: Body, modelName: string): void {
  const model = body['model'] ?? modelName
  if (model !== modelName) {
    throw notFound(
      `The model ${JSON.stringify(model)} does not exist; this engine serves "${modelName}".`,
      'model',
    )
  }
}

/** The messages of a chat: roles with texts, or with parts of which only texts are read. */
export function messagesOf({ messages }: Body): ChatMessage[] {
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

/** What parts of text are called: by chat and Anthropic, and by the Responses API. */
const textParts: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text'])

export function contentText(content: unknown, index: number): string {
  if (typeof content === 'string') return content
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content))
    throw badRequest(`messages[${index}].content must be a text or parts.`, 'messages')
  return content
    .map((part: unknown) => {
      const { type, text } = (part ?? {}) as Body
      if (!textParts.has(type) || typeof text !== 'string') {
        throw badRequest(`messages[${index}]: this engine reads parts of type "text" only.`, 'messages')
      }
      return text
    })
    .join('')
}

/** A prompt as a text or as token ids, alone or as a list of one. */
export function promptOf(body: Body, name = 'prompt'): Int32Array {
  let prompt = body[name]
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] !== 'number')
    prompt = prompt[0] as unknown
  if (typeof prompt === 'string') return tokenize(prompt)
  if (isTokenIds(prompt)) return Int32Array.from(prompt)
  if (Array.isArray(prompt) && prompt.length > 1) {
    throw badRequest(`this engine takes one ${name} a request.`, name)
  }
  throw badRequest(`${name} must be a text or a list of token ids.`, name)
}

export function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31)
}

export function optionalInteger(body: Body, name: string): number | null {
  const value = body[name] ?? null
  if (value !== null && !Number.isSafeInteger(value))
    throw badRequest(`${name} must be a whole number.`, name)
  return value as number | null
}

export function optionalBoolean(body: Body, name: string): boolean {
  const value = body[name] ?? false
  if (typeof value !== 'boolean') throw badRequest(`${name} must be true or false.`, name)
  return value
}
