import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { joined, learnWordCosts } from './learn-word-costs.ts'
import { plainWords } from './vocabulary.ts'
import { composeWords, sameCostWords, type WordCosts } from './word-costs.ts'

const tokensOf = (text: string, costs: WordCosts): number =>
  text
    .split(' ')
    .slice(1)
    .reduce((sum, word) => {
      const at = costs.words.indexOf(word)
      return sum + (typeof costs.costs === 'number' ? costs.costs : (costs.costs[at] ?? Number.NaN))
    }, 0)

describe('composeWords', () => {
  test('words of one token each give exactly the length', () => {
    fc.assert(
      fc.property(fc.nat(3000), fc.integer(), (tokens, seed) => {
        const costs: WordCosts = { words: plainWords, costs: 1, leadTokens: 0 }
        const made = composeWords(costs, tokens, randomStream(seed, 'x'))
        expect(made.tokens).toBe(tokens)
        expect(tokensOf(made.text, costs)).toBe(tokens)
      }),
    )
  })

  test('words of several costs give the length, or the nearest sum below it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        fc.nat(300),
        fc.integer(),
        (list, tokens, seed) => {
          const costs: WordCosts = { words: plainWords.slice(0, list.length), costs: list, leadTokens: 0 }
          const made = composeWords(costs, tokens, randomStream(seed, 'x'))
          expect(tokensOf(made.text, costs)).toBe(made.tokens)
          expect(made.tokens).toBeLessThanOrEqual(tokens)
          expect(tokens - made.tokens).toBeLessThan(Math.min(...list))
          expect(made.tokens === tokens || !list.includes(1)).toBe(true)
        },
      ),
    )
  })

  test('a fraction a word gives the nearest number of words', () => {
    const made = composeWords({ words: ['a', 'b'], costs: 1.3, leadTokens: 0 }, 100, randomStream(1, 'x'))
    expect(made.text.split(' ')).toHaveLength(77 + 1)
    expect(made.tokens).toBeCloseTo(100.1, 9)
  })

  test('every word is drawn about equally often', () => {
    const words = plainWords.slice(0, 100)
    const { text } = composeWords({ words, costs: 1, leadTokens: 0 }, 100_000, randomStream(1, 'x'))
    const counts = new Map<string, number>()
    for (const word of text.trim().split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1)
    const chiSquare = words.reduce((sum, word) => sum + ((counts.get(word) ?? 0) - 1000) ** 2 / 1000, 0)
    // χ² with 99 degrees of freedom passes 149 once in a thousand.
    expect(chiSquare).toBeLessThan(149)
  })

  test('the largest class of one cost is the salt’s vocabulary', () => {
    expect(sameCostWords({ words: ['a', 'b', 'c', 'd'], costs: [2, 3, 2, 1], leadTokens: 0 })).toEqual({
      words: ['a', 'c'],
      cost: 2,
    })
  })
})

/** Whitespace pieces, each of `cost(piece)` tokens, behind a beginning mark. */
const counter =
  (cost: (word: string) => number, begin = 1) =>
  (text: string): Promise<number> =>
    Promise.resolve(text.split(' ').reduce((sum, word) => sum + cost(word), begin))

describe('learnWordCosts', () => {
  test('a vocabulary that knows every word is learnt in four questions', async () => {
    const learnt = await learnWordCosts(counter(() => 1))
    expect(learnt).toMatchObject({ costs: 1, leadTokens: 2, calls: 4, worstErrorTokens: 0 })
    expect(learnt.words).toHaveLength(plainWords.length)
  })

  test('words that cost more are left out', async () => {
    const dear = new Set(['able', 'board', 'door', 'horse'])
    const learnt = await learnWordCosts(counter((word) => (dear.has(word) ? 2 : 1)))
    expect(learnt).toMatchObject({ costs: 1, worstErrorTokens: 0 })
    expect(learnt.words.filter((word) => dear.has(word))).toEqual([])
    expect(learnt.words.length).toBeGreaterThan(250)
    expect(learnt.calls).toBeLessThanOrEqual(44)
  })

  test('a byte-level vocabulary costs a token a byte, and lengths are still exact', async () => {
    const bytes = counter((word) => word.length + 1, 0)
    const learnt = await learnWordCosts(bytes)
    expect(learnt.worstErrorTokens).toBe(0)
    expect(learnt.calls).toBeLessThanOrEqual(110)
    const made = composeWords(learnt, 333, randomStream(1, 'x'))
    expect(made.tokens).toBe(333)
    expect((await bytes(`Text${made.text}`)) - learnt.leadTokens).toBe(333)
  })

  test('a vocabulary whose words depend on their neighbours is found out', async () => {
    const merging = (text: string): Promise<number> =>
      Promise.resolve(Math.ceil(text.split(' ').length * 1.2))
    expect((await learnWordCosts(merging)).worstErrorTokens).toBeGreaterThan(0)
  })

  test.each([
    ['a fraction', () => 1.5],
    ['a constant', () => 7],
    ['nothing', () => Number.NaN],
  ])('who answers %s does not count', async (_what, answer) => {
    await expect(learnWordCosts(() => Promise.resolve(answer()))).rejects.toMatchObject({
      code: 'PLIM_PREFLIGHT',
    })
  })

  test('words stand with a blank before each', () => expect(joined(['a', 'b'])).toBe(' a b'))

  test('the vocabulary is plain: three to six small letters, no word twice', () => {
    expect(plainWords.every((word) => /^[a-z]{3,6}$/.test(word))).toBe(true)
    expect(new Set(plainWords).size).toBe(plainWords.length)
    expect(plainWords.length).toBeGreaterThanOrEqual(256)
  })
})

describe('estimateTokens', () => {
  const rows: [text: string, low: number, high: number][] = [
    ['', 0, 0],
    ['The quick brown fox jumps over the lazy dog.', 9, 11],
    ['1234567', 3, 3],
    ['你好世界', 3, 5],
    ['for (let i = 0; i < n; i++) { total += i }', 14, 26],
  ]
  test.each(rows)('%o is about right', (text, low, high) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(low)
    expect(estimateTokens(text)).toBeLessThanOrEqual(high)
  })
})
