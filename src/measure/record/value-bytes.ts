import type { ParquetType } from 'hyparquet'

/** Values one after the other in the format's plain encoding, in memory that is used again and again. */
export interface ValueBytes {
  readonly length: number
  clear(): void
  put(type: ParquetType, value: unknown): void
  /** The bytes as they are now, to be read at once. */
  bytes(): Uint8Array
}

export function valueBytes(): ValueBytes {
  let buffer = Buffer.alloc(1 << 16)
  let length = 0
  /** Bits of the byte before `length` that are taken by yes and no. */
  let bits = 0

  function ensure(more: number): void {
    if (length + more <= buffer.length) return
    const larger = Buffer.alloc(Math.max(buffer.length * 2, length + more))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  return {
    get length() {
      return length
    },
    clear() {
      length = 0
      bits = 0
    },
    put(type, value) {
      if (type === 'DOUBLE') {
        ensure(8)
        length = buffer.writeDoubleLE(value as number, length)
      } else if (type === 'INT32') {
        ensure(4)
        length = buffer.writeInt32LE(value as number, length)
      } else if (type === 'BOOLEAN') {
        if (bits === 0) {
          ensure(1)
          buffer[length++] = 0
        }
        if (value === true) buffer[length - 1] = (buffer[length - 1] as number) | (1 << bits)
        bits = (bits + 1) % 8
      } else {
        const text = value as string
        // A letter takes three bytes at most, and a pair of them four.
        ensure(4 + text.length * 3)
        const taken = buffer.write(text, length + 4, 'utf8')
        buffer.writeUInt32LE(taken, length)
        length += 4 + taken
      }
    },
    bytes: () => buffer.subarray(0, length),
  }
}
