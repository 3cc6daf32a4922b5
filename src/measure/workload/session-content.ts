import { PlimsollError } from '../../base/errors.ts'
import { exponential, randomStream } from '../../base/random.ts'
import type { Warning } from '../../base/warnings.ts'
import { shortestPrompt, type Salt } from '../tokens/token-counter.ts'
import { composeWords } from '../tokens/word-costs.ts'
import { checkLengths, drawLength } from './length-distribution.ts'
import type { ContentInput, ContentMaker } from './content-maker.ts'
import type { ChatMessage } from './request-body.ts'
import type { SessionWorkload } from './workload.ts'

/** Request `index` is turn `index mod turns` of session `⌊index ÷ turns⌋`; a session has one salt, at its very front. */
export function sessionContent(
  { seed, tokens, api, maxModelLen }: ContentInput,
  workload: SessionWorkload,
  saltAt: (index: number) => Salt,
): ContentMaker {
  checkSession(workload)
  const { turns } = workload
  const lengthsAt = (index: number): { readonly prompt: number; readonly output: number } => {
    const random = randomStream(seed, 'lengths', index)
    return { prompt: drawLength(workload.prompt, random), output: drawLength(workload.output, random) }
  }
  const saidAt = (index: number): { readonly text: string; readonly tokens: number } => {
    const { prompt } = lengthsAt(index)
    if (index % turns > 0) return composeWords(tokens.words, prompt, randomStream(seed, 'prompt', index))
    const salt = saltAt(index / turns)
    const length = Math.max(prompt, shortestPrompt(tokens, salt.tokens))
    const made = tokens.makePrompt(length, randomStream(seed, 'prompt', index), salt)
    return { text: made.text, tokens: made.tokens ?? length }
  }
  const answerAt = (index: number): { readonly text: string; readonly tokens: number } =>
    composeWords(tokens.words, lengthsAt(index).output, randomStream(seed, 'answer', index))
  return {
    once: null,
    countsPrompts: false,
    at(index) {
      const turn = index % turns
      const messages: ChatMessage[] = []
      let planned = 0
      for (let at = index - turn; at <= index; at++) {
        const said = saidAt(at)
        messages.push({ role: 'user', content: said.text })
        planned += said.tokens
        if (at === index) break
        const answer = answerAt(at)
        messages.push({ role: 'assistant', content: answer.text })
        planned += answer.tokens
      }
      // What the chat template puts between messages is not known.
      const counted = tokens.kind !== 'unknown' && (turn === 0 || api === 'completions')
      return {
        prompt:
          api === 'chat'
            ? { kind: 'messages', messages }
            : { kind: 'text', text: messages.map(({ content }) => String(content)).join('') },
        promptId: `session-${Math.floor(index / turns)}/${turn + 1}`,
        segment: null,
        session: `session-${Math.floor(index / turns)}`,
        turn: turn + 1,
        promptTokens: counted ? Math.round(planned) : null,
        outputTokens: lengthsAt(index).output,
      }
    },
    warnings: (count) => tooLong(count, turns, maxModelLen, lengthsAt),
  }
}

/** The pause before request `index`, ms: 0 for the first turn, which the pacer times. */
export function turnPauseMs(workload: SessionWorkload, seed: number | string, index: number): number {
  if (index % workload.turns === 0) return 0
  if (workload.thinkTime === 'fixed') return workload.thinkTimeMs
  return workload.thinkTimeMs * exponential(randomStream(seed, 'turn', index))
}

/** A context that grows beyond the model's is refused by the server. */
function tooLong(
  count: number,
  turns: number,
  maxModelLen: number | null,
  lengthsAt: (index: number) => { readonly prompt: number; readonly output: number },
): readonly Warning[] {
  if (maxModelLen === null) return []
  let [context, long] = [0, 0]
  for (let index = 0; index < count; index++) {
    const { prompt, output } = lengthsAt(index)
    context = (index % turns === 0 ? 0 : context) + prompt + output
    if (context > maxModelLen) long++
  }
  if (long === 0) return []
  return [
    {
      kind: 'lengths_not_as_asked',
      message: `${long} of ${count} turns are longer than the model’s ${maxModelLen} tokens: the server will refuse them`,
      cause: 'each turn sends all that was said before it',
      next: 'fewer --turns, or shorter prompts and answers',
      evidence: { long, of: count, max_model_len: maxModelLen },
    },
  ]
}

function checkSession({ turns, prompt, output, thinkTimeMs }: SessionWorkload): void {
  checkLengths(prompt, 'prompt length')
  checkLengths(output, 'output length')
  if (Number.isSafeInteger(turns) && turns >= 1 && thinkTimeMs >= 0) return
  throw new PlimsollError('PLIM_USAGE', 'the sessions cannot be made', {
    expected: '1 turn or more, and a pause of 0 or more',
    received: `${turns} turns, ${thinkTimeMs} ms`,
  })
}
