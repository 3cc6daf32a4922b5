import type { AnswerReader } from './answer-reader.ts'
import { ChunkFacts, type ErrorFacts, pieceText, utf8 } from './chunk-facts.ts'
import { parseChunk, parseWholeAnswer } from './chunk-parse.ts'
import { scanChunk, scanChunkAt } from './chunk-scan.ts'
import { errorFacts, errorFactsOfText } from './error-facts.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { parseFields, type JsonFields } from './json-fields.ts'
import { equals, type SseEventName, type SseHandler, SseScanner } from './sse-scanner.ts'

export interface ObserverOptions {
  readonly keepText: boolean
  /** Largest event, or body that is not a stream, in bytes. */
  readonly maxEventBytes: number
  /** Of another API than chat and completions. */
  readonly reader?: AnswerReader | null
}

/** How the body is read: by its first byte, since content types lie. `refusal`: an HTTP error's body. */
export type BodyMode = 'undecided' | 'stream' | 'whole' | 'refusal'

/** An HTTP error's body is read to this length, for its message. */
const maxRefusalBytes = 65_536
const doneMarker = Buffer.from('[DONE]')

/**
 * Watches one response body and keeps what the row needs: a stamp for each output event, counts, the last usage, how it ended.
 * Text is kept only if asked for. All its fields are for `responseFields`.
 */
export class ResponseObserver implements SseHandler {
  mode: BodyMode = 'undecided'
  /** Arrival of each output event. */
  readonly stamps: number[] = []
  /** Running total of tokens at each output event; null as soon as one does not tell it. */
  totals: number[] | null = []
  firstContentAtMs: number | null = null
  firstByteAtMs: number | null = null
  /** Arrival of the last body bytes; of the head, where it said that the body is an error's. */
  lastByteAtMs = 0
  /** Arrival of `[DONE]`. */
  endMarkerAtMs: number | null = null
  finishReason: string | null = null
  error: ErrorFacts | null = null
  promptTokens: number | null = null
  completionTokens: number | null = null
  cachedTokens: number | null = null
  reasoningTokens: number | null = null
  chunks = 0
  comments = 0
  ignored = 0
  /** The body ended in the middle of an event. */
  cutEvent = false
  /** The body begins as a web page does: whoever answers is no inference server. */
  isPage = false
  /** The whole answer held output; only in mode `whole`. */
  wholeHasOutput = false
  text = ''
  reasoningText = ''
  toolArguments = ''
  readonly #options: ObserverOptions
  readonly #facts = sharedFacts
  readonly #reader: AnswerReader | null
  readonly #scanner: SseScanner
  #body: GrowingBytes | null = null

  constructor(options: ObserverOptions) {
    this.#options = options
    this.#reader = options.reader ?? null
    this.#scanner = new SseScanner(this, options.maxEventBytes)
  }

  /** Nothing more can come but usage, the end marker, an HTTP error's body or the close. */
  get settling(): boolean {
    return this.finishReason !== null || this.error !== null || this.mode === 'refusal'
  }

  /** Bytes that are kept for later: the cut event, or the body that is no stream. */
  get heldBytes(): number {
    return this.#scanner.heldBytes + (this.#body?.length ?? 0)
  }

  /** An HTTP failure: the body is its message. */
  expectRefusal(atMs: number): void {
    this.mode = 'refusal'
    this.lastByteAtMs = atMs
  }

