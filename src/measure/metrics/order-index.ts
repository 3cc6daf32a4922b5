import type { ValueSource } from '../../stats/value-source.ts'

/** Order statistics of many values without sorting them. */
export interface OrderIndex {
  readonly length: number
  /** The values at these 1-based ranks, in the order asked. */
  at(ranks: readonly number[]): number[]
}

/** How many of a value's 64 bits are looked at, step by step, until few enough values have the same. */
const depths = [20, 32, 48] as const
const bits = depths[0]
const smallEnoughToSort = 1 << 16
/** Values of one beginning that are collected, 1 MB. More of them are counted by further bits first. */
const fewEnoughToCollect = 1 << 17

/** All values whose order-preserving image begins with the same bits. */
interface Cell {
  readonly depth: number
  readonly prefix: number
  readonly count: number
  /** Values that are smaller than all of these. */
  readonly below: number
}

/**
 * An index over `values` (finite; not changed). Small sets are sorted. Large ones are counted by the first 20 bits of an
 * order-preserving image of their IEEE 754 form (bins of under 0.4 % width); a rank's bin is then found by counts, and the value
 * selected among its few. Where a bin holds many, as of a hundred million close values, its values are counted by their next bits in a
 * pass of its own. Exact, and some ten times faster than sorting twenty million gaps; memory is that of the counts and of the
 * bins that are asked for, however many the values.
 */
export function createOrderIndex(values: ValueSource): OrderIndex {
  const n = values.length
  if (n <= smallEnoughToSort) {
    const sorted = new Float64Array(n)
    let filled = 0
    values.each((piece) => {
      sorted.set(piece, filled)
      filled += piece.length
    })
    sorted.sort()
    return { length: n, at: (ranks) => ranks.map((rank) => sorted[clamp(rank, n) - 1] ?? Number.NaN) }
  }
  const counts = new Uint32Array(1 << bits)
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  values.each((piece) => {
    const [low, high] = countBins(piece, counts)
    least = Math.min(least, low)
    most = Math.max(most, high)
  })
  /** How many values of a cell have each of the next bits. */
  const parts = new Map<string, Uint32Array>()
  const collected = new Map<string, Float64Array>()
  const lowest = counts.findIndex((count) => count > 0)
  const highest = counts.findLastIndex((count) => count > 0)
  // How many values lie in a bin or below it.
  const upTo = new Float64Array(1 << bits)
  for (let bin = 0, total = 0; bin < upTo.length; bin++) upTo[bin] = total += counts[bin] as number

  /** The bin of a rank. */
  function locate(rank: number): number {
    let [low, high] = [lowest, highest]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((upTo[middle] as number) >= rank) high = middle
      else low = middle + 1
    }
    return low
  }

  function cellOf(bin: number): Cell {
    const count = counts[bin] as number
    return { depth: 0, prefix: bin, count, below: (upTo[bin] as number) - count }
  }

  /**
   * Collects all these bins in one pass, with them their neighbours (the ends of an interval are asked for next, and lie in the same
   * bin or beside it).
   */
  function collectBins(bins: readonly number[]): void {
    const missing = bins.filter((bin) => isFew(counts[bin] ?? 0) && !collected.has(keyOf(cellOf(bin))))
    if (missing.length === 0) return
    const near = new Set(missing.flatMap((bin) => [bin - 1, bin, bin + 1]))
    collect([...near].filter((bin) => isFew(counts[bin] ?? 0)).map(cellOf))
  }

  /** Collects these cells in one pass, as far as they are not there yet. */
  function collect(cells: readonly Cell[]): void {
    const taken = new Map<string, { readonly cell: Cell; readonly part: Float64Array; filled: number }>()
    for (const cell of cells) {
      const key = keyOf(cell)
      if (!collected.has(key)) taken.set(key, { cell, part: new Float64Array(cell.count), filled: 0 })
    }
    if (taken.size === 0) return
    visitCells(
      values,
      [...taken.values()].map((one) => ({
        ...pick(one.cell),
        take: (value) => void (one.part[one.filled++] = value),
      })),
    )
    for (const [key, { part }] of taken) collected.set(key, part)
  }

  /** The part of a cell that holds a rank, by the bits after those that its values share. */
  function narrowed(cells: readonly { readonly cell: Cell; readonly rank: number }[]): readonly Cell[] {
    const takers: Taker[] = []
    for (const { cell } of cells) {
      const key = keyOf(cell)
      if (parts.has(key)) continue
      const depth = cell.depth + 1
      const of = new Uint32Array(2 ** ((depths[depth] ?? 0) - (depths[cell.depth] ?? 0)))
      parts.set(key, of)
      const first = cell.prefix * of.length
      takers.push({
        ...pick(cell),
        take: (_value, high, low) => void of[prefixOf(high, low, depth) - first]!++,
      })
    }
    if (takers.length > 0) visitCells(values, takers)
    return cells.map(({ cell, rank }) => {
      const of = parts.get(keyOf(cell)) ?? new Uint32Array(1)
      let below = cell.below
      let part = 0
      while (part < of.length - 1 && below + (of[part] as number) < rank) below += of[part++] as number
      return {
        depth: cell.depth + 1,
        prefix: cell.prefix * of.length + part,
        count: of[part] as number,
        below,
      }
    })
  }

  return {
    length: n,
    at(ranks) {
      // The outermost are known already; among the others they need no cell.
      const inner = ranks.map((rank) => clamp(rank, n)).filter((rank) => rank > 1 && rank < n)
      const found = new Map(valuesAt([...new Set(inner)]))
      return ranks.map((rank) => (rank <= 1 ? least : rank >= n ? most : (found.get(rank) ?? Number.NaN)))
    },
  }

  /** The values at different ranks. */
  function valuesAt(asked: readonly number[]): (readonly [rank: number, value: number])[] {
    const bins = asked.map(locate)
    for (let start = 0; start < bins.length; start += 1000) collectBins(bins.slice(start, start + 1000))
    let cells: readonly Cell[] = bins.map(cellOf)
    for (;;) {
      const large = cells.flatMap((cell, at) =>
        isFew(cell.count) || cell.depth === depths.length - 1 ? [] : [{ cell, at, rank: asked[at] ?? 1 }],
      )
      if (large.length === 0) break
      const smaller = narrowed(large)
      const next = [...cells]
      for (const [index, { at }] of large.entries()) next[at] = smaller[index] as Cell
      cells = next
    }
    collect(cells)
    return cells.map((cell, at) => {
      const part = collected.get(keyOf(cell))
      const rank = asked[at] ?? 1
      return [rank, part === undefined ? Number.NaN : select(part, rank - cell.below - 1)]
    })
  }
}

