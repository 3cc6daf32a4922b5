import { exponential, randomStream, standardNormal, type Random } from '../../../base/random.ts'

/** How long an answer is when nothing says so: its distribution and mean, in tokens. */
export interface OutputLength {
  readonly kind: 'fixed' | 'uniform' | 'lognormal' | 'geometric'
  readonly meanTokens: number
}

/** σ of ln(length) of the log-normal lengths: its p99 is 3.4 times its mean, near what chat traces show. */
const lognormalSigma = 0.6

/**
 * The tokens of an answer to `promptKey`: a pure function of seed and prompt. At least 1. `uniform` is 1…2·mean − 1, `lognormal` has
 * μ = ln(mean) − σ²/2, so that its mean is the one asked for.
 */
export function drawOutputTokens(length: OutputLength, seed: number | string, promptKey: number): number {
  const mean = length.meanTokens
  if (length.kind === 'fixed') return Math.max(1, Math.round(mean))
  return Math.max(1, Math.round(draw(length.kind, mean, randomStream(seed, 'output-length', promptKey))))
}

function draw(kind: 'uniform' | 'lognormal' | 'geometric', mean: number, random: Random): number {
  if (kind === 'uniform') return 1 + Math.floor(random.next() * (2 * mean - 1))
  if (kind === 'lognormal') {
    const mu = Math.log(mean) - lognormalSigma ** 2 / 2
    return Math.exp(mu + lognormalSigma * standardNormal(random))
  }
  // Geometric on 1, 2, …: the ceiling of an exponential whose rate gives the mean.
  return mean <= 1 ? 1 : Math.ceil(-exponential(random) / Math.log(1 - 1 / mean))
}

/** A number of 32 bits that is the same for the same tokens: FNV-1a over the ids. */
export function promptKey(ids: Int32Array): number {
  let hash = 0x811c9dc5 | 0
  for (const id of ids) hash = Math.imul(hash ^ id, 0x01000193)
  return hash >>> 0
}

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'
const syllables: readonly string[] = Array.from(consonants).flatMap((consonant) =>
  Array.from(vowels, (vowel) => consonant + vowel),
)

/**
 * The words of an answer, one token each in this engine's tokenizer: two or three syllables, the first word capitalised and
 * without a blank. The same seed and prompt give the same words.
 */
export function answerWords(seed: number | string, prompt: number): () => string {
  const random = randomStream(seed, 'text', prompt)
  let first = true
  return () => {
    const bits = random.nextUint32()
    let word = syllable(bits & 0x3ff) + syllable((bits >>> 10) & 0x3ff)
    if (bits >>> 31 === 1) word += syllable((bits >>> 20) & 0x3ff)
    if (!first) return ` ${word}`
    first = false
    return word.charAt(0).toUpperCase() + word.slice(1)
  }
}

function syllable(value: number): string {
  return syllables[value % syllables.length] as string
}
