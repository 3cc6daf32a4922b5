/**
 * Where a text stops being JSON (RFC 8259), and what was wrong, for messages with line and column: engines word and place their
 * own errors differently. Null for a text that is JSON. Only called on texts that `JSON.parse` refused.
 */
export function jsonFault(text: string): { readonly offset: number; readonly expected: string } | null {
  try {
    const end = skipBlank(text, value(text, skipBlank(text, 0)))
    return end === text.length ? null : { offset: end, expected: 'nothing more' }
  } catch (error) {
    if (error instanceof Fault) return { offset: error.offset, expected: error.expected }
    throw error
  }
}

/** Line and column, both from 1, of an offset. Columns count characters as editors do (UTF-16 units). */
export function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
    start = at + 1
  }
  return { line, column: offset - start + 1 }
}

class Fault extends Error {
  readonly offset: number
  readonly expected: string
  constructor(offset: number, expected: string) {
    super(expected)
    this.offset = offset
    this.expected = expected
  }
}

const deepest = 2000

function value(text: string, at: number, depth = 0): number {
  if (depth > deepest) throw new Fault(at, `at most ${deepest} levels`)
  const first = text[at]
  if (first === '{') return members(text, at, depth)
  if (first === '[') return elements(text, at, depth)
  if (first === '"') return string(text, at)
  number.lastIndex = at
  literal.lastIndex = at
  const found = number.exec(text) ?? literal.exec(text)
  if (found === null) throw new Fault(at, 'a value')
  return at + found[0].length
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literal = /true|false|null/y

function members(text: string, start: number, depth: number): number {
  let at = skipBlank(text, start + 1)
  if (text[at] === '}') return at + 1
  for (;;) {
    if (text[at] !== '"') throw new Fault(at, 'a key in double quotes')
    at = skipBlank(text, string(text, at))
    if (text[at] !== ':') throw new Fault(at, 'a colon')
    at = skipBlank(text, value(text, skipBlank(text, at + 1), depth + 1))
    if (text[at] === '}') return at + 1
    if (text[at] !== ',') throw new Fault(at, 'a comma or }')
    at = skipBlank(text, at + 1)
  }
}

function elements(text: string, start: number, depth: number): number {
  let at = skipBlank(text, start + 1)
  if (text[at] === ']') return at + 1
  for (;;) {
    at = skipBlank(text, value(text, at, depth + 1))
    if (text[at] === ']') return at + 1
    if (text[at] !== ',') throw new Fault(at, 'a comma or ]')
    at = skipBlank(text, at + 1)
  }
}

function string(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) throw new Fault(at, 'no control character inside a string')
    if (code !== 0x5c) continue
    escape.lastIndex = at
    const found = escape.exec(text)
    if (found === null) throw new Fault(at, 'an escape of JSON')
    at += found[0].length - 1
  }
  throw new Fault(text.length, 'the closing double quote')
}

const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

function skipBlank(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++
  return at
}
