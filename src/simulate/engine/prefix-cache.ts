import type { BlockPool } from './block-pool.ts'
import type { RequestState } from './request-state.ts'

/**
 * The longest cached prefix of a waiting request, as nodes in `hitNodes`; their number is returned. At most
 * ⌊(N − 1) ÷ block⌋ blocks: one token at least is always computed, and with a prompt of whole blocks the last block.
 */
export function findHits(row: RequestState, pool: BlockPool, blockSize: number, hitNodes: number[]): number {
  while (hitNodes.length > 0) hitNodes.pop()
  // Of its own blocks, nothing can be there before its first preemption.
  const known = row.preemptions === 0 ? row.sharedBlocks : row.cacheable ? Number.POSITIVE_INFINITY : 0
  if (known === 0) return 0
  const hashes = row.hashes()
  const limit = Math.min(Math.floor((row.promptTokens + row.outputTokens - 1) / blockSize), known)
  for (let block = 0; block < limit; block++) {
    const node = pool.find(hashes.low(block), hashes.high(block))
    if (node < 0) break
    hitNodes.push(node)
  }
  return hitNodes.length
}

/** Gives a hash to those of the first `limit` blocks of a row outside the lockstep that are full and have none yet. */
export function registerFull(row: RequestState, pool: BlockPool, blockSize: number, limit: number): void {
  const known = Math.min(row.computed, row.promptTokens + row.outputTokens)
  const full = Math.min(Math.floor(known / blockSize), limit)
  if (row.nodes.length >= full) return
  const hashes = row.hashes()
  for (let block = row.nodes.length; block < full; block++) {
    row.addNode(pool.register(hashes.low(block), hashes.high(block)))
  }
}
