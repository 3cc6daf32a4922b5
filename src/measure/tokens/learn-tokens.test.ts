import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import { learnTokens, type TokenSources } from './learn-tokens.ts'
import { plainWords } from './vocabulary.ts'

/** A server whose tokens are `cost` of each whitespace piece, with a mark in front and a template of 7 around a chat. */
function server(
  cost: (word: string) => number,
  offers: { tokenize: boolean; usage: boolean },
): TokenSources & { calls: () => number } {
  let calls = 0
  const bare = (text: string): number => {
    calls++
    return Math.round(text.split(' ').reduce((sum, word) => sum + cost(word), 1))
  }
  const probe = `Text ${plainWords.slice(0, 16).join(' ')}`
  return {
    count: offers.tokenize ? (text) => Promise.resolve(bare(text)) : null,
    usage: (text) => Promise.resolve(offers.usage ? bare(text) + 7 : null),
    probe: { text: probe, words: 16, promptTokens: offers.usage ? bare(probe) + 7 : null },
    calls: () => calls,
  }
}

const rows: [
  sentence: string,
  cost: (word: string) => number,
  offers: { tokenize: boolean; usage: boolean },
  kind: string,
  exact: boolean,
  worst: number,
][] = [
  [
    '/tokenize and usage, one token a word',
    () => 1,
    { tokenize: true, usage: true },
    'server-tokenize',
    true,
    0,
  ],
  [
    '/tokenize and usage, bytes',
    (word) => word.length + 1,
    { tokenize: true, usage: true },
    'server-tokenize',
    true,
    0,
  ],
  [
    '/tokenize alone: the template is not known',
    () => 1,
    { tokenize: true, usage: false },
    'server-tokenize',
    false,
    7,
  ],
  ['usage alone, one token a word', () => 1, { tokenize: false, usage: true }, 'calibrated', true, 0],
  [
    'usage alone, words of several costs',
    (word) => (word.length > 4 ? 2 : 1),
    { tokenize: false, usage: true },
    'calibrated',
    false,
    40,
  ],
]

describe('learnTokens', () => {
  test.each(rows)('%s', async (_sentence, cost, offers, kind, exact, worst) => {
    const from = server(cost, offers)
    const counter = await learnTokens(from)
    expect(counter).toMatchObject({ kind, exact })
    expect(from.calls()).toBeLessThan(120)
    expect(counter.warnings.map((warning) => warning.kind)).toEqual(exact ? [] : ['lengths_not_as_asked'])
    for (const [index, length] of [60, 500, 1000].entries()) {
      const made = counter.makePrompt(length, randomStream(3, 'x', index))
      const truth = made.text.split(' ').reduce((sum, word) => sum + cost(word), 1) + 7
      expect(Math.abs(truth - length)).toBeLessThanOrEqual(worst)
      expect(Math.abs((made.tokens ?? 0) - length)).toBeLessThanOrEqual(1)
    }
  })

  test('neither: a word a token, lengths unknown, and it is said', async () => {
    const counter = await learnTokens(server(() => 1, { tokenize: false, usage: false }))
    expect(counter.kind).toBe('unknown')
    const made = counter.makePrompt(50, randomStream(1, 'x'))
    expect(made.tokens).toBeNull()
    expect(made.text.split(' ')).toHaveLength(50)
    expect(counter.warnings).toHaveLength(1)
  })

  test('words of the probe that cost less than the others do not make every prompt too long', async () => {
    const cheap = new Set(['Text', ...plainWords.slice(0, 16)])
    const cost = (word: string): number => (cheap.has(word) ? 1 : 3)
    const counter = await learnTokens(server(cost, { tokenize: false, usage: true }))
    expect(counter.words.leadTokens).toBe(9)
    const truths = [...Array(40).keys()].map((index) => {
      const { text } = counter.makePrompt(100, randomStream(3, 'x', index))
      return text.split(' ').reduce((sum, word) => sum + cost(word), 1) + 7
    })
    const mean = truths.reduce((sum, tokens) => sum + tokens, 0) / truths.length
    expect(Math.abs(mean - 100)).toBeLessThan(4)
  })

  test('says how it knows', async () => {
    const counter = await learnTokens(server(() => 1, { tokenize: true, usage: true }))
    expect(counter.basis).toBe(
      `learnt from /tokenize in 5 questions: ${plainWords.length} words of 1 token each, 7 tokens of template; two prompts made to check were exact`,
    )
  })

  const words = { count: (text: string) => text.split(' ').length + 1 }

  test('a tokenizer counts before anyone is asked, and the server’s usage agrees', async () => {
    const counter = await learnTokens(
      server(() => 1, { tokenize: true, usage: true }),
      words,
    )
    expect(counter).toMatchObject({ kind: 'tokenizer', exact: true, words: { leadTokens: 9 }, warnings: [] })
    expect(counter.textTokens('one two')).toEqual({ tokens: 3, exact: true })
  })

  test('a tokenizer of another model is a finding with its size', async () => {
    const counter = await learnTokens(
      server((word) => (word.length > 5 ? 2 : 1), { tokenize: false, usage: true }),
      words,
    )
    expect(counter.exact).toBe(false)
    expect(counter.warnings.map(({ kind }) => kind)).toEqual(['token_count_disagrees'])
    expect(counter.warnings[0]?.message).toMatch(
      /^the server counts \d+ tokens where the tokenizer counts 303 \(\+\d+\.\d %\)$/,
    )
  })

  test('a tokenizer beside a server that counts nothing knows all but the template', async () => {
    const counter = await learnTokens(
      server(() => 1, { tokenize: false, usage: false }),
      words,
    )
    expect(counter).toMatchObject({ kind: 'tokenizer', exact: false })
  })
})
