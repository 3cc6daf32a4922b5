import { randomStream } from '../../base/random.ts'
import type { Salt } from '../tokens/token-counter.ts'
import { sameCostWords, type WordCosts } from '../tokens/word-costs.ts'

/**
 * Makes the words that stand at the very front of each prompt so that no prefix cache knows it: unlike within a run and, but for
 * a chance of 2⁻³², unlike any other run or sweep point, whose salt text differs. All have the same number of words of one cost,
 * so a salt moves neither the lengths nor the rest of the prompts.
 *
 * The request's index comes first, through a permutation keyed by the salt (two requests never get the same); a digest of the
 * salt follows. A vocabulary of 256 words spells each half in four words.
 */
export function saltMaker(salt: string, costs: WordCosts): (index: number) => Salt {
  const { words, cost } = sameCostWords(costs)
  const digits = words.length < 2 ? 0 : Math.ceil(32 / Math.log2(words.length) - 1e-9)
  const keys = randomStream(salt, 'salt')
  const [key1, key2, digest] = [keys.nextUint32(), keys.nextUint32(), keys.nextUint32()]
  const tail = spell(digest, digits, words)
  return (index) => ({
    text: spell(permute(index, key1, key2), digits, words) + tail,
    tokens: 2 * digits * cost,
  })
}

/** The salt of a part of a run, as a point of a sweep: another text, so other words. */
export function partSalt(salt: string, part: number | string): string {
  return `${salt}/${part}`
}

/** A keyed permutation of 32-bit numbers: murmur3's finaliser, a bijection, between two xors, twice. */
function permute(index: number, key1: number, key2: number): number {
  return mix((mix((index ^ key1) >>> 0) ^ key2) >>> 0)
}

function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** A 32-bit number in `digits` words, the vocabulary being the numerals. */
function spell(value: number, digits: number, words: readonly string[]): string {
  let text = ''
  let rest = value
  for (let digit = 0; digit < digits; digit++) {
    text += ` ${words[rest % words.length]}`
    rest = Math.floor(rest / words.length)
  }
  return text
}
