/**
 * What a prompt is made of, as far as the prefix cache is concerned. A cached block is found again by whoever brings the same
 * tokens in the same blocks from the start.
 */
export type Prompt =
  /** Token ids: what a server knows. */
  | Int32Array
  /**
   * A made-up prompt. Those with the same `seed` are prefixes of one another; without a seed it shares nothing with any other
   * (its own blocks it still finds, after a preemption).
   */
  | { readonly length: number; readonly seed?: number | null }
  /**
   * A prompt of a trace: one id for each `blockTokens` tokens, equal where the tokens are equal up to there. Ids may cover
   * less than the prompt; the rest is shared with nobody.
   */
  | {
      readonly length: number
      readonly blockHashes: ArrayLike<number>
      readonly blockTokens: number
    }

/** Blocks whose content others may bring too: these are registered as they fill. */
const everyBlock = 0x7fffffff

/**
 * The chain of hashes of one request's blocks: each covers its parent's hash and its own tokens. Two 32-bit words a
 * block, made when first asked for. Words are mixed as in murmur3.
 */
export class BlockHashes {
  /** Blocks before this one are found by others; the rest only by the request itself. */
  readonly sharedBlocks: number
  private readonly words: number[] = []
  private readonly prompt: Prompt
  private readonly blockSize: number
  /** A number of its own for each request, behind the hashes that nobody shares. */
  private readonly own: number
  private readonly outputTokenAt: (index: number) => number

  constructor(prompt: Prompt, blockSize: number, own: number, outputTokenAt: (index: number) => number) {
    this.prompt = prompt
    this.blockSize = blockSize
    this.own = own
    this.outputTokenAt = outputTokenAt
    this.sharedBlocks = sharedBlocks(prompt, blockSize)
  }

  low(block: number): number {
    this.extendTo(block)
    return this.words[2 * block] as number
  }

  high(block: number): number {
    this.extendTo(block)
    return this.words[2 * block + 1] as number
  }

  private extendTo(block: number): void {
    for (let at = this.words.length >> 1; at <= block; at++) {
      const low = at === 0 ? 0x2545f491 : (this.words[2 * at - 2] as number)
      const high = at === 0 ? 0x4f6cdd1d : (this.words[2 * at - 1] as number)
      this.pushBlock(at, low, high)
    }
  }

  private pushBlock(block: number, low: number, high: number): void {
    const { prompt, blockSize } = this
    if (block >= this.sharedBlocks) {
      low = mix(low, this.own)
      high = mix(high, ~this.own ^ block)
    } else if (prompt instanceof Int32Array) {
      const end = (block + 1) * blockSize
      for (let i = block * blockSize; i < end; i++) {
        const token = i < prompt.length ? (prompt[i] as number) : this.outputTokenAt(i - prompt.length)
        low = mix(low, token)
        high = mix(high, token ^ 0x5bd1e995)
      }
    } else if ('blockHashes' in prompt) {
      const last = Math.floor(((block + 1) * blockSize - 1) / prompt.blockTokens)
      const id = prompt.blockHashes[last] as number
      low = mix(mix(low, id | 0), block)
      high = mix(mix(high, (id / 4294967296) | 0), id | 0)
    } else {
      const seed = prompt.seed as number
      const outputFrom = Math.max(block * blockSize, prompt.length)
      low = mix(low, seed | 0)
      high = mix(mix(high, (seed / 4294967296) | 0), seed | 0)
      for (let i = outputFrom; i < (block + 1) * blockSize; i++) {
        low = mix(low, this.outputTokenAt(i - prompt.length))
      }
    }
    this.words.push(low, high)
  }
}

/**
 * The token that the engine answers at `index` of an output: a pure function of `seed`, so that two runs, and a run and its
 * replay, cache the same blocks. A number of 31 bits, at least 0.
 */
export function generatedTokenId(seed: number, index: number): number {
  return mix(mix(0x165667b1, seed), index) >>> 1
}

function sharedBlocks(prompt: Prompt, blockSize: number): number {
  if (prompt instanceof Int32Array) return everyBlock
  if ('blockHashes' in prompt) {
    const covered = Math.min(prompt.length, prompt.blockHashes.length * prompt.blockTokens)
    return Math.floor(covered / blockSize)
  }
  return prompt.seed === undefined || prompt.seed === null ? 0 : everyBlock
}

function mix(hash: number, value: number): number {
  let k = Math.imul(value, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  let h = hash ^ Math.imul(k, 0x1b873593)
  h = (h << 13) | (h >>> 19)
  h = (Math.imul(h, 5) + 0xe6546b64) | 0
  return h ^ (h >>> 15)
}
