import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'
import type { Warning } from '../../base/warnings.ts'
import { noSalt, shortestPrompt, type Salt, type TokenCounter } from '../tokens/token-counter.ts'
import { promptLead } from '../tokens/vocabulary.ts'
import { composeWords } from '../tokens/word-costs.ts'
import { checkLengths, drawLength } from './length-distribution.ts'
import { lengthWarnings } from './length-warnings.ts'
import type { ChatMessage, Prompt } from './request-body.ts'
import { saltMaker } from './salt.ts'
import { traceContent } from './trace-content.ts'
import type { LoadedWorkload, PromptItem, RandomWorkload } from './workload.ts'

/** What one request asks, before it is a body. */
export interface RequestContent {
  readonly prompt: Prompt
  readonly promptId: string
  readonly segment: string | null
  readonly session: string | null
  readonly promptTokens: number | null
  readonly outputTokens: number | null
}

export interface ContentMaker {
  /** The content of request `index`: a pure function of it. */
  at(index: number): RequestContent
  /** Requests that use every item once; null where items are made, not read. */
  readonly once: number | null
  /** Whether prompts are made to a length. */
  readonly countsPrompts: boolean
  /** What is to be said of the first `count` requests' lengths. */
  warnings(count: number): readonly Warning[]
}

export interface ContentInput {
  readonly workload: LoadedWorkload
  readonly api: 'chat' | 'completions'
  readonly seed: number | string
  readonly salt: string
  readonly warmPrefix: boolean
  readonly tokens: TokenCounter
  readonly maxModelLen: number | null
}

/** @throws PlimsollError PLIM_USAGE for lengths that cannot be drawn, PLIM_WORKLOAD for prompts that the API cannot take. */
export function contentMaker(input: ContentInput): ContentMaker {
  const { tokens, salt, warmPrefix, workload } = input
  const saltAt = warmPrefix ? () => noSalt : saltMaker(salt, tokens.words)
  if (workload.kind === 'random') return randomContent(input, workload, saltAt)
  if (workload.kind === 'trace') return traceContent(input, workload, saltAt)
  return itemContent(input, workload, saltAt)
}

function randomContent(
  input: ContentInput,
  workload: RandomWorkload,
  saltAt: (index: number) => Salt,
): ContentMaker {
  const { seed, tokens, maxModelLen } = input
  checkLengths(workload.prompt, 'prompt length')
  checkLengths(workload.output, 'output length')
  const shared = sharedPrefix(input, workload, saltAt)
  const shortest = shortestPrompt(tokens, shared.tokens + saltAt(0).tokens)
  const lengthsAt = (index: number): { asked: number; prompt: number; output: number } => {
    const random = randomStream(seed, 'lengths', index)
    const asked = drawLength(workload.prompt, random)
    const output = drawLength(workload.output, random)
    const longest = maxModelLen === null ? Number.POSITIVE_INFINITY : maxModelLen - output
    return { asked, prompt: Math.max(shortest, Math.min(asked, longest)), output }
  }
  return {
    once: null,
    countsPrompts: true,
    at(index) {
      const { prompt, output } = lengthsAt(index)
      const salt = saltAt(index)
      const front = { text: shared.text + salt.text, tokens: shared.tokens + salt.tokens }
      const made = tokens.makePrompt(prompt, randomStream(seed, 'prompt', index), front)
      return {
        prompt: { kind: 'text', text: made.text },
        promptId: `random-${index}`,
        segment: null,
        session: null,
        promptTokens: made.tokens,
        outputTokens: output,
      }
    },
    warnings: (count) => lengthWarnings(count, shortest, maxModelLen, lengthsAt),
  }
}

/** The words that all prompts of a run begin with. They are salted too, so that only this run's own requests share them. */
function sharedPrefix(input: ContentInput, workload: RandomWorkload, saltAt: (index: number) => Salt): Salt {
  const asked = workload.sharedPrefixTokens ?? 0
  if (asked === 0) return noSalt
  // An index that no request has.
  const salt = saltAt(0xffffffff)
  const made = composeWords(
    input.tokens.words,
    Math.max(0, asked - salt.tokens),
    randomStream(input.seed, 'prefix'),
  )
  return { text: salt.text + made.text, tokens: salt.tokens + made.tokens }
}

function itemContent(
  input: ContentInput,
  workload: Extract<LoadedWorkload, { kind: 'items' }>,
  saltAt: (index: number) => Salt,
): ContentMaker {
  const { seed, tokens, api } = input
  const { items, output } = workload
  if (output !== null) checkLengths(output, 'output length')
  if (api === 'completions') refuseMessages(items, workload.name)
  const order = workload.order === 'file' ? items : shuffled(items, seed)
  return {
    once: items.length,
    countsPrompts: false,
    at(index) {
      const item = order[index % order.length] as PromptItem
      const prompt = salted(item.prompt, saltAt(index))
      const drawn = output === null ? null : drawLength(output, randomStream(seed, 'lengths', index))
      // A file's own lengths are what it is for, unless they are an estimate of a recorded reply.
      const outputTokens =
        workload.order === 'file' ? (item.outputTokens ?? drawn) : (drawn ?? item.outputTokens)
      const counted = prompt.kind === 'text' ? tokens.textTokens(prompt.text) : null
      return {
        prompt,
        promptId: item.id,
        segment: item.segment,
        session: null,
        promptTokens: counted?.exact === true ? counted.tokens : null,
        outputTokens,
      }
    },
    warnings: () => [],
  }
}

/** The salt as a paragraph of its own in front of the text, or of the first message's. */
function salted(prompt: Prompt, salt: Salt): Prompt {
  if (salt.text === '') return prompt
  const front = `${promptLead}${salt.text}\n\n`
  if (prompt.kind === 'text') return { kind: 'text', text: front + prompt.text }
  const [first, ...rest] = prompt.messages
  if (first === undefined) return prompt
  return { kind: 'messages', messages: [saltedMessage(first, front), ...rest] }
}

function saltedMessage(message: ChatMessage, front: string): ChatMessage {
  const { content } = message as { content?: unknown }
  if (typeof content === 'string') return { ...message, content: front + content }
  if (Array.isArray(content))
    return { ...message, content: [{ type: 'text', text: front }, ...(content as unknown[])] }
  return { ...message, content: front.trimEnd() }
}

function refuseMessages(items: readonly PromptItem[], name: string): void {
  const item = items.find(({ prompt }) => prompt.kind === 'messages')
  if (item === undefined) return
  throw new PlimsollError('PLIM_WORKLOAD', 'the completions API takes a text, not messages', {
    expected: 'prompt or text on every line',
    received: `messages (${item.id})`,
    where: { file: name },
    hint: '--api chat',
  })
}

/** Fisher and Yates' shuffle, by the seed. */
function shuffled<T>(items: readonly T[], seed: number | string): readonly T[] {
  const random = randomStream(seed, 'order')
  const order = [...items]
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1))
    const moved = order[i] as T
    order[i] = order[j] as T
    order[j] = moved
  }
  return order
}
