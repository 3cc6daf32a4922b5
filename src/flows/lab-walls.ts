import { randomStream, uniformInteger } from '../base/random.ts'
import type { LabWallPoint, LabWalls } from '../report/lab-documents.ts'
import { memoryWall } from '../plan/kv-pool.ts'
import { capacity, passing, saturationWall, sloWall, type WallPoint } from '../plan/walls.ts'
import { createEngine } from '../simulate/engine/engine.ts'
import { usableBlocks, type EngineConfig } from '../simulate/engine/engine-config.ts'
import type { EngineRequest } from '../simulate/engine/engine-interface.ts'
import { runVirtual } from '../simulate/engine/run-virtual.ts'
import { oneSidedUpperRank } from '../stats/percentile-interval.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import { fitScalability } from '../stats/saturation.ts'

/** A measured load, before it is judged. */
export type TestedLoad = Omit<LabWallPoint, 'passes' | 'indicative'>

export interface WallsQuestion {
  readonly source: string
  readonly seed: string | null
  readonly points: readonly TestedLoad[]
  /** Limits on the P99 of a point, ms; inclusive. */
  readonly tpotLimitMs: number | null
  readonly ttftLimitMs: number | null
  readonly kvTokens: number | null
  readonly tokensPerRequest: number | null
}

/** The walls of a concurrency sweep, wherever its points are from. */
export function labWalls(question: WallsQuestion): LabWalls {
  const { tpotLimitMs, ttftLimitMs, kvTokens, tokensPerRequest } = question
  const points = question.points
    .map((point) => ({ ...point, ...judge(point, tpotLimitMs, ttftLimitMs) }))
    .toSorted((a, b) => a.load - b.load)
  const wallPoints: WallPoint[] = points.map(({ load, tokens_per_s, passes, indicative }) => ({
    load,
    throughput: tokens_per_s,
    passes,
    indicative,
  }))
  const saturation = saturationWall(wallPoints)
  const slo = sloWall(wallPoints)
  const memory =
    kvTokens === null || tokensPerRequest === null ? null : memoryWall(kvTokens, tokensPerRequest)
  const found = capacity(wallPoints, saturation, slo, memory)
  const fitted = fitScalability(points.map(({ load, tokens_per_s }) => ({ load, throughput: tokens_per_s })))
  // Contention and crosstalk are not negative: a fit that says so describes noise.
  const law = fitted !== null && fitted.sigma >= 0 && fitted.kappa >= 0 ? fitted : null
  const limits = [
    ...(tpotLimitMs === null ? [] : [`p99 tpot <= ${tpotLimitMs}ms`]),
    ...(ttftLimitMs === null ? [] : [`p99 ttft <= ${ttftLimitMs}ms`]),
  ]
  return {
    schema: 'plimsoll.lab/1',
    kind: 'walls',
    source: question.source,
    seed: question.seed,
    limit: limits.length === 0 ? null : limits.join(' and '),
    points,
    saturation: saturation.load === null ? null : { load: saturation.load, reached: saturation.reached },
    peak:
      saturation.peakLoad === null || saturation.peakThroughput === null
        ? null
        : { load: saturation.peakLoad, tokens_per_s: saturation.peakThroughput },
    slo: slo === null ? null : { load: slo.load, reached: slo.reached, indicative: slo.indicative },
    memory:
      memory === null ? null : { load: memory, kv_tokens: kvTokens!, tokens_per_request: tokensPerRequest! },
    capacity: {
      load: found.load,
      tokens_per_s: found.throughput,
      binding: found.binding,
      at_least: found.atLeast,
    },
    passing_above: slo?.passingAbove ?? [],
    law:
      law === null
        ? null
        : { lambda: law.lambda, sigma: law.sigma, kappa: law.kappa, peak_load: law.peakLoad },
  }
}

