/** No node, no block. */
const none = -1
/** A node is the index of its first word. Its words: */
const stride = 8
/** Neighbours in the free queue; `next` also links the unused nodes. */
const previous = 0
const next = 1
/** Holders of a hashed block; for a run, its blocks, as −count. */
const holders = 2
const hashLow = 3
const hashHigh = 4
/** The next in its bucket. */
const chained = 5

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
  /** Eight words a node (six used), so that a node is one line of the processor's cache. */
  private words = new Int32Array(16 * stride)
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
      const state = this.words[node + holders] as number
      if (state < 0) {
        const run = -state
        if (run > count) {
          this.words[node + holders] = -(run - count)
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
      const left = (this.words[node + holders] as number) - 1
      this.words[node + holders] = left
      if (left === 0) {
        this.append(node)
        this.free += 1
      }
    }
    this.improvements += 1
  }

  /** The node that holds a block with this hash, or −1. Of several, the one that was registered first. */
  find(low: number, high: number): number {
    const { words } = this
    let found = none
    let node = this.buckets[this.bucket(low, high)] as number
    while (node !== none) {
      if (words[node + hashLow] === low && words[node + hashHigh] === high) found = node
      node = words[node + chained] as number
    }
    return found
  }

  /** True for a cached block that nobody holds: to take it up again costs a free block. */
  isEvictable(node: number): boolean {
    return this.words[node + holders] === 0
  }

  /** Holds a found block, once more or again. */
  pin(node: number): void {
    if (this.words[node + holders] === 0) {
      this.unlink(node)
      this.free -= 1
    }
    this.words[node + holders] = (this.words[node + holders] as number) + 1
  }

  /** Gives a hash to a block that the caller holds; the node is its handle from now on. */
  register(low: number, high: number): number {
    const node = this.newNode()
    this.words[node + holders] = 1
    this.words[node + hashLow] = low
    this.words[node + hashHigh] = high
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
    if (this.tail !== none && (this.words[this.tail + holders] as number) < 0) {
      this.words[this.tail + holders] = (this.words[this.tail + holders] as number) - count
      return
    }
    const node = this.newNode()
    this.words[node + holders] = -count
    this.append(node)
  }

  private append(node: number): void {
    this.words[node + previous] = this.tail
    this.words[node + next] = none
    if (this.tail === none) this.head = node
    else this.words[this.tail + next] = node
    this.tail = node
  }

  private unlink(node: number): void {
    const before = this.words[node + previous] as number
    const after = this.words[node + next] as number
    if (before === none) this.head = after
    else this.words[before + next] = after
    if (after === none) this.tail = before
    else this.words[after + previous] = before
  }

  private forget(node: number): void {
    const bucket = this.bucket(this.words[node + hashLow] as number, this.words[node + hashHigh] as number)
    const follower = this.words[node + chained] as number
    let at = this.buckets[bucket] as number
    if (at === node) this.buckets[bucket] = follower
    else {
      while (this.words[at + chained] !== node) at = this.words[at + chained] as number
      this.words[at + chained] = follower
    }
    this.hashed -= 1
  }

  /** At the head of its bucket, where no other node need be read; the oldest of equal hashes comes last. */
  private chain(node: number): void {
    const bucket = this.bucket(this.words[node + hashLow] as number, this.words[node + hashHigh] as number)
    this.words[node + chained] = this.buckets[bucket] as number
    this.buckets[bucket] = node
  }

  private bucket(low: number, high: number): number {
    return (low ^ (high >>> 7)) & (this.buckets.length - 1)
  }

  /** Doubles the buckets. Each chain is put in from its end, so that equal hashes keep their order. */
  private rehash(): void {
    const old = this.buckets
    this.buckets = new Int32Array(old.length * 2).fill(none)
    const chain: number[] = []
    for (const first of old) {
      for (let node = first; node !== none; node = this.words[node + chained] as number) chain.push(node)
      while (chain.length > 0) this.chain(chain.pop() as number)
    }
  }

  private newNode(): number {
    if (this.unusedNode !== none) {
      const node = this.unusedNode
      this.unusedNode = this.words[node + next] as number
      return node
    }
    if ((this.nodeCount + 1) * stride > this.words.length) {
      const larger = new Int32Array(this.words.length * 2)
      larger.set(this.words)
      this.words = larger
    }
    const made = this.nodeCount * stride
    this.nodeCount += 1
    return made
  }

  private discard(node: number): void {
    this.words[node + next] = this.unusedNode
    this.unusedNode = node
  }
}
