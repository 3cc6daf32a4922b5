/**
 * A seeded stream of uniform numbers in [0, 1). Streams are named, so that drawing more from one never shifts another:
 * the same seed gives the same plan whatever the number of workers.
 */
export interface Random {
  /** The next number in [0, 1), with 32 bits of randomness. */
  next(): number
  /** The next unsigned 32-bit integer. */
  nextUint32(): number
}

/**
 * Chris Doty-Humphrey's sfc32 (PractRand): small, fast, passes BigCrush. Seeded with three words and a counter of 1, and
 * warmed by 12 rounds, as the reference does; a full state of four words gives its counter too.
 */
export function sfc32(a: number, b: number, c: number, rounds = 12, firstCounter = 1): Random {
  let s0 = a | 0
  let s1 = b | 0
  let s2 = c | 0
  let counter = firstCounter | 0
  function nextUint32(): number {
    const t = (((s0 + s1) | 0) + counter) | 0
    counter = (counter + 1) | 0
    s0 = s1 ^ (s1 >>> 9)
    s1 = (s2 + (s2 << 3)) | 0
    s2 = (s2 << 21) | (s2 >>> 11)
    s2 = (s2 + t) | 0
    return t >>> 0
  }
  for (let round = 0; round < rounds; round++) nextUint32()
  return { nextUint32, next: () => nextUint32() / 4294967296 }
}

/**
 * The stream called `name` (and `index`) of `seed`. Names are hashed with FNV-1a and finalised with murmur3's mixer.
 * `seed` may be any text or number: `1` and `"1"` are the same seed.
 */
export function randomStream(seed: number | string, name: string, index = 0): Random {
  const text = `${seed}/${name}/${index}`
  const a = mix32(fnv1a(text, 0x811c9dc5))
  const b = mix32(fnv1a(text, 0x01000193 ^ a))
  const c = mix32(fnv1a(text, 0x9e3779b9 ^ b))
  return sfc32(a, b, c)
}

/** An exponential variate with mean 1. Never infinite: the uniform is taken from (0, 1]. */
export function exponential(random: Random): number {
  return -Math.log(1 - random.next())
}

/** A standard normal variate (Box and Muller 1958; the second of the pair is dropped to keep the stream position simple). */
export function standardNormal(random: Random): number {
  const radius = Math.sqrt(2 * exponential(random))
  return radius * Math.cos(2 * Math.PI * random.next())
}

/**
 * A gamma variate with the given shape and mean `shape` (scale 1): Marsaglia and Tsang, "A simple method for generating
 * gamma variables", ACM TOMS 26 (2000); shapes below 1 by their boost, U^(1/shape).
 */
export function gamma(random: Random, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * Math.pow(1 - random.next(), 1 / shape)
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = standardNormal(random)
    const v = (1 + c * x) ** 3
    if (v <= 0) continue
    const u = 1 - random.next()
    if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

/** An integer in [low, high], both ends included, each equally likely. */
export function uniformInteger(random: Random, low: number, high: number): number {
  return low + Math.floor(random.next() * (high - low + 1))
}

function fnv1a(text: string, basis: number): number {
  let hash = basis | 0
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash
}

function mix32(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
