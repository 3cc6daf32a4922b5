/** Bytes that are put together from pieces: a buffer that doubles, kept for reuse until it has grown large. */
export class GrowingBytes {
  bytes: Buffer
  length = 0
  readonly #initialBytes: number

  constructor(initialBytes: number) {
    this.#initialBytes = initialBytes
    this.bytes = empty
  }

  append(piece: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start
    if (needed > this.bytes.length) {
      let size = Math.max(this.bytes.length * 2, this.#initialBytes)
      while (size < needed) size *= 2
      const grown = Buffer.allocUnsafe(size)
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    this.bytes.set(piece.subarray(start, end), this.length)
    this.length = needed
  }

  appendByte(byte: number): void {
    if (this.length === this.bytes.length) this.append(oneByte, 0, 1)
    else this.length++
    this.bytes[this.length - 1] = byte
  }

  clear(): void {
    this.length = 0
    if (this.bytes.length > 262_144) this.bytes = empty
  }
}

const empty = Buffer.alloc(0)
const oneByte = Buffer.alloc(1)
