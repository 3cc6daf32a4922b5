import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeError, PlimsollError } from '../../base/errors.ts'
import { readTokenizer, type PlainTokenizer, type TokenizerPackages } from './read-tokenizer.ts'

// Vocabularies that SentencePiece 0.2.3 trained on this project's licence and docs/words.md, and the ids that it gives these texts itself.
// `plain` is a Unigram without byte fallback, `unigram` one with it; `bpe.json` are the pieces of `bpe.model` as a tokenizer.json.

const folder = fileURLToPath(new URL('../../../test/fixtures/tokenizers/', import.meta.url))
const truth = JSON.parse(readFileSync(`${folder}sentencepiece.json`, 'utf8')) as Readonly<
  Record<'texts', readonly string[]> & Record<'unigram' | 'bpe' | 'plain', readonly (readonly number[])[]>
>

function read(name: string, packages?: TokenizerPackages): Promise<PlainTokenizer> {
  const path = folder + name
  return readTokenizer(readFileSync(path, 'utf8'), path, packages)
}

async function refusal(text: string, path: string, packages?: TokenizerPackages): Promise<string> {
  try {
    await readTokenizer(text, path, packages)
  } catch (error) {
    if (error instanceof PlimsollError) return describeError(error)
    throw error
  }
  return 'it was read'
}

/** A machine without the packages, as Node says it. */
const notThere = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }))
const without: TokenizerPackages = { huggingFace: notThere, sentencePiece: notThere }

describe('vocabularies of SentencePiece', () => {
  test.each([
    ['a Unigram model', 'unigram.model', 'unigram'],
    ['a BPE model', 'bpe.model', 'bpe'],
    ['the same BPE as a tokenizer.json with byte fallback', 'bpe.json', 'bpe'],
  ] as const)('%s gives SentencePiece’s own ids', async (_sentence, file, kind) => {
    const tokenizer = await read(file)
    truth.texts.forEach((text, i) => {
      expect([text, ...tokenizer.encode(text)]).toEqual([text, ...truth[kind][i]!])
      expect(tokenizer.count(text)).toBe(truth[kind][i]!.length)
    })
  })

  test('a Unigram as a tokenizer.json gives them where its own rules are the same', async () => {
    const tokenizer = await read('plain.json')
    truth.texts.forEach((text, i) => {
      // It puts no blank before one, and finds the marks of the vocabulary in a text.
      if (text.startsWith(' ') || text.includes('<s>')) return
      expect([text, ...tokenizer.encode(text)]).toEqual([text, ...truth.plain[i]!])
    })
  })

  test('law: JSON and model of one BPE count the same, whatever the text', async () => {
    const [json, model] = [await read('bpe.json'), await read('bpe.model')]
    const word = fc.oneof(fc.string(), fc.constantFrom('the', 'License', ' ', '日本', '🎉', '1,000', '\n'))
    const text = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(' '))
    fc.assert(
      fc.property(text, (given) => {
        // No NUL: texts go to the library as C strings.
        const clean = given.replaceAll('\0', '')
        expect(json.count(clean)).toBe(model.count(clean))
      }),
    )
  })
})

describe('what cannot be read', () => {
  const json = (file: string): string => readFileSync(folder + file, 'utf8')
  const unigram = (extra: object): string =>
    JSON.stringify({ model: { type: 'Unigram', vocab: [], ...extra } })

  test.each([
    ['@agnai/sentencepiece-js', json('unigram.model')],
    ['@huggingface/tokenizers', json('plain.json')],
  ])('a machine without %s is told to install it', async (name, text) => {
    const said = await refusal(text, 'v', without)
    expect(said).toContain(`PLIM_FILE  reading this vocabulary needs the package ${name}`)
    expect(said).toContain(`npm install ${name}`)
  })

  test.each([
    ['a model that breaks off', json('unigram.model').slice(0, 40), 'the SentencePiece model cannot be read'],
    ['tiktoken’s form', 'IQ== 0\nIg== 1\n', 'tiktoken’s form'],
    [
      'a Unigram with byte fallback',
      unigram({ byte_fallback: true }),
      'the tokenizer.model that stands beside it',
    ],
    ['a model that is none', '{"model": {"type": "Odd"}}', 'the tokenizer cannot be read'],
    ['another JSON', '{"a": 1}', 'the tokenizer cannot be read'],
    ['broken JSON', '{"model": ', 'the tokenizer is not JSON'],
    ['a page', '<html>', 'the tokenizer is not JSON'],
  ])('%s', async (_sentence, text, said) => {
    // SentencePiece reads its file itself; this one is no model.
    expect(await refusal(text, `${folder}sentencepiece.json`)).toContain(said)
  })
})
