import type { DoubledKey, JsonValue } from './json-value.ts'
import { pathText } from './file-break.ts'
import {
  expectedWords,
  isTokenByte,
  nearby,
  readNumberToken,
  readStringToken,
  type Expect,
} from './json-token.ts'

/**
 * What is wanted of a file's values. Without a plan everything is kept. `emit`: hand it over on its own and forget it, so that a list
 * of a million records takes the memory of one. `skip`: read over it. `each` is for the elements of a list.
 */
export interface JsonPlan {
  readonly emit?: true
  readonly skip?: true
  readonly members?: Readonly<Record<string, JsonPlan>>
  readonly each?: JsonPlan
}

export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly expected: string
  readonly received: string
  /** Where in the value, `itls[24]`; '' outside of all. */
  readonly path: string
  /** The text ended in the middle of a value. */
  readonly truncated: boolean
}

export interface JsonPlace {
  readonly line: number
  readonly column: number
  readonly doubled: readonly DoubledKey[]
}

export interface JsonSink {
  /** An emitted value, with the keys and indices that lead to it. */
  readonly onItem?: (value: JsonValue, path: readonly (string | number)[], place: JsonPlace) => void
  /** A whole value of the file: JSON Lines have many. `cut`: it was broken off, and holds what could be read. */
  readonly onRoot: (value: JsonValue, place: JsonPlace, cut: JsonFault | null) => void
  readonly onFault: (fault: JsonFault) => void
}

interface Frame {
  readonly value: JsonValue[] | Record<string, JsonValue> | null
  readonly list: boolean
  readonly plan: JsonPlan | null
  key: string
  index: number
  readonly line: number
  readonly column: number
}

/**
 * A push reader of JSON as tools really write it: `NaN`, `Infinity`, doubled keys, big integers, a byte order mark, trailing commas,
 * several values one after another, a text that breaks off. Memory is that of the values kept, however long the text. After a fault
 * in a value that began on the same line the reader goes on with the next line; else it gives what it had and stops. Where two values
 * have stood on a line each, none goes on to another line: a torn one takes nothing from its neighbour.
 */
export class JsonStream {
  private readonly sink: JsonSink
  private readonly plan: JsonPlan | null
  private readonly frames: Frame[] = []
  private expect: Expect = 'root'
  private held: Buffer = Buffer.alloc(0)
  private scanned = 0
  private line = 1
  private lineStart = 0
  private base = 0
  private rootLine = 1
  private rootColumn = 1
  private roots = 0
  /** Values so far that stood on one line, as long as all of them did; −1 from the first that did not. */
  private lines = 0
  private begun = false
  private stopped = false
  private doubled: DoubledKey[] = []

  constructor(sink: JsonSink, plan: JsonPlan | null = null) {
    this.sink = sink
    this.plan = plan
  }

  /** Whether nothing more will be read. */
  get isStopped(): boolean {
    return this.stopped
  }

