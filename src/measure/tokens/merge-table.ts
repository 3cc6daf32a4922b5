/**
 * The merges of a byte-pair encoding: pairs of token ids with their rank and what they become, in one open-addressing table of
 * integers (a `Map` keyed by pairs costs an allocation a look-up).
 */
export interface MergeTable {
  /** Slot of the pair, or −1. Its rank and merged id are `rank[slot]`, `merged[slot]`. */
  slotOf(left: number, right: number): number
  readonly rank: Int32Array
  readonly merged: Int32Array
}

/** `merges[r]` is `[left, right, merged]` of rank r; lower ranks merge first. */
export function mergeTable(merges: readonly (readonly [number, number, number])[]): MergeTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, merges.length * 2)))
  const mask = size - 1
  const lefts = new Int32Array(size).fill(-1)
  const rights = new Int32Array(size)
  const rank = new Int32Array(size)
  const merged = new Int32Array(size)
  const slotFor = (left: number, right: number): number => {
    // Fibonacci hashing of both ids.
    let slot = ((Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7) & mask
    while (lefts[slot] !== -1 && (lefts[slot] !== left || rights[slot] !== right)) slot = (slot + 1) & mask
    return slot
  }
  merges.forEach(([left, right, into], order) => {
    const slot = slotFor(left, right)
    if (lefts[slot] !== -1) return
    lefts[slot] = left
    rights[slot] = right
    rank[slot] = order
    merged[slot] = into
  })
  return {
    rank,
    merged,
    slotOf(left, right) {
      const slot = slotFor(left, right)
      return lefts[slot] === -1 ? -1 : slot
    },
  }
}

/**
 * Merges a piece's ids, always the pair of lowest rank and of those the leftmost (Sennrich et al., "Neural machine translation of
 * rare words with subword units", 2016), until none is left. `ids` is used up.
 */
export function mergePiece(ids: Int32Array, table: MergeTable): Int32Array {
  return ids.length <= shortPiece ? mergeShort(ids, table) : mergeLong(ids, table)
}

/** Up to here looking through all pairs for each merge is faster than keeping a heap. */
const shortPiece = 48
const noPair = 0x7fffffff

function mergeShort(ids: Int32Array, table: MergeTable): Int32Array {
  let length = ids.length
  const slots = new Int32Array(length)
  for (let i = 0; i + 1 < length; i++) slots[i] = table.slotOf(ids[i]!, ids[i + 1]!)
  for (;;) {
    let best = -1
    let bestRank = noPair
    for (let i = 0; i + 1 < length; i++) {
      const slot = slots[i]!
      if (slot >= 0 && table.rank[slot]! < bestRank) [best, bestRank] = [i, table.rank[slot]!]
    }
    if (best < 0) return ids.slice(0, length)
    ids[best] = table.merged[slots[best]!]!
    ids.copyWithin(best + 1, best + 2, length)
    slots.copyWithin(best + 1, best + 2, length)
    length--
    if (best > 0) slots[best - 1] = table.slotOf(ids[best - 1]!, ids[best]!)
    if (best + 1 < length) slots[best] = table.slotOf(ids[best]!, ids[best + 1]!)
  }
}

/** The same in n·log n: a linked list, and a heap of rank·2²⁶ + position whose stale entries are dropped when they come up. */
function mergeLong(ids: Int32Array, table: MergeTable): Int32Array {
  const length = ids.length
  const next = Int32Array.from({ length }, (_, i) => (i + 1 < length ? i + 1 : -1))
  const before = Int32Array.from({ length }, (_, i) => i - 1)
  const heap: number[] = []
  const offer = (at: number): void => {
    if (at < 0 || next[at]! < 0) return
    const slot = table.slotOf(ids[at]!, ids[next[at]!]!)
    if (slot >= 0) push(heap, table.rank[slot]! * position + at)
  }
  for (let at = 0; at + 1 < length; at++) offer(at)
  while (heap.length > 0) {
    const entry = pop(heap)
    const at = entry % position
    if (ids[at]! < 0 || next[at]! < 0) continue
    const slot = table.slotOf(ids[at]!, ids[next[at]!]!)
    if (slot < 0 || table.rank[slot] !== Math.floor(entry / position)) continue
    const gone = next[at]!
    ids[at] = table.merged[slot]!
    ids[gone] = -1
    next[at] = next[gone]!
    if (next[at]! >= 0) before[next[at]!] = at
    offer(before[at]!)
    offer(at)
  }
  return ids.filter((id) => id >= 0)
}

const position = 2 ** 26

function push(heap: number[], value: number): void {
  let at = heap.push(value) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (heap[parent]! <= value) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = value
}

function pop(heap: number[]): number {
  const top = heap[0]!
  const last = heap.pop()!
  if (heap.length === 0) return top
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
    if (heap[child]! >= last) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return top
}
