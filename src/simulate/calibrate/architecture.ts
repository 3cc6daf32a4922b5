/** A decoder's shape, as its `config.json` has it. */
export interface Architecture {
  readonly name: string
  readonly layers: number
  readonly hidden: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly feedForward: number
  readonly vocabulary: number
  /** The output layer is the embedding again. */
  readonly tied: boolean
  /** Experts of a layer, and how many of them a token meets; null where the layer is dense. */
  readonly experts: { readonly all: number; readonly active: number } | null
}

type Row = readonly [RegExp, string, number, number, number, number, number, number, number, boolean?]

/** pattern, name, layers, hidden, heads, KV heads, head dimension, feed forward, vocabulary, tied: the models' published configs. */
const dense: readonly Row[] = [
  [/llama-?3\.?2?-1b/i, 'Llama-3.2-1B', 16, 2048, 32, 8, 64, 8192, 128_256, true],
  [/llama-?3\.?2?-3b/i, 'Llama-3.2-3B', 28, 3072, 24, 8, 128, 8192, 128_256, true],
  [/llama-?3(\.[01])?-8b/i, 'Llama-3.1-8B', 32, 4096, 32, 8, 128, 14_336, 128_256],
  [/llama-?3(\.[0-3])?-70b/i, 'Llama-3.1-70B', 80, 8192, 64, 8, 128, 28_672, 128_256],
  [/llama-?3\.1-405b/i, 'Llama-3.1-405B', 126, 16_384, 128, 8, 128, 53_248, 128_256],
  [/llama-?2-7b/i, 'Llama-2-7B', 32, 4096, 32, 32, 128, 11_008, 32_000],
  [/llama-?2-13b/i, 'Llama-2-13B', 40, 5120, 40, 40, 128, 13_824, 32_000],
  [/llama-?2-70b/i, 'Llama-2-70B', 80, 8192, 64, 8, 128, 28_672, 32_000],
  [/mistral-7b/i, 'Mistral-7B', 32, 4096, 32, 8, 128, 14_336, 32_768],
  [/qwen2\.5-0\.5b/i, 'Qwen2.5-0.5B', 24, 896, 14, 2, 64, 4864, 151_936, true],
  [/qwen2\.5-1\.5b/i, 'Qwen2.5-1.5B', 28, 1536, 12, 2, 128, 8960, 151_936, true],
  [/qwen2\.5-3b/i, 'Qwen2.5-3B', 36, 2048, 16, 2, 128, 11_008, 151_936, true],
  [/qwen2\.5-7b/i, 'Qwen2.5-7B', 28, 3584, 28, 4, 128, 18_944, 152_064],
  [/qwen2\.5-14b/i, 'Qwen2.5-14B', 48, 5120, 40, 8, 128, 13_824, 152_064],
  [/qwen2\.5-32b/i, 'Qwen2.5-32B', 64, 5120, 40, 8, 128, 27_648, 152_064],
  [/qwen2\.5-72b/i, 'Qwen2.5-72B', 80, 8192, 64, 8, 128, 29_568, 152_064],
  [/qwen3-0\.6b/i, 'Qwen3-0.6B', 28, 1024, 16, 8, 128, 3072, 151_936, true],
  [/qwen3-1\.7b/i, 'Qwen3-1.7B', 28, 2048, 16, 8, 128, 6144, 151_936, true],
  [/qwen3-4b/i, 'Qwen3-4B', 36, 2560, 32, 8, 128, 9728, 151_936, true],
  [/qwen3-8b/i, 'Qwen3-8B', 36, 4096, 32, 8, 128, 12_288, 151_936],
  [/qwen3-14b/i, 'Qwen3-14B', 40, 5120, 40, 8, 128, 17_408, 151_936],
  [/qwen3-32b/i, 'Qwen3-32B', 64, 5120, 64, 8, 128, 25_600, 151_936],
]

/** The same with the feed forward of one expert, all experts, active ones. */
const mixtures: ReadonlyArray<readonly [Row, number, number]> = [
  [[/mixtral-8x7b/i, 'Mixtral-8x7B', 32, 4096, 32, 8, 128, 14_336, 32_000], 8, 2],
  [[/qwen3-30b-a3b/i, 'Qwen3-30B-A3B', 48, 2048, 32, 4, 128, 768, 151_936], 128, 8],
  [[/qwen3-235b-a22b/i, 'Qwen3-235B-A22B', 94, 4096, 64, 4, 128, 1536, 151_936], 128, 8],
]

/** The architecture that a model's name means, or null where none is known by it. */
export function architectureCalled(model: string): Architecture | null {
  const mixture = mixtures.find(([[pattern]]) => pattern.test(model))
  if (mixture !== undefined) return shape(mixture[0], { all: mixture[1], active: mixture[2] })
  const row = dense.find(([pattern]) => pattern.test(model))
  return row === undefined ? null : shape(row, null)
}

function shape(row: Row, experts: Architecture['experts']): Architecture {
  const [, name, layers, hidden, heads, kvHeads, headDim, feedForward, vocabulary, tied] = row
  return {
    name,
    layers,
    hidden,
    heads,
    kvHeads,
    headDim,
    feedForward,
    vocabulary,
    tied: tied ?? false,
    experts,
  }
}

/** What a decoder costs, whatever it runs on. */
export interface ModelSizes {
  /** All parameters: the layers, the embedding, the output layer where it is another. */
  readonly parameters: number
  /** Parameters that one token is multiplied with inside the layers. Only the last token of a prompt meets the output layer. */
  readonly perToken: number
  /** Parameters read for one token alone: those of its layers and the output layer. */
  readonly readForOne: number
  /** Parameters read when every expert is met. */
  readonly readForAll: number
  /** Keys and values of one token: 2 · layers · KV heads · head dimension. */
  readonly kvValues: number
  /** FLOP of one (new token, earlier token) pair: 4 · layers · heads · head dimension. */
  readonly pairFlops: number
}

/** Σ over layers of 2·d·h·hd + 2·d·kv·hd + 3·d·ff + 2·d, and V·d once or twice. */
export function modelSizes(shape: Architecture): ModelSizes {
  const { layers, hidden, heads, kvHeads, headDim, feedForward, vocabulary, tied, experts } = shape
  const attention = 2 * hidden * headDim * (heads + kvHeads) + 2 * hidden
  const expert = 3 * hidden * feedForward
  const router = experts === null ? 0 : hidden * experts.all
  const active = layers * (attention + router + expert * (experts?.active ?? 1))
  const all = layers * (attention + router + expert * (experts?.all ?? 1))
  const table = vocabulary * hidden
  return {
    parameters: all + table * (tied ? 1 : 2),
    perToken: active,
    readForOne: active + table,
    readForAll: all + table,
    kvValues: 2 * layers * kvHeads * headDim,
    pairFlops: 4 * layers * heads * headDim,
  }
}