  push(chunk: Buffer): void {
    if (this.stopped) return
    let bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    this.held = bytes.subarray(0, 0)
    if (!this.begun) {
      if (bytes.length < 3) {
        this.held = bytes
        return
      }
      this.start(bytes)
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3)
    }
    const used = this.read(bytes, false)
    this.held = Buffer.from(bytes.subarray(used))
    this.base += used
  }

  private start(bytes: Buffer): void {
    this.begun = true
    const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
    if (wide) this.fail(bytes, 0, 'UTF-8 text', false)
  }

  /** The text has ended. */
  finish(): void {
    if (this.stopped) return
    const used = this.read(this.held, true)
    if (this.isStopped || this.expect === 'root' || this.expect === 'lost') return
    this.base += used
    this.give(this.faultAt(Buffer.alloc(0), 0, expectedWords[this.expect], true))
  }

  /** Reads as far as whole tokens go; how many bytes were used. */
  private read(bytes: Buffer, final: boolean): number {
    let at = 0
    let lineEnd = -1
    const { length } = bytes
    while (at < length && !this.stopped) {
      const byte = bytes[at] as number
      if (byte === 0x20 || byte === 0x09 || byte === 0x0d) {
        at++
        continue
      }
      if (byte === 0x0a) {
        if (this.frames.length > 0 && this.lines > 1) this.fail(bytes, at, expectedWords[this.expect], false)
        at++
        this.line++
        this.lineStart = this.base + at
        if (this.expect === 'lost') this.expect = 'root'
        continue
      }
      const { expect } = this
      if (expect === 'lost') {
        const next = bytes.indexOf(0x0a, at)
        at = next < 0 ? length : next
        continue
      }
      if (byte === 0x22) {
        const end = this.endOfString(bytes, at)
        if (this.lines > 1) {
          if (lineEnd < at) lineEnd = bytes.indexOf(0x0a, at)
          if (lineEnd < 0) lineEnd = length
          if (lineEnd < (end < 0 ? length : end)) {
            this.fail(bytes, lineEnd, 'the closing double quote', false)
            this.scanned = 0
            at = lineEnd
            continue
          }
        }
        if (end < 0) {
          if (!final) {
            this.scanned = length - at
            return at
          }
          this.fail(bytes, length, 'the closing double quote', true)
          return length
        }
        this.scanned = 0
        this.string(bytes, at, end)
        at = end + 1
        continue
      }
      if (isTokenByte(byte)) {
        let end = at + 1
        while (end < length && isTokenByte(bytes[end] as number)) end++
        if (end === length) {
          if (!final) return at
          // The end of the text may have cut it: 0.01 of 0.0123.
          this.fail(bytes, length, expectedWords.commaOrEnd, true)
          return length
        }
        const value =
          expect === 'value' || expect === 'valueOrEnd' || expect === 'root'
            ? readNumberToken(bytes, at, end)
            : undefined
        if (value === undefined) this.fail(bytes, at, expectedWords[expect], false)
        else this.scalar(bytes, at, value)
        at = end
        continue
      }
      this.punctuation(bytes, at, byte)
      at++
    }
    return this.stopped ? length : at
  }

  /** Position of the closing quote, or −1. Escaped quotes are told by the backslashes before them. */
  private endOfString(bytes: Buffer, start: number): number {
    let from = Math.max(start + 1, start + this.scanned - 1)
    for (;;) {
      const end = bytes.indexOf(0x22, from)
      if (end < 0) return -1
      let slashes = 0
      while (end - 1 - slashes > start && bytes[end - 1 - slashes] === 0x5c) slashes++
      if (slashes % 2 === 0) return end
      from = end + 1
    }
  }

  private string(bytes: Buffer, start: number, end: number): void {
    const isKey = this.expect === 'keyOrEnd' || this.expect === 'key'
    const skipped = !isKey && this.skipsHere()
    const slash = skipped ? -1 : bytes.subarray(start, end).indexOf(0x5c)
    const text = skipped ? '' : readStringToken(bytes, start + 1, end, slash >= 0)
    if (isKey) {
      const frame = this.frames.at(-1) as Frame
      frame.key = text
      this.expect = 'colon'
    } else if (this.expect === 'value' || this.expect === 'valueOrEnd' || this.expect === 'root') {
      this.scalar(bytes, start, text)
    } else this.fail(bytes, start, expectedWords[this.expect], false)
    // Columns count characters, bytes of UTF-8 are more.
    if (!skipped && slash < 0) this.lineStart += end - start - 1 - text.length
  }

  private punctuation(bytes: Buffer, at: number, byte: number): void {
    const { expect } = this
    const top = this.frames.at(-1)
    if (byte === 0x7b || byte === 0x5b) {
      if (expect !== 'value' && expect !== 'valueOrEnd' && expect !== 'root')
        return this.fail(bytes, at, expectedWords[expect], false)
      return this.open(byte === 0x5b, this.base + at)
    }
    if (byte === 0x3a && expect === 'colon') {
      this.expect = 'value'
      return
    }
    if (byte === 0x2c && expect === 'commaOrEnd' && top !== undefined) {
      this.expect = top.list ? 'valueOrEnd' : 'keyOrEnd'
      if (top.list) top.index++
      return
    }
    if (byte === 0x7d && top?.list === false && (expect === 'commaOrEnd' || expect === 'keyOrEnd'))
      return this.close()
    if (byte === 0x5d && top?.list === true && (expect === 'commaOrEnd' || expect === 'valueOrEnd'))
      return this.close()
    if (byte === 0x2c && expect === 'root' && this.roots > 0) return
    this.fail(bytes, at, expectedWords[expect], false)
  }

  /** The plan of the value that comes next. */
  private planHere(): JsonPlan | null {
    const top = this.frames.at(-1)
    if (top === undefined) return this.plan
    if (top.plan === null) return null
    if (top.list) return top.plan.each ?? null
    const { members } = top.plan
    return members !== undefined && Object.hasOwn(members, top.key) ? (members[top.key] ?? null) : null
  }

  private skipsHere(): boolean {
    const top = this.frames.at(-1)
    return (top !== undefined && top.value === null) || this.planHere()?.skip === true
  }

  private open(list: boolean, offset: number): void {
    const column = offset - this.lineStart + 1
    if (this.frames.length === 0) this.beginRoot(column)
    const skipped = this.skipsHere()
    this.frames.push({
      value: skipped ? null : list ? [] : {},
      list,
      plan: skipped ? null : this.planHere(),
      key: '',
      index: 0,
      line: this.line,
      column,
    })
    this.expect = list ? 'valueOrEnd' : 'keyOrEnd'
  }

  private beginRoot(column: number): void {
    this.rootLine = this.line
    this.rootColumn = column
  }

  private close(): void {
    const frame = this.frames.pop() as Frame
    this.expect = 'commaOrEnd'
    if (this.frames.length === 0) {
      this.root(frame.value ?? null, null)
      return
    }
    if (frame.value === null) return
    if (frame.plan?.emit === true) {
      const { line, column } = frame
      this.sink.onItem?.(frame.value, this.path(), { line, column, doubled: this.takeDoubled() })
    } else this.attach(frame.value, frame.line, frame.column)
  }

  private root(value: JsonValue, cut: JsonFault | null): void {
    this.roots++
    if (this.lines >= 0) this.lines = this.rootLine === this.line ? this.lines + 1 : -1
    this.expect = 'root'
    const place = { line: this.rootLine, column: this.rootColumn, doubled: this.takeDoubled() }
    this.sink.onRoot(value, place, cut)
  }

  private takeDoubled(): readonly DoubledKey[] {
    const { doubled } = this
    if (doubled.length > 0) this.doubled = []
    return doubled
  }

  private path(): (string | number)[] {
    return this.frames.map((frame) => (frame.list ? frame.index : frame.key))
  }

  private scalar(bytes: Buffer, at: number, value: JsonValue): void {
    const top = this.frames.at(-1)
    const column = this.base + at - this.lineStart + 1
    if (top === undefined) {
      this.beginRoot(column)
      // A bare word is no result; a run of them is some other text.
      if (typeof value !== 'object') return this.fail(bytes, at, 'an object or a list', false)
      this.root(value, null)
      return
    }
    this.expect = 'commaOrEnd'
    if (top.value === null) return
    if (top.list && top.plan === null) {
      ;(top.value as JsonValue[]).push(value)
      return
    }
    const plan = this.planHere()
    if (plan?.skip === true) return
    if (plan?.emit === true) this.sink.onItem?.(value, this.path(), { line: this.line, column, doubled: [] })
    else this.attach(value, this.line, column)
  }

  private attach(value: JsonValue, line: number, column: number): void {
    const top = this.frames.at(-1) as Frame
    if (top.list) {
      ;(top.value as JsonValue[]).push(value)
      return
    }
    const holder = top.value as Record<string, JsonValue>
    const { key } = top
    if (Object.hasOwn(holder, key)) {
      const known = this.doubled.find((one) => one.holder === holder && one.key === key)
      if (known === undefined)
        this.doubled.push({ holder, key, values: [holder[key] as JsonValue, value], line, column })
      else this.doubled[this.doubled.indexOf(known)] = { ...known, values: [...known.values, value] }
    }
    if (key === '__proto__')
      Object.defineProperty(holder, key, { value, enumerable: true, configurable: true })
    else holder[key] = value
  }

  private faultAt(bytes: Buffer, at: number, expected: string, truncated: boolean): JsonFault {
    const column = Math.max(1, this.base + at - this.lineStart + 1)
    const received = truncated ? 'the end of the file' : nearby(bytes, at)
    const path = this.path().slice(0, this.expect.startsWith('key') ? -1 : undefined)
    return { line: this.line, column, expected, received, path: pathText(path), truncated }
  }

  private fail(bytes: Buffer, at: number, expected: string, truncated: boolean): void {
    this.give(this.faultAt(bytes, at, expected, truncated))
  }

  /** What could be read until here, where it is the first value; else only the fault. */
  private give(fault: JsonFault): void {
    const value = this.unfinished()
    const { truncated } = fault
    const sameLine = this.frames.length === 0 || this.rootLine === this.line
    this.frames.length = 0
    if (value !== null && this.roots === 0) this.root(value, fault)
    this.sink.onFault(fault)
    this.expect = 'lost'
    if (truncated || !sameLine) this.stopped = true
  }

  /** The open containers, each put into the one around it. Elements and emitted values that are not whole are left out. */
  private unfinished(): JsonValue | null {
    while (this.frames.length > 1) {
      const frame = this.frames.pop() as Frame
      if (frame.value !== null && frame.plan?.emit !== true && this.frames.at(-1)?.list === false)
        this.attach(frame.value, frame.line, frame.column)
    }
    return this.frames.at(-1)?.value ?? null
  }
}
