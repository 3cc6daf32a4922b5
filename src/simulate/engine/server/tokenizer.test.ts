import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerWords, drawOutputTokens, promptKey } from './answer-text.ts'
import { detokenize, tokenize, tokenizeChat } from './tokenizer.ts'

describe('tokenize', () => {
  it.each([
    ['nothing', '', 0],
    ['a word', 'hello', 1],
    ['words of up to six letters between blanks', 'the quick brown fox jumped', 5],
    ['a longer word in pieces of six', 'measurement', 2],
    ['a capital begins a token', 'HTTP', 4],
    ['digits three at a time', ' 123456', 2],
    ['punctuation apart from words', 'Yes, no.', 4],
    ['two blanks: the first alone, the second with its word', 'a  b', 3],
    ['a trailing blank', 'a ', 2],
    ['an emoji', '🙂', 1],
  ])('%s', (_, text, tokens) => expect(tokenize(text)).toHaveLength(tokens))

  it('is undone by detokenize, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.lorem()),
        (text) => {
          expect(detokenize(tokenize(text))).toBe(text)
        },
      ),
    )
    expect(detokenize(tokenize('\ud800x'))).toBe('\ud800x')
  })

  it('gives different texts different ids, and positive ones', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        fc.pre(one !== other)
        expect(Array.from(tokenize(one))).not.toEqual(Array.from(tokenize(other)))
        expect(tokenize(one).every((id) => id > 0)).toBe(true)
      }),
    )
  })

  it('shows an id that no text has as U+FFFD', () => {
    expect(detokenize([-1, 2_000_000_000, 0])).toBe('\uFFFD\uFFFD\uFFFD')
  })

  it('keeps a conversation’s beginning when it grows, as the prefix cache needs it', () => {
    const first = tokenizeChat([{ role: 'user', content: 'one two' }], false)
    const grown = tokenizeChat([
      { role: 'user', content: 'one two' },
      { role: 'user', content: 'three' },
    ])
    expect(Array.from(grown.slice(0, first.length))).toEqual(Array.from(first))
    expect(first).toHaveLength(6)
  })
})

describe('answers', () => {
  it('are as many tokens as words, and the same for the same seed and prompt', () => {
    const text = (seed: number, prompt: number, count: number): string => {
      const next = answerWords(seed, prompt)
      return Array.from({ length: count }, next).join('')
    }
    expect(tokenize(text(1, 7, 500))).toHaveLength(500)
    expect(text(1, 7, 500)).toBe(text(1, 7, 500))
    expect(text(1, 7, 500)).not.toBe(text(2, 7, 500))
    expect(text(1, 7, 500)).not.toBe(text(1, 8, 500))
  })

  it.each(['fixed', 'uniform', 'lognormal', 'geometric'] as const)('have the mean asked for: %s', (kind) => {
    let total = 0
    for (let prompt = 0; prompt < 20_000; prompt++)
      total += drawOutputTokens({ kind, meanTokens: 100 }, 1, prompt)
    expect(total / 20_000).toBeGreaterThan(97)
    expect(total / 20_000).toBeLessThan(103)
  })

  it('tell prompts apart', () => {
    expect(promptKey(tokenize('a b'))).not.toBe(promptKey(tokenize('b a')))
  })
})
