import { openScratch, type ScratchFile } from './scratch-file.ts'

/** Lists of numbers, more of them than memory should hold: some blocks of them are at hand, the others lie in a file. */
export interface NumberLists {
  readonly length: number
  push(list: ArrayLike<number> | null): void
  /** The list, made anew each time another one is asked for. */
  at(index: number): readonly number[] | null
  /** Its numbers, to be read at once: they are others when the next list is asked for. */
  passing(index: number): ArrayLike<number> | null
}

export interface NumberListsOptions {
  /**
   * The folder in which the file is made, once it is needed: it is gone with the process, however that ends. Null: everything is
   * held.
   */
  readonly folder: string | null
  /** Numbers that are held, 8 MB unless given. */
  readonly held?: number
}

const heldNumbers = 1 << 20
/** Numbers that are written and read at once, 128 kB: a list that lies elsewhere costs little more than its own. */
const blockNumbers = 1 << 14

/** The length of a list that is not there. */
const none = -1

export function numberLists({ folder, held = heldNumbers }: NumberListsOptions): NumberLists {
  const most = folder === null ? Number.POSITIVE_INFINITY : Math.max(2, Math.floor(held / blockNumbers))
  const starts = growingNumbers()
  const lengths = growingNumbers()
  /** By number, the one that was read or filled first in front. */
  const blocks = new Map<number, Float64Array>()
  let current = new Float64Array(blockNumbers)
  let total = 0
  let file: ScratchFile | null = null
  let filed = 0
  let last: { readonly index: number; readonly list: readonly number[] } | null = null
  let joined = new Float64Array(0)
  /** The block that the next read goes into. */
  let spare = new Float64Array(0)

  /** Keeps a block, in place of the oldest one where there are too many. Gives an empty one. */
  function keep(number: number, block: Float64Array): Float64Array<ArrayBuffer> {
    let free: Float64Array | undefined
    if (blocks.size >= most) {
      const [oldest, old] = blocks.entries().next().value as [number, Float64Array]
      // Blocks are filled and pushed out in the same order, so that the file has them in theirs.
      if (oldest === filed) {
        file ??= openScratch(folder ?? '.')
        file.write(old, filed * blockNumbers)
        filed++
      }
      blocks.delete(oldest)
      free = old
    }
    blocks.set(number, block)
    return (free as Float64Array<ArrayBuffer> | undefined) ?? new Float64Array(blockNumbers)
  }

  function blockAt(number: number): Float64Array {
    if (number === Math.floor(total / blockNumbers)) return current
    const known = blocks.get(number)
    if (known !== undefined) return known
    const block = spare
    file?.read(block, number * blockNumbers)
    spare = keep(number, block)
    return block
  }

  function add(values: ArrayLike<number>): void {
    let at = 0
    while (at < values.length) {
      const from = total % blockNumbers
      const count = Math.min(values.length - at, blockNumbers - from)
      for (let index = 0; index < count; index++) current[from + index] = values[at + index] as number
      at += count
      total += count
      if (total % blockNumbers === 0) current = keep(total / blockNumbers - 1, current)
    }
  }

  function passing(index: number): Float64Array | null {
    const length = index < starts.length ? lengths.at(index) : none
    if (length === none) return null
    if (spare.length === 0) spare = new Float64Array(blockNumbers)
    const start = starts.at(index)
    const from = start % blockNumbers
    if (from + length <= blockNumbers)
      return blockAt(Math.floor(start / blockNumbers)).subarray(from, from + length)
    if (joined.length < length) joined = new Float64Array(length * 2)
    for (let at = 0; at < length;) {
      const begin = (start + at) % blockNumbers
      const count = Math.min(length - at, blockNumbers - begin)
      joined.set(blockAt(Math.floor((start + at) / blockNumbers)).subarray(begin, begin + count), at)
      at += count
    }
    return joined.subarray(0, length)
  }

  return {
    get length() {
      return starts.length
    },
    push(list) {
      starts.push(total)
      lengths.push(list === null ? none : list.length)
      if (list !== null) add(list)
    },
    at(index) {
      if (last?.index === index) return last.list
      const numbers = passing(index)
      if (numbers === null) return null
      // Of the right size from the start: growing by pushes doubles the time and the garbage.
      // oxlint-disable-next-line unicorn/no-new-array
      const list = new Array<number>(numbers.length)
      for (let at = 0; at < list.length; at++) list[at] = numbers[at] as number
      last = { index, list }
      return list
    },
    passing,
  }
}

/** Numbers that only grow in number: pieces of 64 k, so that they are never there twice. */
function growingNumbers(): { readonly length: number; push(value: number): void; at(index: number): number } {
  const pieces: Float64Array[] = []
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      if ((length & 0xffff) === 0) pieces.push(new Float64Array(0x10000))
      ;(pieces[length >>> 16] as Float64Array)[length++ & 0xffff] = value
    },
    at: (index) => (pieces[index >>> 16] as Float64Array)[index & 0xffff] as number,
  }
}
