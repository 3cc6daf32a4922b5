import type { EngineConfig } from '../engine/engine-config.ts'

/** Moments of the lengths of a workload, tokens. */
export interface LengthMoments {
  /** E[i], E[o]: prompt and output. */
  readonly prompt: number
  readonly output: number
  /** E[i·o], E[i²], E[o²]. */
  readonly promptOutput: number
  readonly promptSquared: number
  readonly outputSquared: number
}

/** Moments of pairs of lengths. At least one pair. */
export function lengthMoments(pairs: readonly (readonly [prompt: number, output: number])[]): LengthMoments {
  const sums = { prompt: 0, output: 0, promptOutput: 0, promptSquared: 0, outputSquared: 0 }
  for (const [i, o] of pairs) {
    sums.prompt += i
    sums.output += o
    sums.promptOutput += i * o
    sums.promptSquared += i * i
    sums.outputSquared += o * o
  }
  const n = Math.max(1, pairs.length)
  return {
    prompt: sums.prompt / n,
    output: sums.output / n,
    promptOutput: sums.promptOutput / n,
    promptSquared: sums.promptSquared / n,
    outputSquared: sums.outputSquared / n,
  }
}

export type MeanFieldWall = 'compute' | 'seats' | 'kv' | 'budget' | 'slo'

/** Arrival rates (requests a second) at which one replica meets each wall; infinite where it never does. */
export interface MeanFieldWalls {
  readonly perSecond: Readonly<Record<MeanFieldWall, number>>
  readonly binding: MeanFieldWall
  readonly capacityPerSecond: number
}

export interface MeanFieldOptions {
  /** Limit on the mean step, ms; null: none. */
  readonly tpotLimitMs?: number | null
  /** Share of the prompts' tokens that the prefix cache has. */
  readonly prefixHitRate?: number
}

/**
 * Mean step and rows in flight of one replica at `perSecond` arrivals: the fixed point of
 *
 *     N = λ·E[o]·t    base = c0 + c4·N + c2·N·c̄ + c1·max(0, N − T0)
 *     cp = c1·(E[i](1 − h) − clamp(T0 − N, 0, E[i](1 − h))) + c3·E[i²]/2    t = base ÷ (1 − λ·cp)
 *
 * with c̄ = E[i·o]/E[o] + E[o²]/(2·E[o]), the context of the average decoded token. It holds to 15 % for the step up to four
 * fifths of the compute wall and says nothing of TTFT. Null at and above the compute wall.
 */
export function meanFieldStep(
  config: EngineConfig,
  lengths: LengthMoments,
  perSecond: number,
  prefixHitRate = 0,
): { readonly stepMs: number; readonly rows: number } | null {
  const { baseMs, kneeTokens, perTokenMs, perContextTokenMs, perPairMs, perSequenceMs } = config.stepTime
  const perMs = perSecond / 1000
  const context = meanContext(lengths)
  const prompt = lengths.prompt * (1 - prefixHitRate)
  let stepMs = baseMs
  for (let round = 0; round < 500; round++) {
    const rows = perMs * lengths.output * stepMs
    const base =
      baseMs +
      perSequenceMs * rows +
      perContextTokenMs * rows * context +
      perTokenMs * Math.max(0, rows - kneeTokens)
    const spare = Math.min(Math.max(kneeTokens - rows, 0), prompt)
    const prefill = perTokenMs * (prompt - spare) + (perPairMs * lengths.promptSquared) / 2
    const share = 1 - perMs * prefill
    if (share <= 0) return null
    const next = base / share
    if (!(next < 1e7)) return null
    if (Math.abs(next - stepMs) < 1e-9 * next) return { stepMs: next, rows: perMs * lengths.output * next }
    stepMs = next
  }
  return { stepMs, rows: perMs * lengths.output * stepMs }
}

/**
 * The walls of one replica by the mean field: compute λ* = 1 ÷ (c1(E[i] + E[o]) + c2·E[o]·c̄ + c3·E[i²]/2 + c4·E[o]); seats
 * N(λ) = S; KV N(λ)·(E[i] + E[o]/2) = pool; budget N + λ·t·E[i] = B; SLO t(λ) = limit. Within 5 % of the simulation's
 * saturated throughput; for any latency simulate.
 */
export function meanFieldWalls(
  config: EngineConfig,
  lengths: LengthMoments,
  options: MeanFieldOptions = {},
): MeanFieldWalls {
  const hit = options.prefixHitRate ?? 0
  const { perTokenMs, perContextTokenMs, perPairMs, perSequenceMs } = config.stepTime
  const prompt = lengths.prompt * (1 - hit)
  const workMs =
    perTokenMs * (prompt + lengths.output) +
    perContextTokenMs * lengths.output * meanContext(lengths) +
    (perPairMs * lengths.promptSquared) / 2 +
    perSequenceMs * lengths.output
  const compute = workMs > 0 ? 1000 / workMs : Number.POSITIVE_INFINITY
  const pool = (config.numGpuBlocks - 1) * config.blockSize
  const limit = options.tpotLimitMs ?? null
  const reaches = (of: (stepMs: number, rows: number, perSecond: number) => boolean): number =>
    firstRate(compute, (perSecond) => {
      const at = meanFieldStep(config, lengths, perSecond, hit)
      return at === null || of(at.stepMs, at.rows, perSecond)
    })
  const perSecond = {
    compute,
    seats: reaches((_, rows) => rows >= config.maxNumSeqs),
    kv: reaches((_, rows) => rows * (lengths.prompt + lengths.output / 2) >= pool),
    budget: reaches(
      (stepMs, rows, rate) => rows + (rate / 1000) * stepMs * prompt >= config.maxNumBatchedTokens,
    ),
    slo: limit === null ? Number.POSITIVE_INFINITY : reaches((stepMs) => stepMs >= limit),
  }
  const walls = Object.entries(perSecond) as [MeanFieldWall, number][]
  const [binding, capacityPerSecond] = walls.reduce((least, wall) => (wall[1] < least[1] ? wall : least))
  return { perSecond, binding, capacityPerSecond }
}

/** The lowest rate that meets a condition which stays met above it. */
function firstRate(compute: number, met: (perSecond: number) => boolean): number {
  let low = 0
  let high = Number.isFinite(compute) ? compute : 1e6
  if (!met(high * (1 - 1e-9))) return Number.POSITIVE_INFINITY
  for (let round = 0; round < 100; round++) {
    const middle = (low + high) / 2
    if (met(middle)) high = middle
    else low = middle
  }
  return high
}

function meanContext({ output, promptOutput, outputSquared }: LengthMoments): number {
  return promptOutput / output + outputSquared / (2 * output)
}
