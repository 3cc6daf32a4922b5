/** No node, no block. */
const none = -1

/**
 * The KV blocks of one replica, as vLLM V1 keeps them: a queue of free blocks in the order of last use, and an index from the
 * hash of a full block to the blocks that hold it. A block whose last holder let go keeps its content until the queue's
 * head is taken: cached blocks count as free.
 *
 * A block's number has no meaning outside the GPU, so none is kept. Only blocks with a hash are *nodes* here; the others
 * are counted, and lie in the queue as runs. That makes requests that share nothing cost a few additions, with
 * the same order of eviction.
 */
export class BlockPool {
  /** Blocks that can be taken now, the cached ones with them. */
  free: number
  /** Blocks that exist, the null block not counted. */
  usable: number
  /** Grows whenever something was freed or became findable: while it stands still, who did not fit still does not. */
  improvements = 0

  private nodeCount = 0
  private unusedNode = none
  private head = none
  private tail = none
  /** Per node: neighbours in the free queue. */
  private previous = new Int32Array(16)
  private next = new Int32Array(16)
  /** Per node: holders of a hashed block; for a run, its blocks, as −count. */
  private holders = new Int32Array(16)
  private hashLow = new Int32Array(16)
  private hashHigh = new Int32Array(16)
  /** Per node: the next in its bucket. */
  private chained = new Int32Array(16)
  private buckets = new Int32Array(32).fill(none)
  private hashed = 0

  constructor(usable: number) {
    this.usable = usable
    this.free = 0
    this.appendRun(usable)
  }

  /** Takes `count` blocks from the queue's head; whatever they cached is forgotten. The caller has compared with `free`. */
  take(count: number): void {
    this.free -= count
    while (count > 0) {
      const node = this.head
      const state = this.holders[node] as number
      if (state < 0) {
        const run = -state
        if (run > count) {
          this.holders[node] = -(run - count)
          return
        }
        count -= run
      } else {
        this.forget(node)
        count -= 1
      }
      this.unlink(node)
      this.discard(node)
    }
  }

  /**
   * Lets go of a request's blocks in reverse order, so that its last are reused before its first: `plain` blocks without
   * a hash, which are always behind the `nodes` of its hashed ones.
   */
  release(nodes: readonly number[], plain: number): void {
    if (plain > 0) this.appendRun(plain)
    for (let i = nodes.length - 1; i >= 0; i--) {
      const node = nodes[i] as number
      const holders = (this.holders[node] as number) - 1
      this.holders[node] = holders
      if (holders === 0) {
        this.append(node)
        this.free += 1
      }
    }
    this.improvements += 1
  }

  /** The node that holds a block with this hash, or −1. Of several, the one that was registered first. */
  find(low: number, high: number): number {
    let node = this.buckets[this.bucket(low, high)] as number
    while (node !== none && (this.hashLow[node] !== low || this.hashHigh[node] !== high)) {
      node = this.chained[node] as number
    }
    return node
  }

  /** True for a cached block that nobody holds: to take it up again costs a free block. */
  isEvictable(node: number): boolean {
    return this.holders[node] === 0
  }

  /** Holds a found block, once more or again. */
  pin(node: number): void {
    if (this.holders[node] === 0) {
      this.unlink(node)
      this.free -= 1
    }
    this.holders[node] = (this.holders[node] as number) + 1
  }

  /** Gives a hash to a block that the caller holds; the node is its handle from now on. */
  register(low: number, high: number): number {
    const node = this.newNode()
    this.holders[node] = 1
    this.hashLow[node] = low
    this.hashHigh[node] = high
    this.chained[node] = none
    this.hashed += 1
    if (this.hashed * 2 > this.buckets.length) this.rehash()
    this.chain(node)
    this.improvements += 1
    return node
  }

  /** Takes `count` free blocks out of the pool for good (or until `grow`). */
  shrink(count: number): void {
    this.take(count)
    this.usable -= count
  }

  grow(count: number): void {
    this.usable += count
    this.appendRun(count)
    this.improvements += 1
  }

  private appendRun(count: number): void {
    if (count === 0) return
    this.free += count
    if (this.tail !== none && (this.holders[this.tail] as number) < 0) {
      this.holders[this.tail] = (this.holders[this.tail] as number) - count
      return
    }
    const node = this.newNode()
    this.holders[node] = -count
    this.append(node)
  }

  private append(node: number): void {
    this.previous[node] = this.tail
    this.next[node] = none
    if (this.tail === none) this.head = node
    else this.next[this.tail] = node
    this.tail = node
  }

  private unlink(node: number): void {
    const before = this.previous[node] as number
    const after = this.next[node] as number
    if (before === none) this.head = after
    else this.next[before] = after
    if (after === none) this.tail = before
    else this.previous[after] = before
  }

  private forget(node: number): void {
    const bucket = this.bucket(this.hashLow[node] as number, this.hashHigh[node] as number)
    const follower = this.chained[node] as number
    let at = this.buckets[bucket] as number
    if (at === node) this.buckets[bucket] = follower
    else {
      while (this.chained[at] !== node) at = this.chained[at] as number
      this.chained[at] = follower
    }
    this.hashed -= 1
  }

  /** At the end of its bucket, so that of equal hashes the oldest is found. */
  private chain(node: number): void {
    const bucket = this.bucket(this.hashLow[node] as number, this.hashHigh[node] as number)
    let at = this.buckets[bucket] as number
    if (at === none) {
      this.buckets[bucket] = node
      return
    }
    while (this.chained[at] !== none) at = this.chained[at] as number
    this.chained[at] = node
  }

  private bucket(low: number, high: number): number {
    return (low ^ (high >>> 7)) & (this.buckets.length - 1)
  }

  /** Doubles the buckets; chains are walked in order, so equal hashes keep theirs. */
  private rehash(): void {
    const old = this.buckets
    this.buckets = new Int32Array(old.length * 2).fill(none)
    for (const first of old) {
      let node = first
      while (node !== none) {
        const follower = this.chained[node] as number
        this.chained[node] = none
        this.chain(node)
        node = follower
      }
    }
  }

  private newNode(): number {
    if (this.unusedNode !== none) {
      const node = this.unusedNode
      this.unusedNode = this.next[node] as number
      return node
    }
    if (this.nodeCount === this.next.length) {
      this.previous = doubled(this.previous)
      this.next = doubled(this.next)
      this.holders = doubled(this.holders)
      this.hashLow = doubled(this.hashLow)
      this.hashHigh = doubled(this.hashHigh)
      this.chained = doubled(this.chained)
    }
    return this.nodeCount++
  }

  private discard(node: number): void {
    this.next[node] = this.unusedNode
    this.unusedNode = node
  }
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}
