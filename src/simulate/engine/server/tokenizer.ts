/**
 * The embedded engine's own tokenizer. It has no vocabulary: a token's id says what its text is, so that any text comes back exactly
 * from its ids, on every machine, and no table has to be shipped. A token is
 *
 * - a word: an optional blank, then up to six ASCII letters of which only the first may be a capital (` stream`, `Token`);
 *   the rest of a longer word begins the next token (` measur`, `ement`);
 * - or an optional blank and up to three bytes of anything else (` 128`, `,`, `é`), characters kept whole; a character of four
 *   bytes is a token of its own.
 *
 * A blank belongs to what follows it. So ten lower-case words of at most six letters between single blanks are ten tokens.
 */
export function tokenize(text: string): Int32Array {
  // At most one token a UTF-16 unit.
  const ids = new Int32Array(text.length)
  let count = 0
  let at = 0
  while (at < text.length) {
    let start = at
    let blank = 0
    if (text.charCodeAt(at) === 0x20 && at + 1 < text.length && text.charCodeAt(at + 1) !== 0x20) {
      blank = 1
      start++
    }
    const end = letterAt(text, start) > 0 ? wordEnd(text, start) : otherEnd(text, start)
    ids[count++] =
      letterAt(text, start) > 0 ? wordId(text, start, end, blank) : otherId(text, start, end, blank)
    at = end
  }
  return ids.slice(0, count)
}

/** The text of token ids. An id that no text has is shown as U+FFFD. */
export function detokenize(ids: ArrayLike<number>): string {
  let text = ''
  for (let index = 0; index < ids.length; index++) text += tokenText(ids[index] as number)
  return text
}

const lettersPerToken = 6
const wordIds = 27 ** lettersPerToken * 4
const otherIds = wordIds + 2 * (256 + 65_536 + 16_777_216)
const codePointIds = otherIds + 2 * 0x110000
/** Where the ids of the chat template's own marks begin; no text has them. */
const markIds = 2_000_000_000

/** 1…26 for a letter, + 32 for a capital, 0 for anything else. */
function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 97 && code <= 122) return code - 96
  if (code >= 65 && code <= 90) return code - 64 + 32
  return 0
}

function wordEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && end - start < lettersPerToken) {
    const code = text.charCodeAt(end)
    if (code < 97 || code > 122) break
    end++
  }
  return end
}

function wordId(text: string, start: number, end: number, blank: number): number {
  const first = letterAt(text, start)
  let value = first & 31
  for (let at = start + 1; at < end; at++) value = value * 27 + (text.charCodeAt(at) - 96)
  return (value * 2 + (first > 32 ? 1 : 0)) * 2 + blank
}

function otherEnd(text: string, start: number): number {
  let bytes = 0
  let end = start
  while (end < text.length) {
    if (end > start && (text.charCodeAt(end) === 0x20 || letterAt(text, end) > 0)) break
    const codePoint = text.codePointAt(end) as number
    const width = utf8Width(codePoint)
    if (end > start && bytes + width > 3) break
    bytes += width
    end += codePoint > 0xffff ? 2 : 1
    if (width === 4) break
  }
  return end
}

/** Half a surrogate pair has no UTF-8: it counts as four bytes, and so is a token alone. */
function utf8Width(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint > 0xffff || (codePoint >= 0xd800 && codePoint < 0xe000) ? 4 : 3
}

function otherId(text: string, start: number, end: number, blank: number): number {
  const first = text.codePointAt(start) as number
  if (utf8Width(first) === 4) return otherIds + first * 2 + blank
  const bytes = Buffer.from(text.slice(start, end), 'utf8')
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  const offset = bytes.length === 1 ? 0 : bytes.length === 2 ? 256 : 256 + 65_536
  return wordIds + (offset + value) * 2 + blank
}

function tokenText(id: number): string {
  const blank = id % 2 === 1 ? ' ' : ''
  if (id < 0 || id >= codePointIds) return '\uFFFD'
  if (id >= otherIds) return blank + String.fromCodePoint((id - otherIds - (id % 2)) / 2)
  if (id >= wordIds) return blank + bytesText(Math.floor((id - wordIds) / 2))
  let value = Math.floor(id / 4)
  let letters = ''
  while (value > 0) {
    const letter = value % 27
    if (letter === 0) return '\uFFFD'
    letters = String.fromCharCode(96 + letter) + letters
    value = Math.floor(value / 27)
  }
  if (letters === '') return '\uFFFD'
  return blank + (Math.floor(id / 2) % 2 === 1 ? letters.charAt(0).toUpperCase() + letters.slice(1) : letters)
}

function bytesText(coded: number): string {
  const width = coded < 256 ? 1 : coded < 256 + 65_536 ? 2 : 3
  const value = coded - (width === 1 ? 0 : width === 2 ? 256 : 256 + 65_536)
  return Buffer.from([(value >> 16) & 255, (value >> 8) & 255, value & 255].slice(3 - width)).toString('utf8')
}

export interface ChatMessage {
  readonly role: string
  readonly content: string
}

const beginMark = markIds
const endMark = markIds + 1

/**
 * The chat template, after the pattern of ChatML: each message is a mark, its role, a line feed, its content and a mark; the
 * answer's mark, role and line feed follow. A `user` message of n tokens therefore costs n + 4, and the answer's opening 4.
 */
export function tokenizeChat(messages: readonly ChatMessage[], addGenerationPrompt = true): Int32Array {
  const parts: ArrayLike<number>[] = []
  for (const { role, content } of messages) {
    parts.push([beginMark], tokenize(role), lineFeed, tokenize(content), [endMark])
  }
  if (addGenerationPrompt) parts.push([beginMark], tokenize('assistant'), lineFeed)
  const ids = new Int32Array(parts.reduce((total, part) => total + part.length, 0))
  let at = 0
  for (const part of parts) {
    ids.set(part, at)
    at += part.length
  }
  return ids
}

const lineFeed = tokenize('\n')