/** Counts the values by their bins; gives the least and the largest. (A function of its own, whose variables are no closure's.) */
function countBins(values: Float64Array, counts: Uint32Array): readonly [least: number, most: number] {
  const words = wordsOf(values)
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (value < least) least = value
    if (value > most) most = value
    counts[binOf(words[index * 2 + 1] as number)]!++
  }
  return [least, most]
}

function isFew(count: number): boolean {
  return count > 0 && count <= fewEnoughToCollect
}

function keyOf({ depth, prefix }: Cell): string {
  return `${depth} ${prefix}`
}

/** A cell that is looked for, with the bin that it lies in. */
interface Picked {
  readonly depth: number
  readonly prefix: number
  readonly bin: number
}

function pick({ depth, prefix }: Cell): Picked {
  return { depth, prefix, bin: Math.floor(prefix / 2 ** ((depths[depth] ?? bits) - bits)) }
}

type Taker = Picked & { readonly take: (value: number, highWord: number, lowWord: number) => void }

/** Hands every value over to the cell that it lies in, where that is one of these; cells do not overlap. */
function visitCells(values: ValueSource, takers: readonly Taker[]): void {
  const slots = new Int32Array(1 << bits).fill(-1)
  const byBin: Taker[][] = []
  for (const taker of takers) {
    const slot = slots[taker.bin] as number
    if (slot >= 0) byBin[slot]?.push(taker)
    else slots[taker.bin] = byBin.push([taker]) - 1
  }
  values.each((piece) => visitPiece(piece, slots, byBin))
}

function visitPiece(piece: Float64Array, slots: Int32Array, byBin: readonly (readonly Taker[])[]): void {
  const words = wordsOf(piece)
  for (let index = 0; index < piece.length; index++) {
    const high = words[index * 2 + 1] as number
    const slot = slots[binOf(high)] as number
    if (slot < 0) continue
    const low = words[index * 2] as number
    for (const taker of byBin[slot] as readonly Taker[]) {
      if (taker.depth > 0 && prefixOf(high, low, taker.depth) !== taker.prefix) continue
      taker.take(piece[index] as number, high, low)
      break
    }
  }
}

/** The words of 32 bits of these values, the lower one of a value first (as every machine of today has them). */
function wordsOf(values: Float64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2)
}

/**
 * The value at a 0-based place of the sorted order, by partitions around middle values (Hoare, "Algorithm 65: Find", 1961). `values`
 * (no NaN) are put in another order.
 */
function select(values: Float64Array, place: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number
    let left = low
    let right = high
    while (left <= right) {
      while ((values[left] as number) < pivot) left++
      while ((values[right] as number) > pivot) right--
      if (left > right) break
      const kept = values[left] as number
      values[left++] = values[right] as number
      values[right--] = kept
    }
    if (place <= right) high = right
    else if (place >= left) low = left
    else break
  }
  return values[place] as number
}

/** The first 20 bits of a number whose unsigned order is that of the doubles: sign flipped, all bits of negatives inverted. */
function binOf(highWord: number): number {
  return (highWord < 0 ? ~highWord : highWord ^ -0x80000000) >>> (32 - bits)
}

/** The first bits of the same number, as many as `depths` has at this depth, as a whole number. */
function prefixOf(highWord: number, lowWord: number, depth: number): number {
  if (depth === 0) return binOf(highWord)
  const high = (highWord < 0 ? ~highWord : highWord ^ -0x80000000) >>> 0
  if (depth === 1) return high
  const low = (highWord < 0 ? ~lowWord : lowWord) >>> 0
  return high * 2 ** 16 + (low >>> 16)
}

function clamp(rank: number, n: number): number {
  return Math.min(n, Math.max(1, rank))
}