  /** Reads body bytes. False: an event or body is larger than allowed. */
  onBody(bytes: Uint8Array, start: number, end: number, atMs: number): boolean {
    this.firstByteAtMs ??= atMs
    this.lastByteAtMs = atMs
    let from = start
    if (this.mode === 'undecided') {
      while (from < end && isPreamble(bytes[from]!)) from++
      if (from === end) return true
      this.isPage = bytes[from] === 0x3c
      this.mode = bytes[from] === 0x7b || bytes[from] === 0x5b ? 'whole' : 'stream'
    }
    if (this.mode === 'stream') return this.#scanner.push(bytes, from, end, atMs)
    const body = (this.#body ??= new GrowingBytes(1024))
    if (this.mode === 'refusal') {
      const room = Math.max(0, maxRefusalBytes - body.length)
      body.append(bytes, from, Math.min(end, from + room))
      return true
    }
    body.append(bytes, from, end)
    return body.length <= this.#options.maxEventBytes
  }

  /** The body is over, cleanly or not. `clean`: what was cut off may be taken as it is. */
  close(clean: boolean, atMs: number): void {
    if (this.mode === 'stream' && this.endMarkerAtMs === null) {
      this.cutEvent = this.#scanner.pending
      if (clean) this.#closeStream(atMs)
    } else if (this.mode === 'refusal') {
      this.error = errorFactsOfText(this.#bodyText())
    } else if (this.mode === 'whole') {
      this.#closeWhole()
    }
  }

  tryEvent(bytes: Uint8Array, start: number, end: number, atMs: number): number {
    if (this.#reader !== null) return -1
    const after = scanChunkAt(bytes, start, end, this.#facts)
    if (after === -1 || after + 1 >= end || bytes[after] !== 0x0a || bytes[after + 1] !== 0x0a) return -1
    if (this.endMarkerAtMs === null) this.#onFacts(bytes, atMs)
    return after + 2
  }

  onComment(): void {
    if (this.endMarkerAtMs === null) this.comments++
  }

  onErrorField(bytes: Uint8Array, start: number, end: number): void {
    if (this.endMarkerAtMs !== null) return
    this.error ??= errorFactsOfText(utf8(bytes, start, end)) ?? noDetails
  }

  onEvent(bytes: Uint8Array, start: number, end: number, name: SseEventName, atMs: number): void {
    if (this.endMarkerAtMs !== null) return
    const facts = this.#facts
    if (name === 'error') return this.#onErrorEvent(utf8(bytes, start, end))
    if (this.#reader !== null) return this.#onForeignEvent(this.#reader, bytes, start, end, atMs)
    if (!scanChunk(bytes, start, end, facts) && !parseChunk(utf8(bytes, start, end), facts)) {
      if (isDone(bytes, start, end)) this.endMarkerAtMs = atMs
      else this.ignored++
      return
    }
    if (name === 'foreign' && !facts.hasOutput && facts.finishReason === null && facts.error === null) {
      this.ignored++
      return
    }
    this.#onFacts(bytes, atMs)
  }

  /** An event of another API, whose names are its own. */
  #onForeignEvent(reader: AnswerReader, bytes: Uint8Array, start: number, end: number, atMs: number): void {
    this.#facts.clear()
    const value = parseFields(utf8(bytes, start, end))
    const read = value === null ? 'ignored' : reader.event(value, this.#facts)
    if (read === 'ignored') {
      if (isDone(bytes, start, end)) this.endMarkerAtMs = atMs
      else this.ignored++
      return
    }
    this.#onFacts(bytes, atMs)
    if (read === 'last') this.endMarkerAtMs = atMs
  }

  /** Takes what `#facts` says of an event. */
  #onFacts(bytes: Uint8Array, atMs: number): void {
    const facts = this.#facts
    this.chunks++
    if (facts.error !== null) this.error ??= facts.error
    this.#readUsage(facts)
    if (facts.hasOutput) {
      this.stamps.push(atMs)
      if (facts.completionTokens === -1) this.totals = null
      else this.totals?.push(facts.completionTokens)
      if (facts.hasContent) this.firstContentAtMs ??= atMs
      if (this.#options.keepText) this.#keepText(facts, bytes)
    }
    if (facts.finishReason !== null) this.finishReason = facts.finishReason
  }

  #onErrorEvent(text: string): void {
    this.error ??= errorFactsOfText(text) ?? noDetails
    if (text.trimStart().startsWith('{')) this.chunks++
    else this.ignored++
  }

  #readUsage(facts: ChunkFacts): void {
    if (facts.completionTokens !== -1) this.completionTokens = facts.completionTokens
    if (facts.promptTokens !== -1) this.promptTokens = facts.promptTokens
    if (facts.cachedTokens !== -1) this.cachedTokens = facts.cachedTokens
    if (facts.reasoningTokens !== -1) this.reasoningTokens = facts.reasoningTokens
  }

  #keepText(facts: ChunkFacts, bytes: Uint8Array): void {
    this.text += pieceText(facts.content, bytes)
    this.reasoningText += pieceText(facts.reasoning, bytes)
    this.toolArguments += pieceText(facts.toolArguments, bytes)
  }

  /** An unterminated last event counts if it is whole; half of one is no event at all. */
  #closeStream(atMs: number): void {
    const ignored = this.ignored
    this.#scanner.finish(atMs)
    if (this.ignored > ignored) this.ignored = ignored
    else this.cutEvent = false
  }

  #closeWhole(): void {
    const facts = new ChunkFacts()
    if (!this.#parseWhole(facts)) {
      this.cutEvent = true
      return
    }
    this.error = facts.error
    this.finishReason = facts.finishReason
    this.wholeHasOutput = facts.hasOutput
    this.#readUsage(facts)
    if (this.#options.keepText) this.#keepText(facts, noBytes)
  }

  #parseWhole(facts: ChunkFacts): boolean {
    if (this.#reader === null) return parseWholeAnswer(this.#bodyText(), facts)
    const value = parseWholeFields(this.#bodyText())
    if (value === null) return false
    facts.error = errorFacts(value)
    if (facts.error === null) this.#reader.whole(value, facts)
    return true
  }

  #bodyText(): string {
    return this.#body === null ? '' : this.#body.bytes.toString('utf8', 0, this.#body.length)
  }
}

/** One exchange at a time reads an event, and nothing of it is kept: they share the place where it is put. */
const sharedFacts = new ChunkFacts()
const noBytes = new Uint8Array(0)
const noDetails: ErrorFacts = { code: null, type: null, message: null }

/** TGI's root answers with a list of one. */
function parseWholeFields(text: string): JsonFields | null {
  return parseFields(text.trimStart().startsWith('[') ? text.trim().slice(1, -1) : text)
}

/** Blanks, and the bytes of a byte-order mark. */
function isPreamble(byte: number): boolean {
  return (
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x20 ||
    byte === 0x09 ||
    byte === 0xef ||
    byte === 0xbb ||
    byte === 0xbf
  )
}

function isDone(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start
  let to = end
  while (from < to && bytes[from]! <= 0x20) from++
  while (to > from && bytes[to - 1]! <= 0x20) to--
  return equals(bytes, from, to, doneMarker)
}
