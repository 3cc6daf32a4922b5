import { PlimsollError } from '../../base/errors.ts'
import { jsonFault } from './json-fault.ts'
import type { ChatMessage, Prompt } from './request-body.ts'
import type { PromptItem } from './prompt-item.ts'

/** Lines of which only the prompt is wanted; that are kept for templates; or kept and need no prompt, as the template has none. */
export type RowUse = 'left' | 'kept' | 'promptless'

/**
 * Prompts, one JSON object a line. Each has `prompt` or `text` (a string) or `messages` (those of the chat API), and may have
 * `output_tokens` or `max_tokens`, `id` and `segment`. Other keys are left alone; blank lines are skipped.
 * @throws PlimsollError PLIM_WORKLOAD at file:line:column.
 */
export function readJsonl(text: string, path: string, rows: RowUse = 'left'): readonly PromptItem[] {
  const items: PromptItem[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  lines.forEach((line, index) => {
    if (line.trim() !== '') items.push(readLine(line, { path, line: index + 1 }, rows))
  })
  if (items.length === 0) {
    throw new PlimsollError('PLIM_WORKLOAD', 'the file holds no prompts', {
      expected: 'one JSON object a line, as {"prompt": "…"}',
      received: text === '' ? 'an empty file' : `${lines.length} blank lines`,
      where: { file: path },
    })
  }
  return items
}

interface Place {
  readonly path: string
  readonly line: number
}

function readLine(line: string, place: Place, rows: RowUse): PromptItem {
  const object = parseLine(line, place)
  const fail = (key: string | null, message: string, expected: string, received: string): PlimsollError =>
    new PlimsollError('PLIM_WORKLOAD', message, {
      expected,
      received,
      where: { file: place.path, line: place.line, column: columnOf(line, key) },
    })

  const given = ['prompt', 'text', 'messages'].filter((key) => object[key] !== undefined)
  const [key] = given
  if (given.length > 1 || (key === undefined && rows !== 'promptless')) {
    throw fail(
      given[1] ?? null,
      given.length > 1 ? 'a line with more than one prompt' : 'a line without a prompt',
      'one of prompt, text and messages',
      (given.length > 1 ? given : Object.keys(object)).join(', ') || 'an empty object',
    )
  }
  const asked = object['output_tokens'] !== undefined ? 'output_tokens' : 'max_tokens'
  const outputTokens = object[asked] ?? null
  if (outputTokens !== null && !(Number.isSafeInteger(outputTokens) && (outputTokens as number) >= 1)) {
    throw fail(asked, `${asked} is not a length`, 'a whole number of 1 or more', show(outputTokens))
  }
  const nameAt = (name: 'id' | 'segment'): string | null => {
    const value = object[name] ?? null
    if (value === null || typeof value === 'string') return value
    if (typeof value === 'number') return String(value)
    throw fail(name, `${name} is not a name`, 'a text', show(value))
  }
  return {
    id: nameAt('id') ?? `line-${place.line}`,
    segment: nameAt('segment'),
    prompt: key === undefined ? { kind: 'text', text: '' } : readPrompt(key, object[key], fail),
    outputTokens: outputTokens as number | null,
    ...(rows === 'left' ? {} : { row: object }),
  }
}

type Fail = (key: string | null, message: string, expected: string, received: string) => PlimsollError

function readPrompt(key: string, value: unknown, fail: Fail): Prompt {
  if (key !== 'messages') {
    if (typeof value !== 'string') throw fail(key, `${key} is not a prompt`, 'a text', show(value))
    if (value === '') throw fail(key, `${key} is empty`, 'a text of at least one character', '""')
    return { kind: 'text', text: value }
  }
  if (!Array.isArray(value) || value.length === 0) {
    throw fail(key, 'messages is not a conversation', 'a list of at least one message', show(value))
  }
  value.forEach((message: unknown, index) => {
    const fine =
      typeof message === 'object' &&
      message !== null &&
      typeof (message as { role?: unknown }).role === 'string'
    if (!fine) {
      throw fail(
        key,
        `message ${index + 1} is not one`,
        'an object with a role, as {"role": "user", "content": "…"}',
        show(message),
      )
    }
  })
  return { kind: 'messages', messages: value as ChatMessage[] }
}

function parseLine(line: string, place: Place): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    const fault = jsonFault(line) ?? { offset: 0, expected: 'JSON' }
    throw new PlimsollError('PLIM_WORKLOAD', 'a line that is not JSON', {
      expected: fault.expected,
      received: fault.offset >= line.length ? 'the end of the line' : show(line.slice(fault.offset)),
      where: { file: place.path, line: place.line, column: fault.offset + 1 },
    })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new PlimsollError('PLIM_WORKLOAD', 'a line that is not a prompt', {
      expected: 'an object, as {"prompt": "…"}',
      received: show(parsed),
      where: { file: place.path, line: place.line, column: 1 },
    })
  }
  return parsed as Readonly<Record<string, unknown>>
}

/** Column of the key's opening quote, 1 where no key is meant. */
function columnOf(line: string, key: string | null): number {
  return key === null ? 1 : line.search(new RegExp(`"${key}"\\s*:`)) + 1 || 1
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
