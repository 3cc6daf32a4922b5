import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BlockPool } from './block-pool.ts'

/** Every block by itself, in the words of vLLM's block pool: what the counted one must agree with. */
class PlainPool {
  private readonly queue: number[]
  private readonly holders: number[]
  private readonly hashes: Array<number | null>
  /** Registered blocks in order of registration. */
  private index: Array<{ hash: number; block: number }> = []

  constructor(blocks: number) {
    this.queue = Array.from({ length: blocks }, (_, i) => i)
    this.holders = this.queue.map(() => 0)
    this.hashes = this.queue.map(() => null)
  }

  get free(): number {
    return this.queue.length
  }

  take(count: number): number[] {
    const taken = this.queue.splice(0, count)
    for (const block of taken) {
      this.hashes[block] = null
      this.index = this.index.filter((entry) => entry.block !== block)
      this.holders[block] = 1
    }
    return taken
  }

  release(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      this.holders[block] = (this.holders[block] as number) - 1
      if (this.holders[block] === 0) this.queue.push(block)
    }
  }

  find(hash: number): number {
    return this.index.find((entry) => entry.hash === hash)?.block ?? -1
  }

  pin(block: number): void {
    if (this.holders[block] === 0) this.queue.splice(this.queue.indexOf(block), 1)
    this.holders[block] = (this.holders[block] as number) + 1
  }

  register(hash: number, block: number): void {
    this.hashes[block] = hash
    this.index.push({ hash, block })
  }

  isEvictable(block: number): boolean {
    return this.holders[block] === 0
  }
}

interface Holding {
  readonly nodes: number[]
  readonly blocks: number[]
}

describe('BlockPool', () => {
  test('agrees with one that keeps every block by itself: free blocks, finds and evictions', () => {
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom('hold', 'hold', 'hold', 'let go', 'grow'),
        chain: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 5 }),
        plain: fc.integer({ min: 0, max: 6 }),
        which: fc.nat(),
      }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), steps, (size, actions) => {
        const pool = new BlockPool(size)
        const model = new PlainPool(size)
        const held: Holding[] = []
        for (const { kind, chain, plain, which } of actions) {
          if (kind === 'let go' && held.length > 0) {
            const [one] = held.splice(which % held.length, 1) as [Holding]
            pool.release(one.nodes, one.blocks.length - one.nodes.length)
            model.release(one.blocks)
          } else if (kind === 'hold') hold(pool, model, held, chain, plain)
          else if (kind === 'grow' && held.length > 0) {
            const one = held[which % held.length] as Holding
            if (pool.free > 0) {
              pool.take(1)
              one.blocks.push(...model.take(1))
            }
          }
          const found: number[] = []
          const wanted: number[] = []
          for (let hash = 0; hash <= 12; hash++) {
            const node = pool.find(hash, -hash)
            const block = model.find(hash)
            found.push(node < 0 ? 0 : pool.isEvictable(node) ? 1 : 2)
            wanted.push(block < 0 ? 0 : model.isEvictable(block) ? 1 : 2)
          }
          expect([pool.free, ...found].join()).toBe([model.free, ...wanted].join())
        }
      }),
      { numRuns: 300 },
    )
  })

  test('what is cached stays findable while other blocks are free, and goes oldest first', () => {
    const pool = new BlockPool(4)
    pool.take(2)
    const nodes = [pool.register(1, 1), pool.register(2, 2)]
    pool.release(nodes, 0)
    expect(pool.free).toBe(4)
    pool.take(2)
    expect([pool.find(1, 1), pool.find(2, 2)]).toEqual(nodes)
    pool.take(1)
    expect(pool.find(1, 1)).toBe(nodes[0])
    expect(pool.find(2, 2)).toBe(-1)
  })

  test('a pool of nothing has nothing, and one that shrank can grow again', () => {
    const pool = new BlockPool(3)
    pool.shrink(3)
    expect([pool.free, pool.usable]).toEqual([0, 0])
    pool.grow(2)
    expect([pool.free, pool.usable]).toEqual([2, 2])
    pool.take(2)
    expect(pool.free).toBe(0)
  })
})

/** A request's way in: cached blocks are pinned up to the first that is missing, the rest is taken and registered. */
function hold(
  pool: BlockPool,
  model: PlainPool,
  held: Holding[],
  chain: readonly number[],
  plain: number,
): void {
  const nodes: number[] = []
  const blocks: number[] = []
  let evictable = 0
  for (const hash of chain) {
    const node = pool.find(hash, -hash)
    if (node < 0 || nodes.includes(node)) break
    if (pool.isEvictable(node)) evictable += 1
    nodes.push(node)
    blocks.push(model.find(hash))
  }
  const fresh = chain.length - nodes.length + plain
  if (fresh + evictable > pool.free) return
  nodes.forEach((node) => pool.pin(node))
  blocks.forEach((block) => model.pin(block))
  const hits = nodes.length
  pool.take(fresh)
  blocks.push(...model.take(fresh))
  for (let i = hits; i < chain.length; i++) {
    nodes.push(pool.register(chain[i] as number, -(chain[i] as number)))
    model.register(chain[i] as number, blocks[i] as number)
  }
  held.push({ nodes, blocks })
}
