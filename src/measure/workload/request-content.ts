import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'
import { noSalt, type Salt } from '../tokens/token-counter.ts'
import { promptLead } from '../tokens/vocabulary.ts'
import { type ApiKind, apis } from '../wire/api.ts'
import type { ContentInput, ContentMaker } from './content-maker.ts'
import { checkLengths, drawLength } from './length-distribution.ts'
import { randomContent } from './random-content.ts'
import type { ChatMessage, Prompt } from './request-body.ts'
import { saltMaker } from './salt.ts'
import { sessionContent } from './session-content.ts'
import { traceContent } from './trace-content.ts'
import type { PromptItem } from './prompt-item.ts'
import type { LoadedWorkload } from './workload.ts'

/** @throws PlimsollError PLIM_USAGE for lengths that cannot be drawn, PLIM_WORKLOAD for prompts that the API cannot take. */
export function contentMaker(input: ContentInput): ContentMaker {
  const { tokens, salt, warmPrefix, workload } = input
  const saltAt = warmPrefix ? () => noSalt : saltMaker(salt, tokens.words)
  if (workload.kind === 'random') return randomContent(input, workload, saltAt)
  if (workload.kind === 'trace') return traceContent(input, workload, saltAt)
  if (workload.kind === 'sessions') return sessionContent(input, workload, saltAt)
  if (workload.kind === 'mix') return mixContent(input, workload)
  return itemContent(input, workload, saltAt)
}

/** Each request is of one class, drawn by weight; the class is its segment. */
function mixContent(
  input: ContentInput,
  { classes }: Extract<LoadedWorkload, { kind: 'mix' }>,
): ContentMaker {
  const total = classes.reduce((sum, { weight }) => sum + weight, 0)
  if (!classes.every(({ weight }) => Number.isFinite(weight) && weight >= 0) || !(total > 0)) {
    throw new PlimsollError('PLIM_USAGE', 'the classes of the mix cannot be drawn', {
      expected: 'weights of 0 or more, one of them above 0',
      received: classes.map(({ name, weight }) => `${name} ${weight}`).join(', ') || 'no classes',
    })
  }
  const makers = classes.map(({ workload }) => contentMaker({ ...input, workload }))
  const classAt = (index: number): number => {
    let left = randomStream(input.seed, 'class', index).next() * total
    return Math.max(
      0,
      classes.findIndex(({ weight }) => (left -= weight) < 0),
    )
  }
  return {
    once: null,
    countsPrompts: makers.every(({ countsPrompts }) => countsPrompts),
    at(index) {
      const which = classAt(index)
      const { name } = classes[which] as { readonly name: string }
      const content = (makers[which] as ContentMaker).at(index)
      return { ...content, promptId: `${name}/${content.promptId}`, segment: name }
    },
    // Each class as if all requests were its own: its share of them says the same.
    warnings: (count) => makers.flatMap((maker) => maker.warnings(count)),
  }
}

function itemContent(
  input: ContentInput,
  workload: Extract<LoadedWorkload, { kind: 'items' }>,
  saltAt: (index: number) => Salt,
): ContentMaker {
  const { seed, tokens, api } = input
  const { items, output } = workload
  if (output !== null) checkLengths(output, 'output length')
  if (apis[api].textOnly) refuseMessages(items, workload.name, api)
  const order = workload.order === 'file' ? items : shuffled(items, seed)
  return {
    once: items.length,
    countsPrompts: false,
    at(index) {
      const item = order[index % order.length] as PromptItem
      const asks = item.prompt.kind === 'messages' || item.prompt.text !== ''
      const prompt = asks ? salted(item.prompt, saltAt(index)) : item.prompt
      const drawn = output === null ? null : drawLength(output, randomStream(seed, 'lengths', index))
      // A file's own lengths are what it is for, unless they are an estimate of a recorded reply.
      const outputTokens =
        workload.order === 'file' ? (item.outputTokens ?? drawn) : (drawn ?? item.outputTokens)
      const counted = prompt.kind === 'text' && asks ? tokens.textTokens(prompt.text) : null
      return {
        prompt,
        promptId: item.id,
        segment: item.segment,
        session: null,
        promptTokens: counted?.exact === true ? counted.tokens : null,
        outputTokens,
        ...(item.extraBody === undefined ? {} : { extraBody: item.extraBody }),
        ...(item.row === undefined ? {} : { row: item.row }),
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

function refuseMessages(items: readonly PromptItem[], name: string, api: ApiKind): void {
  const item = items.find(({ prompt }) => prompt.kind === 'messages')
  if (item === undefined) return
  throw new PlimsollError('PLIM_WORKLOAD', `the ${api} API takes a text, not messages`, {
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
