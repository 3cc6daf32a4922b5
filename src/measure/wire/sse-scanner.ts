import { GrowingBytes } from './growing-bytes.ts'

/** What an `event:` line said: nothing or `message`, `error`, or a name that is none of ours. */
export type SseEventName = 'message' | 'error' | 'foreign'

/** Takes what the scanner finds. Bytes are only valid during the call. */
export interface SseHandler {
  /** An event with data: its data lines joined by LF. */
  onEvent(bytes: Uint8Array, start: number, end: number, name: SseEventName, atMs: number): void
  /**
   * Perhaps an event in one line: `bytes[start]` is the `{` after `data:`. The handler may take it, if it is whole and a blank line
   * of LFs follows, and gives where the next line begins; -1: not taken, the scanner goes on as usual. Saves a second look at
   * nearly every byte of a stream.
   */
  tryEvent(bytes: Uint8Array, start: number, end: number, atMs: number): number
  onComment(): void
  /** A line whose field name is `error`: no part of the standard, but the one line that says what went wrong. */
  onErrorField(bytes: Uint8Array, start: number, end: number, atMs: number): void
}

const LF = 10
const CR = 13
const colon = 58
const space = 32

const dataField = Buffer.from('data')
const eventField = Buffer.from('event')
const errorField = Buffer.from('error')
const messageName = Buffer.from('message')

/**
 * Reads `text/event-stream` bytes in any pieces (WHATWG HTML §9.2.6): lines end in CR, LF or CRLF, a lone CR at once; a
 * byte-order mark is skipped; `data` lines of one event are joined. Unlike a browser it reports an event that the end of the
 * stream completes (see `finish`), since the end of a measured stream must be known. Events that lie whole in one piece are
 * handed on in place; only cut ones are copied.
 */
export class SseScanner {
  readonly #handler: SseHandler
  readonly #maxEventBytes: number
  /** The beginning of a line that a piece cut off. */
  readonly #line = new GrowingBytes(512)
  /** Data of the running event, where it could not be left in place. */
  readonly #data = new GrowingBytes(512)
  #hasData = false
  #name: SseEventName = 'message'
  /** The last byte was a CR, so that a LF now belongs to it. */
  #afterCr = false
  /** Bytes of a byte-order mark seen at the very start; 3 or more: the start is over. */
  #markBytes = 0

  constructor(handler: SseHandler, maxEventBytes: number) {
    this.#handler = handler
    this.#maxEventBytes = maxEventBytes
  }

  /** Whether bytes wait for the rest of their line or event. */
  get pending(): boolean {
    return this.#hasData || this.#line.length > 0
  }

  /** Bytes that wait for the rest of their line or event. */
  get heldBytes(): number {
    return this.#line.length + this.#data.length
  }

  /** Scans `bytes[start, end)`, which arrived at `atMs`. False: an event is larger than allowed, and nothing more can be read. */
  push(bytes: Uint8Array, start: number, end: number, atMs: number): boolean {
    let lineStart = this.#markBytes < 3 ? this.#skipMark(bytes, start, end) : start
    while (lineStart < end) {
      if (this.#afterCr) {
        this.#afterCr = false
        if (bytes[lineStart] === LF) {
          lineStart++
          continue
        }
      }
      if (!this.#hasData && this.#line.length === 0 && this.#name === 'message') {
        const brace = oneLineData(bytes, lineStart, end)
        const next = brace === -1 ? -1 : this.#handler.tryEvent(bytes, brace, end, atMs)
        if (next !== -1) {
          lineStart = next
          continue
        }
      }
      let i = lineStart
      let byte = bytes[i]!
      while (byte !== LF && byte !== CR && ++i < end) byte = bytes[i]!
      if (i === end) {
        this.#line.append(bytes, lineStart, end)
        return this.#line.length + this.#data.length <= this.#maxEventBytes
      }
      const afterLine = i + 1
      if (byte === CR) this.#afterCr = true
      if (this.#line.length > 0) {
        this.#line.append(bytes, lineStart, i)
        this.#onLine(this.#line.bytes, 0, this.#line.length, atMs)
        this.#line.clear()
      } else if (i === lineStart) {
        this.#dispatch(atMs)
      } else {
        this.#onLine(bytes, lineStart, i, atMs)
        if (this.#data.length > this.#maxEventBytes) return false
      }
      lineStart = afterLine
    }
    return true
  }

  /** The stream ended at `atMs`: a last line without its end, and a last event without its blank line, still count. */
  finish(atMs: number): void {
    if (this.#line.length > 0) {
      this.#onLine(this.#line.bytes, 0, this.#line.length, atMs)
      this.#line.clear()
    }
    this.#dispatch(atMs)
  }

  #onLine(bytes: Uint8Array, start: number, end: number, atMs: number): void {
    let i = start
    while (i < end && bytes[i] !== colon) i++
    if (i === start) return this.#handler.onComment()
    const from = i === end ? end : valueStart(bytes, i, end)
    if (equals(bytes, start, i, dataField)) {
      if (this.#hasData) this.#data.appendByte(LF)
      this.#hasData = true
      this.#data.append(bytes, from, end)
    } else if (equals(bytes, start, i, eventField)) {
      this.#name =
        from === end || equals(bytes, from, end, messageName)
          ? 'message'
          : equals(bytes, from, end, errorField)
            ? 'error'
            : 'foreign'
    } else if (equals(bytes, start, i, errorField)) {
      this.#handler.onErrorField(bytes, from, end, atMs)
    }
  }

  #dispatch(atMs: number): void {
    const name = this.#name
    this.#name = 'message'
    if (!this.#hasData) return
    this.#hasData = false
    const length = this.#data.length
    this.#handler.onEvent(this.#data.bytes, 0, length, name, atMs)
    this.#data.clear()
  }

  #skipMark(bytes: Uint8Array, start: number, end: number): number {
    let i = start
    while (i < end && this.#markBytes < 3) {
      if (bytes[i] !== byteOrderMark[this.#markBytes]) {
        // It only looked like one: what was skipped begins the first line.
        if (this.#markBytes > 0) this.#line.append(byteOrderMark, 0, this.#markBytes)
        this.#markBytes = 3
        return i
      }
      this.#markBytes++
      i++
    }
    return i
  }
}

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

/** Where the `{` of a line `data:{…` or `data: {…` is, or -1. */
function oneLineData(bytes: Uint8Array, start: number, end: number): number {
  if (
    start + 6 >= end ||
    bytes[start] !== 0x64 ||
    bytes[start + 1] !== 0x61 ||
    bytes[start + 2] !== 0x74 ||
    bytes[start + 3] !== 0x61 ||
    bytes[start + 4] !== colon
  ) {
    return -1
  }
  const at = bytes[start + 5] === space ? start + 6 : start + 5
  return bytes[at] === 0x7b ? at : -1
}

/** Where a field's value begins: after the colon at `at` and at most one space. */
function valueStart(bytes: Uint8Array, at: number, end: number): number {
  return at + 1 < end && bytes[at + 1] === space ? at + 2 : at + 1
}

/** Whether `bytes[start, end)` is `word`. */
export function equals(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false
  return true
}
