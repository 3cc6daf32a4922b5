import { PlimsollError } from '../../base/errors.ts'
import { readJsonObject } from './json-line.ts'
import type { ChatMessage, Prompt } from './request-body.ts'
import type { PromptItem } from './prompt-item.ts'

/**
 * OpenAI's batch files: one request a line, `{"custom_id", "method": "POST", "url", "body"}` (platform.openai.com/docs/guides/batch).
 * The id is the prompt's; of the body everything is sent as it stands but `model`, `stream` and the limit of the answer, which are
 * the run's own (a file names the model that it was written for, and batches do not stream).
 * @throws PlimsollError PLIM_WORKLOAD at file:line:column.
 */
export function readBatch(text: string, path: string): readonly PromptItem[] {
  const items: PromptItem[] = []
  let url: string | null = null
  text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .forEach((line, index) => {
      if (line.trim() === '') return
      const { object, fail } = readJsonObject(
        line,
        { path, line: index + 1 },
        '{"custom_id": "…", "body": {…}}',
      )
      const body = object['body']
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        throw fail('body', 'a line without the body of a request', 'an object', show(body))
      }
      const asked = typeof object['url'] === 'string' ? object['url'] : null
      const known = asked === null || /\/(chat\/)?completions$/.test(asked)
      if (!known || (url !== null && asked !== url)) {
        throw fail(
          'url',
          known ? 'requests of two endpoints in one file' : 'requests of an endpoint that is not loaded',
          url ?? '/v1/chat/completions or /v1/completions',
          asked ?? 'none',
        )
      }
      url = asked
      const id = object['custom_id']
      items.push({
        id: typeof id === 'string' || typeof id === 'number' ? String(id) : `line-${index + 1}`,
        segment: null,
        ...readBody(body as Readonly<Record<string, unknown>>, fail),
      })
    })
  if (items.length > 0) return items
  throw new PlimsollError('PLIM_WORKLOAD', 'the file holds no requests', {
    expected: 'one JSON object a line, as {"custom_id": "…", "body": {…}}',
    where: { file: path },
  })
}

/** What the run decides, whatever the file says. */
const own = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'prompt',
  'messages',
])

function readBody(
  body: Readonly<Record<string, unknown>>,
  fail: (key: string, message: string, expected: string, received: string) => PlimsollError,
): Pick<PromptItem, 'prompt' | 'outputTokens' | 'extraBody'> {
  const { messages, prompt } = body
  const limit = body['max_completion_tokens'] ?? body['max_tokens'] ?? null
  if (limit !== null && !(Number.isSafeInteger(limit) && (limit as number) >= 1)) {
    throw fail('max_tokens', 'the limit is not a length', 'a whole number of 1 or more', show(limit))
  }
  const extra = Object.entries(body).filter(([key]) => !own.has(key))
  return {
    prompt: promptOf(messages, prompt, fail),
    outputTokens: limit as number | null,
    ...(extra.length === 0 ? {} : { extraBody: Object.fromEntries(extra) }),
  }
}

function promptOf(
  messages: unknown,
  prompt: unknown,
  fail: (key: string, message: string, expected: string, received: string) => PlimsollError,
): Prompt {
  if (messages === undefined) {
    if (typeof prompt === 'string' && prompt !== '') return { kind: 'text', text: prompt }
    throw fail('body', 'a body without a prompt', 'messages, or a prompt that is a text', show(prompt))
  }
  const fine =
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every((one) => typeof (one as { role?: unknown } | null)?.role === 'string')
  if (fine) return { kind: 'messages', messages: messages as ChatMessage[] }
  throw fail('messages', 'messages is not a conversation', 'a list of messages with roles', show(messages))
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
