import type { BlockPool } from './block-pool.ts'
import type { RequestState } from './request-state.ts'

/**
 * The longest cached prefix of a waiting request, as nodes in `hitNodes`; their number is returned. At most
 * ⌊(N − 1) ÷ block⌋ blocks: one token at least is always computed, and with a prompt of whole blocks the last block.
 */
export function findHits(row: RequestState, pool: BlockPool, blockSize: number, hitNodes: number[]): number {
  hitNodes.length = 0
  const { hashes } = row
  if (hashes === null) return 0
  let limit = Math.floor((row.promptTokens + row.outputTokens - 1) / blockSize)
  // Of its own blocks, nothing can be there before its first preemption.
  if (row.preemptions === 0) limit = Math.min(limit, hashes.sharedBlocks)
  for (let block = 0; block < limit; block++) {
    const node = pool.find(hashes.low(block), hashes.high(block))
    if (node < 0) break
    hitNodes.push(node)
  }
  return hitNodes.length
}

/** Gives a hash to those of the first `limit` blocks of a row outside the lockstep that are full and have none yet. */
export function registerFull(row: RequestState, pool: BlockPool, blockSize: number, limit: number): void {
  const { hashes } = row
  if (hashes === null) return
  const known = Math.min(row.computed, row.promptTokens + row.outputTokens)
  const full = Math.min(Math.floor(known / blockSize), limit)
  for (let block = row.nodes.length; block < full; block++) {
    row.nodes.push(pool.register(hashes.low(block), hashes.high(block)))
  }
}
