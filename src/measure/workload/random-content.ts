import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'
import { noSalt, shortestPrompt, type Salt } from '../tokens/token-counter.ts'
import { composeWords } from '../tokens/word-costs.ts'
import { checkLengths, drawLength } from './length-distribution.ts'
import { lengthWarnings } from './length-warnings.ts'
import type { ContentInput, ContentMaker } from './content-maker.ts'
import type { RandomWorkload } from './workload.ts'

/** Random plain words of drawn lengths. */
export function randomContent(
  input: ContentInput,
  workload: RandomWorkload,
  saltAt: (index: number) => Salt,
): ContentMaker {
  const { seed, tokens, maxModelLen } = input
  checkLengths(workload.prompt, 'prompt length')
  checkLengths(workload.output, 'output length')
  const shared = sharedPrefix(input, workload, saltAt)
  const shortest = shortestPrompt(tokens, shared(0).tokens + saltAt(0).tokens)
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
      const common = shared(prompt)
      const front = { text: common.text + salt.text, tokens: common.tokens + salt.tokens }
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

/**
 * The words that prompts of a run share, for a prompt of so many tokens. They are salted too, so that only this run's own requests
 * share them. A share of the prompt is measured in whole blocks by the engine, which lose half a block on average: it is put on top;
 * and of the lead, half stands in front (a chat template is around the text).
 */
function sharedPrefix(
  { seed, tokens }: ContentInput,
  workload: RandomWorkload,
  saltAt: (index: number) => Salt,
): (promptTokens: number) => Salt {
  const { sharedPrefixTokens: fixed = 0, sharedPrefixShare: share = 0 } = workload
  if (!(share >= 0 && share < 1) || !(fixed >= 0) || (share > 0 && fixed > 0)) {
    throw new PlimsollError('PLIM_USAGE', 'the shared prefix cannot be made', {
      expected: 'a number of tokens, or a share of the prompt from 0 to below 1',
      received: `${fixed} tokens, a share of ${share}`,
    })
  }
  if (fixed === 0 && share === 0) return () => noSalt
  // An index that no request has.
  const salt = saltAt(0xffffffff)
  const prefix = (words: number): Salt => {
    const made = composeWords(tokens.words, Math.max(0, words - salt.tokens), randomStream(seed, 'prefix'))
    return { text: salt.text + made.text, tokens: salt.tokens + made.tokens }
  }
  if (share === 0) {
    const always = prefix(fixed)
    return () => always
  }
  const most = (promptTokens: number): number => promptTokens - shortestPrompt(tokens, saltAt(0).tokens)
  return (promptTokens) => {
    const wanted = Math.round(share * promptTokens + blockTokens / 2 - tokens.words.leadTokens / 2)
    return prefix(Math.min(wanted, most(promptTokens)))
  }
}

/** vLLM's block of the KV cache, tokens. */
const blockTokens = 16
