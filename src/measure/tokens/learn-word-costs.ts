import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'
import { plainWords, promptLead } from './vocabulary.ts'
import { composeWords, type WordCosts } from './word-costs.ts'

export interface LearntWordCosts extends WordCosts {
  /** Questions asked. */
  readonly calls: number
  /** Largest difference between what the costs predict and what was counted, over texts made to check them. */
  readonly worstErrorTokens: number
}

/**
 * Learns the words' costs from someone who counts the tokens of a text, in few questions. All words at once come first: a word
 * costs at least one token, so a text of n words that counts n proves one each (two questions with the lead). Where it counts
 * more, halves are asked until enough one-token words are found; where there are none (byte-level vocabularies), 64 words are
 * asked one by one. Two composed texts then check the sum.
 *
 * `leadTokens` is that of the bare text; what a chat template adds is the caller's to add.
 * @throws PlimsollError PLIM_PREFLIGHT where the counts cannot be counts of tokens.
 */
export async function learnWordCosts(
  count: (text: string) => Promise<number>,
  words: readonly string[] = plainWords,
): Promise<LearntWordCosts> {
  let calls = 0
  const ask = async (text: string): Promise<number> => {
    calls++
    const tokens = await count(promptLead + text)
    if (Number.isSafeInteger(tokens) && tokens >= 0) return tokens
    throw new PlimsollError('PLIM_PREFLIGHT', 'the server does not count tokens as a tokenizer would', {
      expected: 'a whole number of tokens',
      received: String(tokens),
    })
  }
  const leadTokens = await ask('')
  const ofWords = async (some: readonly string[]): Promise<number> => (await ask(joined(some))) - leadTokens

  const single = await oneTokenWords(words, ofWords)
  const costs: WordCosts =
    single.length >= enoughWords
      ? { words: single, costs: 1, leadTokens }
      : await eachWordsCost(words.slice(0, wordsOneByOne), leadTokens, ofWords)

  let worstErrorTokens = 0
  for (const [index, length] of checkLengths.entries()) {
    const made = composeWords(costs, length, randomStream('check', 'words', index))
    worstErrorTokens = Math.max(worstErrorTokens, Math.abs((await ask(made.text)) - leadTokens - made.tokens))
  }
  return { ...costs, calls, worstErrorTokens }
}

/** Below this many one-token words prompts would repeat themselves, so dearer ones are taken in. */
const enoughWords = 128
const wordsOneByOne = 64
const questionsForHalves = 40
const checkLengths = [97, 800] as const

async function oneTokenWords(
  words: readonly string[],
  ofWords: (some: readonly string[]) => Promise<number>,
): Promise<readonly string[]> {
  const single: string[] = []
  const open: (readonly string[])[] = [words]
  for (let question = 0; question < questionsForHalves; question++) {
    const some = open.pop()
    if (some === undefined) break
    const tokens = await ofWords(some)
    if (tokens === some.length) {
      single.push(...some)
      continue
    }
    // Two tokens a word on average: a half without dear words is not worth the questions.
    if (some.length < 8 || (some.length === words.length && tokens >= some.length * 2)) continue
    const middle = some.length >> 1
    open.push(some.slice(middle), some.slice(0, middle))
  }
  return single
}

async function eachWordsCost(
  words: readonly string[],
  leadTokens: number,
  ofWords: (some: readonly string[]) => Promise<number>,
): Promise<WordCosts> {
  const costs: number[] = []
  // One after the other: a small server may serve no more connections at once, and then the rest wait for its keep-alive.
  for (const word of words) costs.push(await ofWords([word]))
  const free = costs.findIndex((cost) => cost < 1)
  if (free >= 0) {
    throw new PlimsollError('PLIM_PREFLIGHT', 'the server does not count tokens as a tokenizer would', {
      expected: `at least one token more for the word "${words[free]}"`,
      received: `${costs[free]} more`,
    })
  }
  return { words, costs: new Set(costs).size === 1 ? (costs[0] as number) : costs, leadTokens }
}

/** Words as they stand in a prompt: a blank before each. */
export function joined(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join('')
}