/** The rule of a sweep (`passing`), by the upper ends of the percentiles; null where a percentile is not known. */
function judge(
  point: TestedLoad,
  tpot: number | null,
  ttft: number | null,
): Pick<LabWallPoint, 'passes' | 'indicative'> {
  const asked = [
    { limit: tpot, value: point.p99_tpot_ms, upper: point.p99_tpot_upper_ms },
    { limit: ttft, value: point.p99_ttft_ms, upper: point.p99_ttft_upper_ms },
  ].filter(({ limit }) => limit !== null)
  if (asked.length === 0) return { passes: null, indicative: false }
  const known = asked.filter(({ value }) => value !== null)
  const verdict = passing(
    known.map(({ limit, value, upper }) => ({
      proven: upper !== null && upper <= limit!,
      estimateWithin: value! <= limit!,
    })),
  )
  if (verdict === 'no') return { passes: false, indicative: false }
  if (known.length < asked.length) return { passes: null, indicative: false }
  return { passes: true, indicative: verdict === 'indicative' }
}

export interface SimulatedSweep {
  readonly config: EngineConfig
  readonly seed: string
  readonly loads: readonly number[]
  readonly promptTokens: number
  readonly outputTokens: number
}

/** Requests of each load whose times count: enough for a P99 with an upper end (299), and several rounds of every user. */
function countedRequests(users: number): number {
  return Math.max(400, 6 * users)
}

/** A closed loop at each load on the engine in virtual time: no think time, lengths ± 50 %. */
export function simulateLoads(sweep: SimulatedSweep): readonly TestedLoad[] {
  return sweep.loads.map((users) => simulateLoad(sweep, users))
}

function simulateLoad(
  { config, seed, promptTokens, outputTokens }: SimulatedSweep,
  users: number,
): TestedLoad {
  const lengths = randomStream(seed, 'lab-walls-lengths', users)
  const engine = createEngine(config, randomStream(seed, 'lab-walls-jitter', users), { events: 'requests' })
  const about = (tokens: number): number =>
    Math.max(1, uniformInteger(lengths, Math.ceil(tokens / 2), Math.floor((3 * tokens) / 2)))
  let next = 0
  const request = (arrivalMs: number): EngineRequest => ({
    id: next++,
    arrivalMs,
    promptTokenIds: { length: about(promptTokens) },
    outputTokens: Math.max(2, about(outputTokens)),
  })
  // Everyone's first request is the warm-up: all start at once, which no load does.
  const ramp = 2 * users
  const wanted = ramp + countedRequests(users)
  const finished = runVirtual(engine, {
    arrivals: Array.from({ length: users }, () => request(0)),
    onResult: (result) => (next < wanted ? request(result.endMs) : null),
  }).filter(({ outcome }) => outcome !== 'refused')
  // The last round runs with fewer and fewer users: it does not count either.
  const counted = finished.slice(ramp, Math.max(ramp + 1, finished.length - users))
  const facts = counted.flatMap(({ facts }) => (facts === null ? [] : [facts]))
  const start = finished[ramp - 1]?.endMs ?? 0
  const end = counted.at(-1)?.endMs ?? start
  const tokens = facts.reduce((sum, { outputTokens }) => sum + outputTokens, 0)
  const tpots = facts.flatMap((one) =>
    one.outputTokens > 1 ? [(one.lastTokenMs - one.firstTokenMs) / (one.outputTokens - 1)] : [],
  )
  const paces = sortAscending(tpots)
  const waits = sortAscending(facts.map((one) => one.firstTokenMs - one.arrivalMs))
  return {
    load: users,
    tokens_per_s: end > start ? (1000 * tokens) / (end - start) : 0,
    p99_tpot_ms: percentile(paces, '99'),
    p99_ttft_ms: percentile(waits, '99'),
    p99_tpot_upper_ms: upperEnd(paces),
    p99_ttft_upper_ms: upperEnd(waits),
    n: counted.length,
  }
}

/** One-sided 95 % upper end of the P99 of ascending values. */
function upperEnd(sorted: ArrayLike<number>): number | null {
  const rank = oneSidedUpperRank(sorted.length, '99', '0.95')
  return rank === null ? null : (sorted[rank - 1] ?? null)
}

/** Tokens of the pool of a simulated engine. */
export function poolTokens(config: EngineConfig): number {
  return usableBlocks(config) * config.blockSize
}
