import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escaped, hexadecimal, isBinary } from './escaped.ts'

describe('escaped', () => {
  test.each([
    ['plain text stays', 'a "b" é 漢', 'a "b" é 漢'],
    ['what a terminal obeys is written out', '\u001b[2Jx\u0007', '\\x1b[2Jx\\x07'],
    ['line breaks too', 'a\nb', 'a\\x0ab'],
    ['and marks of direction', 'a\u202Eb', 'a\\u202eb'],
  ])('%s', (_sentence, text, shown) => expect(escaped(text)).toBe(shown))
  test('is cut between characters', () => {
    expect(escaped('x'.repeat(100), 5)).toBe('xxxxx…')
    expect(escaped('😀😀😀', 2)).toBe('😀😀…')
  })
  test('law: no control character is left, and the length is bounded', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: 1, max: 50 }),
        (text, most) => {
          const shown = escaped(text, most)
          expect(/[\p{Cc}\u202A-\u202E]/u.test(shown)).toBe(false)
          expect(Array.from(shown).length).toBeLessThanOrEqual(6 * most + 1)
        },
      ),
    )
  })
})

describe('bytes', () => {
  test.each([
    ['an ELF', [0x7f, 0x45, 0x4c, 0x46, 2, 1], true],
    ['text', [...Buffer.from('a,b\r\n\t"é"')], false],
    ['nothing', [], false],
  ])('%s', (_sentence, bytes, binary) => expect(isBinary(Uint8Array.from(bytes))).toBe(binary))
  test('in hexadecimal', () => {
    expect(hexadecimal(Uint8Array.of(0x7f, 5))).toBe('7f 05')
    expect(hexadecimal(new Uint8Array(40), 2)).toBe('00 00 …')
  })
})
