import { ceil, floor, rational, toRational, type RationalInput } from '../stats/rational.ts'
import { PlimsollError } from '../base/errors.ts'

/** The shape of a model's attention cache. */
export interface KvShape {
  readonly layers: number
  readonly kvHeads: number
  readonly headDim: number
  /** Bytes of one element: 2 for fp16 and bf16, 1 for fp8. */
  readonly bytesPerElement: number
}

/** Keys and values of one token in bytes: 2·layers·kv heads·head dim·bytes. */
export function kvBytesPerToken({ layers, kvHeads, headDim, bytesPerElement }: KvShape): number {
  return 2 * layers * kvHeads * headDim * bytesPerElement
}

/** Whole tokens that a pool of bytes holds. */
export function kvPoolTokens(poolBytes: number, shape: KvShape): number {
  return Math.floor(poolBytes / kvBytesPerToken(shape))
}

/** Requests that fit when each holds `tokensPerRequest` when it ends: floor(pool ÷ tokens), exact. Throws PLIM_NUMBER at 0 tokens. */
export function memoryWall(poolTokens: RationalInput, tokensPerRequest: RationalInput): number {
  const pool = toRational(poolTokens)
  const held = toRational(tokensPerRequest)
  if (held.num <= 0n) {
    throw new PlimsollError('PLIM_NUMBER', 'a request holds at least one token', {
      expected: 'prompt + output tokens',
    })
  }
  return Number(floor(rational(pool.num * held.den, pool.den * held.num)))
}

/**
 * Requests that fit on average over their lives, holding the prompt and half the output: more than the memory wall. Between
 * the two an engine admits requests that it may have to preempt.
 */
export function averageHoldWall(poolTokens: number, promptTokens: number, outputTokens: number): number {
  return memoryWall(poolTokens, rational(2 * promptTokens + outputTokens, 2))
}

/** Blocks of `blockSize` tokens that a request of so many tokens takes. */
export function kvBlocks(tokens: number, blockSize: number): number {
  return Number(ceil(rational(tokens, blockSize)))
}
