import { PlimsollError } from '../../base/errors.ts'
import { jsonFault, positionAt } from './json-fault.ts'
import type { PromptItem } from './prompt-item.ts'

/**
 * Recorded conversations in ShareGPT's form, `[{"id", "conversations": [{"from": "human", "value"}, {"from": "gpt", "value"}…]}]`:
 * the first human turn is the prompt, the length of the reply to it the output. `messages` with `role` and `content` is read too.
 *
 * What is left out, and counted by reason, is what vLLM's benchmark leaves out: under 4 tokens of prompt or reply (replies are
 * not looked at when `outputGiven`), over 1,024 tokens of prompt, over 2,048 in all. Lengths are `textTokens`'.
 * @throws PlimsollError PLIM_WORKLOAD for a file that is not in this form, or has nothing that passes.
 */
export function readShareGpt(
  text: string,
  path: string,
  textTokens: (text: string) => number,
  outputGiven: boolean,
): { readonly items: readonly PromptItem[]; readonly skipped: Readonly<Record<string, number>> } {
  const items: PromptItem[] = []
  const skipped: Record<string, number> = {}
  const skip = (reason: string): void => void (skipped[reason] = (skipped[reason] ?? 0) + 1)
  parse(text, path).forEach((conversation, index) => {
    const turns = turnsOf(conversation)
    if (turns === null) throw notOne(path, `conversation ${index + 1}`, 'a list of turns under conversations')
    const first = turns.findIndex(({ from, value }) => isHuman(from) && value.trim() !== '')
    const prompt = turns[first]
    const reply = turns[first + 1]
    if (prompt === undefined) return skip('no human turn')
    if (reply === undefined || isHuman(reply.from)) return skip('no reply')
    const promptTokens = textTokens(prompt.value)
    const replyTokens = textTokens(reply.value)
    if (promptTokens < 4) return skip('prompt under 4 tokens')
    if (replyTokens < 4 && !outputGiven) return skip('reply under 4 tokens')
    if (promptTokens > 1024) return skip('prompt over 1,024 tokens')
    if (promptTokens + (outputGiven ? 0 : replyTokens) > 2048)
      return skip('prompt and reply over 2,048 tokens')
    const { id } = conversation as { id?: unknown }
    return void items.push({
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : `conversation-${index + 1}`,
      segment: null,
      prompt: { kind: 'text', text: prompt.value },
      outputTokens: replyTokens,
    })
  })
  if (items.length === 0) {
    const reasons = Object.entries(skipped).map(([reason, count]) => `${count} with ${reason}`)
    throw new PlimsollError('PLIM_WORKLOAD', 'no conversation of the file can be used', {
      expected: 'a human turn of 4 to 1,024 tokens with its reply',
      received: reasons.join(', ') || 'an empty list',
      where: { file: path },
    })
  }
  return { items, skipped }
}

interface Turn {
  readonly from: string
  readonly value: string
}

function parse(text: string, path: string): readonly unknown[] {
  let parsed: unknown
  const json = text.replace(/^\uFEFF/, '')
  try {
    parsed = JSON.parse(json)
  } catch {
    const fault = jsonFault(json) ?? { offset: 0, expected: 'JSON' }
    throw new PlimsollError('PLIM_WORKLOAD', 'the file is not JSON', {
      expected: fault.expected,
      received:
        fault.offset >= json.length
          ? 'the end of the file'
          : json.slice(fault.offset, fault.offset + 40).trim(),
      where: { file: path, ...positionAt(json, fault.offset) },
      hint: 'one object a line is --workload jsonl',
    })
  }
  if (!Array.isArray(parsed)) throw notOne(path, 'the file', 'a list of conversations')
  return parsed
}

function turnsOf(conversation: unknown): readonly Turn[] | null {
  if (typeof conversation !== 'object' || conversation === null) return null
  const { conversations, messages } = conversation as { conversations?: unknown; messages?: unknown }
  const turns = conversations ?? messages
  if (!Array.isArray(turns)) return null
  return turns.flatMap((turn: unknown): Turn[] => {
    if (typeof turn !== 'object' || turn === null) return []
    const { from, role, value, content } = turn as Record<string, unknown>
    const [who, what] = [from ?? role, value ?? content]
    return typeof who === 'string' && typeof what === 'string' ? [{ from: who, value: what }] : []
  })
}

function isHuman(from: string): boolean {
  return from === 'human' || from === 'user'
}

function notOne(path: string, what: string, expected: string): PlimsollError {
  return new PlimsollError('PLIM_WORKLOAD', `${what} is not in ShareGPT's form`, {
    expected,
    received: 'something else',
    where: { file: path },
  })
}
