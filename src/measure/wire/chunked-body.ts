/** Takes the spans of body bytes that a framing decoder finds. */
export type SpanSink = (bytes: Uint8Array, start: number, end: number) => void

const Size = 0
const Extension = 1
const Data = 2
const DataEnd = 3
const Trailer = 4
const Done = 5

const LF = 10
const CR = 13
/** Bytes that chunk extensions, and the trailer section, may have. */
const maxOverhead = 16_384

/**
 * Decodes the chunked transfer coding (RFC 9112 §7.1), fed in any pieces. Bare LF is taken for CRLF and blanks around a size are
 * allowed, as other clients do; anything else that is not the coding sets `problem`.
 */
export class ChunkedBody {
  /** What was wrong, or null. */
  problem: string | null = null
  #state = Size
  #remaining = 0
  #digits = 0
  #overhead = 0
  /** In the trailer: bytes in the current line. */
  #lineBytes = 0

  get done(): boolean {
    return this.#state === Done
  }

  /** Decodes `bytes[start, end)` and returns where it stopped: `end`, unless the body is done or broken before. */
  push(bytes: Uint8Array, start: number, end: number, sink: SpanSink): number {
    let i = start
    while (i < end) {
      switch (this.#state) {
        case Size: {
          const byte = bytes[i]!
          const digit = hexDigit(byte)
          if (digit >= 0) {
            if (this.#digits >= 13) return this.#fail('a chunk size is too large', i)
            this.#remaining = this.#remaining * 16 + digit
            this.#digits++
            i++
          } else if (this.#digits === 0) {
            return this.#fail('a chunk size is not a hexadecimal number', i)
          } else if (byte === LF) {
            i++
            this.#sizeEnds()
          } else if (byte === CR || byte === 0x20 || byte === 0x09 || byte === 0x3b) {
            i++
            this.#state = Extension
          } else {
            return this.#fail('a chunk size is not a hexadecimal number', i)
          }
          break
        }
        case Extension:
          // Runs to the line's end, quoted strings included: a line feed cannot be in one.
          while (i < end && bytes[i] !== LF) {
            i++
            if (++this.#overhead > maxOverhead) return this.#fail('a chunk extension is too long', i)
          }
          if (i < end) {
            i++
            this.#sizeEnds()
          }
          break
        case Data: {
          const stop = Math.min(end, i + this.#remaining)
          this.#remaining -= stop - i
          if (this.#remaining === 0) this.#state = DataEnd
          sink(bytes, i, stop)
          i = stop
          break
        }
        case DataEnd: {
          const byte = bytes[i]!
          if (byte === LF) {
            this.#state = Size
            this.#digits = 0
          } else if (byte !== CR) {
            return this.#fail('a chunk does not end where its size says', i)
          }
          i++
          break
        }
        case Trailer: {
          const byte = bytes[i]!
          i++
          if (byte === LF) {
            if (this.#lineBytes === 0) this.#state = Done
            this.#lineBytes = 0
          } else if (byte !== CR) {
            this.#lineBytes++
            if (++this.#overhead > maxOverhead) return this.#fail('the trailer section is too long', i)
          }
          break
        }
        default:
          return i
      }
    }
    return i
  }

  #sizeEnds(): void {
    this.#state = this.#remaining === 0 ? Trailer : Data
    this.#overhead = 0
  }

  #fail(problem: string, at: number): number {
    this.problem = problem
    return at
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
