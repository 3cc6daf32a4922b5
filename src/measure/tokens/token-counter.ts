import type { Random } from '../../base/random.ts'
import type { Warning } from '../../base/warnings.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { plainWords, promptLead } from './vocabulary.ts'
import { composeWords, minimumCost, type WordCosts } from './word-costs.ts'

/**
 * How prompt lengths are known. `server-tokenize`: learnt word by word from the server's `/tokenize`. `calibrated`: from the
 * usage of a few probes. `tokenizer`: a tokenizer.json on this side. `unknown`: neither; a word is taken for a token.
 */
export type TokenCounterKind = 'server-tokenize' | 'calibrated' | 'tokenizer' | 'unknown'

export interface TokenCounter {
  readonly kind: TokenCounterKind
  readonly words: WordCosts
  /** Whether prompts were found to be exactly as long as asked, by whoever counts. */
  readonly exact: boolean
  /** How it is known, in a sentence with its numbers. */
  readonly basis: string
  readonly warnings: readonly Warning[]
  /** Tokens of a text of the user's: counted by a `tokenizer`, else estimated. */
  textTokens(text: string): { readonly tokens: number; readonly exact: boolean }
  /** A prompt of `tokens` tokens as the server's usage counts them, `salt` (words of known cost) right behind the lead. */
  makePrompt(tokens: number, random: Random, salt?: Salt): MadePrompt
}

/** Words put in front to make a prompt unlike any other, each with a blank before it, and what they cost. */
export interface Salt {
  readonly text: string
  readonly tokens: number
}

export interface MadePrompt {
  readonly text: string
  /** As the server will count it; null where that is unknown. */
  readonly tokens: number | null
}

export const noSalt: Salt = { text: '', tokens: 0 }

/** The shortest prompt that can be made with a salt of `saltTokens`. */
export function shortestPrompt(counter: TokenCounter, saltTokens: number): number {
  return Math.ceil(counter.words.leadTokens + saltTokens + minimumCost(counter.words))
}

export function tokenCounter(
  facts: Pick<TokenCounter, 'kind' | 'words' | 'exact' | 'basis'> & {
    readonly warnings?: readonly Warning[]
    readonly countText?: (text: string) => number
  },
): TokenCounter {
  const { kind, words, exact, basis, countText } = facts
  return {
    kind,
    words,
    exact,
    basis,
    warnings: facts.warnings ?? [],
    textTokens: (text) =>
      countText === undefined
        ? { tokens: estimateTokens(text), exact: false }
        : { tokens: countText(text), exact: true },
    makePrompt(tokens, random, salt = noSalt) {
      const left = Math.max(minimumCost(words), tokens - words.leadTokens - salt.tokens)
      const made = composeWords(words, left, random)
      const total = words.leadTokens + salt.tokens + made.tokens
      return {
        text: `${promptLead}${salt.text}${made.text}`,
        tokens: kind === 'unknown' ? null : Math.round(total),
      }
    },
  }
}

/** Where nobody counts: a word is sent for each token asked for, and the planned length is null. */
export function unknownTokenCounter(why: string): TokenCounter {
  return tokenCounter({
    kind: 'unknown',
    words: { words: plainWords, costs: 1, leadTokens: 1 },
    exact: false,
    basis: `${why}; one word is sent for each token asked for`,
    warnings: [
      {
        kind: 'lengths_not_as_asked',
        message:
          'prompt lengths are words, not tokens: the server says neither how it tokenizes nor what it used',
        cause: why,
        next: '--tokenizer PATH',
        evidence: { kind: 'unknown' },
      },
    ],
  })
}
