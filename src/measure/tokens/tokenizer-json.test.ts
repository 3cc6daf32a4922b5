import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomStream, uniformInteger } from '../../base/random.ts'
import { mergePiece, mergeTable } from './merge-table.ts'
import { preTokenizer, toJsPattern } from './pre-tokenizer.ts'
import { readTokenizerJson } from './tokenizer-json.ts'

/** The letters that stand for the 256 bytes, in byte order. */
const byteLetters: readonly string[] = (() => {
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    return String.fromCodePoint(printable ? byte : next++)
  })
})()

/** Bytes as ids 0…255, then one id a merge. "Ġ" is the blank. */
function tokenizerJson(merges: readonly string[], change: Readonly<Record<string, unknown>> = {}): string {
  const vocab: Record<string, number> = {}
  byteLetters.forEach((letter, byte) => (vocab[letter] = byte))
  merges.forEach((merge, i) => (vocab[merge.replace(' ', '')] = 256 + i))
  return JSON.stringify({
    added_tokens: [
      { id: 900, content: '<s>' },
      { id: 901, content: '<s>>' },
    ],
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>' } }, { Sequence: { id: 'A' } }],
      special_tokens: { '<s>': { ids: [900] } },
    },
    model: { type: 'BPE', vocab, merges, ...change },
  })
}

const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ w', 'Ġw o', 'o r', 'Ã ©']

describe('readTokenizerJson', () => {
  const tokenizer = readTokenizerJson(tokenizerJson(merges), 'x.json')
  const rows: [sentence: string, text: string, ids: number[]][] = [
    ['merges in order of rank', 'hello', [259]],
    ['a blank belongs to its word', 'hello wo', [259, 261]],
    ['the lower rank merges first, wherever it stands', ' wor', [261, 114]],
    ['bytes that nothing merges stay bytes', 'hex', [256, 120]],
    ['a character of two bytes', 'é', [263]],
    ['the same character written in two is normalised', 'e\u0301', [263]],
    ['an added token stands for itself, the longest first', 'he<s>>he<s>', [256, 901, 256, 900]],
    ['no text, no tokens', '', []],
  ]
  test.each(rows)('%s', (_sentence, text, ids) => {
    expect(tokenizer.encode(text)).toEqual(ids)
    expect(tokenizer.count(text)).toBe(ids.length)
  })

  test('a beginning mark is put in front where it is asked for', () => {
    expect(tokenizer.encode('he', true)).toEqual([900, 256])
    expect(tokenizer.count('he', true)).toBe(2)
  })

  test('ignore_merges takes a whole piece that is in the vocabulary', () => {
    const vocab = JSON.parse(tokenizerJson(merges)) as { model: { vocab: Record<string, number> } }
    const whole = { ...vocab.model.vocab, xyz: 800 }
    expect(
      readTokenizerJson(tokenizerJson(merges, { vocab: whole, ignore_merges: true }), 'x').encode('xyz'),
    ).toEqual([800])
    expect(readTokenizerJson(tokenizerJson(merges, { vocab: whole }), 'x').encode('xyz')).toEqual([
      120, 121, 122,
    ])
  })

  test('merges may be written as pairs', () => {
    const pairs = merges.map((merge) => merge.split(' '))
    expect(readTokenizerJson(tokenizerJson(merges, { merges: pairs }), 'x').encode('hello')).toEqual([259])
  })

  const refused: [sentence: string, text: string][] = [
    ['not JSON', '{'],
    ['WordPiece', JSON.stringify({ model: { type: 'WordPiece' } })],
    ['SentencePiece', tokenizerJson(merges, { byte_fallback: true })],
    [
      'a vocabulary without some bytes',
      JSON.stringify({ model: { type: 'BPE', vocab: { a: 0 }, merges: [] } }),
    ],
  ]
  test.each(refused)('%s is refused', (_sentence, text) => {
    expect(() => readTokenizerJson(text, 'x.json')).toThrow(expect.objectContaining({ code: 'PLIM_FILE' }))
  })
})

describe('mergePiece', () => {
  test('is what the definition says, for short pieces and long', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 160 }), (seed, length) => {
        const random = randomStream(seed, 'merge')
        const pairs = Array.from({ length: 40 }, (_, i): readonly [number, number, number] => [
          uniformInteger(random, 0, 3 + i),
          uniformInteger(random, 0, 3 + i),
          4 + i,
        ])
        const ids = Int32Array.from({ length }, () => uniformInteger(random, 0, 3))
        const expected = byDefinition([...ids], pairs)
        expect([...mergePiece(ids, mergeTable(pairs))]).toEqual(expected)
      }),
    )
  })

  test('a piece of a hundred thousand bytes takes no quadratic time', () => {
    const ids = new Int32Array(100_000)
    const doubling = Array.from({ length: 10 }, (_, i): readonly [number, number, number] => [i, i, i + 1])
    // 100,000 = 97 × 1,024 + 512 + 128 + 32.
    expect(mergePiece(ids, mergeTable(doubling))).toHaveLength(97 + 3)
  })
})

/** Until no pair is left: the lowest rank, and of those the leftmost, merges. */
function byDefinition(ids: number[], pairs: readonly (readonly [number, number, number])[]): number[] {
  for (;;) {
    let [best, at] = [pairs.length, -1]
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = pairs.findIndex(([left, right]) => left === ids[i] && right === ids[i + 1])
      if (rank >= 0 && rank < best) [best, at] = [rank, i]
    }
    if (at < 0) return ids
    ids.splice(at, 2, pairs[best]![2])
  }
}

describe('patterns of other engines', () => {
  const rows: [pattern: string, text: string, pieces: string[]][] = [
    ["(?i:'s|'t)|\\p{L}+", "it's IT'S 'ſ", ['it', "'s", ' ', 'IT', "'S", ' ', "'ſ"]],
    ['\\s+', 'a\u0085b\uFEFFc', ['a', '\u0085', 'b\uFEFFc']],
    ['\\p{N}{1,3}', '12345', ['123', '45']],
    ['[\\r\\n\\-\\!]+', 'a-!b', ['a', '-!', 'b']],
    ['[^\\s\\p{L}]++', 'a::b', ['a', '::', 'b']],
  ]
  test.each(rows)('%s', (pattern, text, pieces) => {
    const split = { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false }
    expect(preTokenizer(split, 'x')(text)).toEqual(pieces)
  })

  test('a quantified property keeps its quantifier', () => {
    expect(toJsPattern('\\p{L}+')).toBe('\\p{L}+')
  })

  test('pieces put together are the text', () => {
    const byteLevel = preTokenizer(
      {
        type: 'Sequence',
        pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel' }],
      },
      'x',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(byteLevel(text).join('')).toBe(text)
      }),
    )
  })

  test('another way of cutting is refused', () => {
    expect(() => preTokenizer({ type: 'Metaspace' }, 'x')).toThrow(
      expect.objectContaining({ code: 'PLIM_FILE' }),
    )
  })
})
