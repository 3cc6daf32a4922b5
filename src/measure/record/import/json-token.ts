import { escaped } from '../../../base/escaped.ts'
import type { JsonValue } from './json-value.ts'

/** What may come next in a value. */
export type Expect = 'root' | 'keyOrEnd' | 'key' | 'colon' | 'value' | 'valueOrEnd' | 'commaOrEnd' | 'lost'

export const expectedWords: Readonly<Record<Expect, string>> = {
  root: 'a JSON value',
  keyOrEnd: 'a key in double quotes or }',
  key: 'a key in double quotes',
  colon: 'a colon',
  value: 'a value',
  valueOrEnd: 'a value or ]',
  commaOrEnd: 'a comma or the closing bracket',
  lost: '',
}

/** Powers of ten that a double holds exactly. */
const tens = Array.from({ length: 23 }, (_, power) => 10 ** power)

/**
 * The number, or the bare word for one, in `bytes[start, end)`; undefined where it is neither. Up to 15 digits times a power of ten
 * within 10^±22 are one correctly rounded operation (Clinger 1990); all else is left to `Number`. Whole numbers beyond 2^53 become
 * bigints.
 */
export function readNumberToken(bytes: Buffer, start: number, end: number): JsonValue | undefined {
  let at = start
  const negative = bytes[at] === 0x2d
  if (negative || bytes[at] === 0x2b) at++
  let digits = 0
  let mantissa = 0
  let fraction = 0
  let dotted = false
  for (; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x30 && byte <= 0x39) {
      mantissa = mantissa * 10 + (byte - 0x30)
      digits++
      if (dotted) fraction++
    } else if (byte === 0x2e && !dotted) dotted = true
    else break
  }
  if (at === end && digits > 0 && digits <= 15 && fraction <= 22) {
    const value = fraction === 0 ? mantissa : mantissa / (tens[fraction] as number)
    return negative ? -value : value
  }
  // What floats print as, with 16 or 17 digits.
  if (at === end && dotted && digits > 0) return Number(bytes.toString('latin1', start, end))
  return readOddToken(bytes.toString('latin1', start, end))
}

const words: Readonly<Record<string, JsonValue>> = {
  true: true,
  false: false,
  null: null,
  none: null,
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
}

function readOddToken(text: string): JsonValue | undefined {
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text.replace('+', ''))
    const plain = Number(whole)
    return Number.isSafeInteger(plain) ? plain : whole
  }
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
  const word = /^([+-]?)([A-Za-z]+)$/.exec(text)
  const value = word === null ? undefined : words[(word[2] ?? '').toLowerCase()]
  if (word?.[1] === '') return value
  // Only numbers have a sign: -nan, -Infinity.
  return typeof value === 'number' ? (word?.[1] === '-' ? -value : value) : undefined
}

/** What stands between the quotes of `bytes[start, end)`; bad escapes and raw control characters are taken as they are. */
export function readStringToken(bytes: Buffer, start: number, end: number, escaped: boolean): string {
  const text = bytes.toString('utf8', start, end)
  if (!escaped) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    const plain: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }
    return text.replace(/\\u([0-9a-fA-F]{4})|\\(.)/gs, (_, code: string | undefined, letter: string) =>
      code === undefined ? (plain[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
    )
  }
}

export function isTokenByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2e ||
    byte === 0x2d ||
    byte === 0x2b ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x5f
  )
}

/** The text at a fault, to be shown. */
export function nearby(bytes: Buffer, at: number): string {
  const text = bytes.toString('utf8', at, Math.min(bytes.length, at + 24)).split(/[\r\n]/)[0] ?? ''
  return text === '' ? 'the end of the line' : escaped(JSON.stringify(text))
}
