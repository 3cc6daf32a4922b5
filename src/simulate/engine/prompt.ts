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

const everyBlock = 0x7fffffff

/**
 * The chain of hashes of one request's blocks: each covers its parent's hash and its own tokens. Two 32-bit words a
 * block, made when first asked for. Words are mixed as in murmur3.
 */
export class BlockHashes {
  private readonly words: number[] = []
  private readonly prompt: Prompt
  private readonly blockSize: number
  private readonly shared: number
  /** A number of its own for each request, behind the hashes that nobody shares. */
  private readonly own: number
  private readonly outputTokenIds: Int32Array | null
  private readonly outputSeed: number

  /** Others may bring the first `shared` blocks too. */
  constructor(
    prompt: Prompt,
    blockSize: number,
    shared: number,
    own: number,
    outputTokenIds: Int32Array | null,
    outputSeed: number,
  ) {
    this.prompt = prompt
    this.blockSize = blockSize
    this.shared = shared
    this.own = own
    this.outputTokenIds = outputTokenIds
    this.outputSeed = outputSeed
  }

  low(block: number): number {
    while (this.words.length <= 2 * block) this.makeNext()
    return this.words[2 * block] as number
  }

  high(block: number): number {
    while (this.words.length <= 2 * block) this.makeNext()
    return this.words[2 * block + 1] as number
  }

  private makeNext(): void {
    const { prompt, words } = this
    const block = words.length >> 1
    let low = block === 0 ? 0x2545f491 : (words[2 * block - 2] as number)
    let high = block === 0 ? 0x4f6cdd1d : (words[2 * block - 1] as number)
    const from = block * this.blockSize
    const to = from + this.blockSize
    if (block >= this.shared) {
      low = mix(low, this.own)
      high = mix(high, ~this.own ^ block)
    } else if (prompt instanceof Int32Array) {
      for (let i = from; i < to; i++) {
        const token = i < prompt.length ? (prompt[i] as number) : this.outputToken(i - prompt.length)
        low = mix(low, token)
        high = mix(high, token ^ 0x5bd1e995)
      }
    } else if ('blockHashes' in prompt) {
      const id = prompt.blockHashes[Math.floor((to - 1) / prompt.blockTokens)] as number
      low = mix(mix(low, id | 0), block)
      high = mix(mix(high, (id / 4294967296) | 0), id | 0)
    } else {
      const seed = prompt.seed as number
      low = mix(low, seed | 0)
      high = mix(mix(high, (seed / 4294967296) | 0), seed | 0)
      // The output is a function of its seed and of where it began.
      if (to > prompt.length) {
        low = mix(low, this.outputSeed)
        high = mix(high, prompt.length)
      }
    }
    words.push(low, high)
  }

  private outputToken(index: number): number {
    const ids = this.outputTokenIds
    return ids !== null && index < ids.length
      ? (ids[index] as number)
      : generatedTokenId(this.outputSeed, index)
  }
}

/**
 * The token that the engine answers at `index` of an output: a pure function of `seed`, so that two runs, and a run and its
 * replay, cache the same blocks. A number of 31 bits, at least 0.
 */
export function generatedTokenId(seed: number, index: number): number {
  return mix(mix(0x165667b1, seed), index) >>> 1
}

/** Blocks from the start that others may bring too: these are registered as they fill. */
export function sharedBlocks(prompt: Prompt, blockSize: number): number {
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
