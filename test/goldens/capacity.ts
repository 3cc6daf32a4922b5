import {
  goodputBounds,
  independentGoodput,
  jointShareBounds,
  keepsTokenFloor,
  tpotLimitForFloorMs,
} from '../../src/measure/metrics/goodput-bounds.ts'
import { averageHoldWall, kvBytesPerToken, kvPoolTokens, memoryWall } from '../../src/plan/kv-pool.ts'
import {
  chanceEnoughUp,
  gpusFor,
  poissonPeakToMean,
  replicasFor,
  replicasOverZones,
  upliftCovers,
  type Demand,
} from '../../src/plan/replicas.ts'
import {
  capacity,
  insideTestedRange,
  interpolateThroughput,
  littleTpotMs,
  saturationWall,
  sloWall,
  type WallPoint,
} from '../../src/plan/walls.ts'
import { percentile } from '../../src/stats/percentile.ts'
import { toNumber } from '../../src/stats/rational.ts'
import { refusedAsNull, series, type Compute } from './golden.ts'

interface Tested {
  readonly concurrency: number
  readonly tok_per_s: number
  readonly p99_tpot_ms: number
  readonly p99_ttft_ms: number
}
interface Sweep {
  readonly sweep: readonly Tested[]
  readonly tpot_limit_ms: number
  readonly kv_pool_tokens: number
  readonly tokens_per_request: number
}
const judged = (sweep: readonly Tested[], passes: (point: Tested) => boolean | null): WallPoint[] =>
  sweep.map((point) => ({ load: point.concurrency, throughput: point.tok_per_s, passes: passes(point) }))
const underTpot = (i: Sweep): WallPoint[] => judged(i.sweep, (point) => point.p99_tpot_ms <= i.tpot_limit_ms)

interface Attempts {
  readonly rate: number
  readonly success: number
  readonly pass: number[]
}
interface Need {
  readonly peak: string
  readonly per_gpu: string
  readonly margin: string
  readonly failures: number
  readonly imbalance?: string
}
const demand = (i: Need, more: Partial<Demand> = {}): Demand => ({
  peak: i.peak,
  perReplica: i.per_gpu,
  margin: i.margin,
  failures: i.failures,
  ...more,
})
/** The ceiling in floats, as one would type it: the mistake. */
const naiveServing = (i: Need): number => Math.ceil(Number(i.peak) / (Number(i.per_gpu) * (1 - Number(i.margin))))
const exactAndNaive = (i: Need): unknown => {
  const { serving, total } = replicasFor(demand(i))
  return { serving, total, naive_float_serving: naiveServing(i) }
}

export const capacityGoldens: Readonly<Record<string, Compute>> = {
  'q7.goodput': (i: Attempts) => independentGoodput(i.rate, i.success, i.pass),
  'q7.goodput_share': (i: Attempts) => independentGoodput(i.rate, i.success, i.pass) / i.rate,
  'q7.frechet': (i: Attempts) => {
    const joint = jointShareBounds(i.pass)
    const goodput = goodputBounds(i.rate, i.success, i.pass)
    return { joint_lo: joint.low, joint_hi: joint.high, goodput_lo: goodput.low, goodput_hi: goodput.high }
  },
  'q7.floor': (i: { tok_per_s_floor: number }) => tpotLimitForFloorMs(i.tok_per_s_floor),
  'q7.extra.joint': () => {
    const ttft = series(100, (i) => (i < 90 ? 400 : 600))
    const tpot = series(100, (i) => (i < 85 ? 25 : 35))
    const good = (paced: readonly number[]): number =>
      ttft.filter((value, i) => value < 500 && (paced[i] as number) < 30).length / 100
    return { same_requests_fail: good(tpot), disjoint_requests_fail: good(tpot.toReversed()) }
  },
  'q7.extra.three_slos': (i: Attempts) => {
    const bounds = goodputBounds(i.rate, i.success, i.pass)
    return { product: independentGoodput(i.rate, i.success, i.pass), lo: bounds.low, hi: bounds.high }
  },
  'q7.sweep.walls': (i: Sweep) => {
    const points = underTpot(i)
    const saturation = saturationWall(points)
    const slo = sloWall(points)
    const memory = memoryWall(i.kv_pool_tokens, i.tokens_per_request)
    const found = capacity(points, saturation, slo, memory)
    return {
      peak_tok_per_s: saturation.peakThroughput,
      peak_at: saturation.peakLoad,
      saturation_wall: saturation.load,
      slo_wall: slo?.load,
      slo_wall_tok_per_s: slo?.throughput,
      memory_wall: memory,
      capacity_concurrency: found.load,
      capacity_tok_per_s: found.throughput,
      binding: found.binding,
    }
  },
  'q7.sweep.memory_binds': (i: Sweep) => {
    const points = underTpot(i)
    const memory = memoryWall(i.kv_pool_tokens, i.tokens_per_request)
    const found = capacity(points, saturationWall(points), sloWall(points), memory)
    return {
      memory_wall: memory,
      binding: found.binding,
      capacity_tested_concurrency: found.load,
      capacity_tok_per_s: found.throughput,
      interpolated_tok_per_s_at_28: interpolateThroughput(points, 28),
    }
  },
  'q7.sweep.saturation_eps': (i: { sweep: Tested[]; eps: number[] }) =>
    i.eps.map((eps) => saturationWall(judged(i.sweep, () => null), eps).load),
  'q7.sweep.ttft_and_tpot': (i: { sweep: Tested[]; slo: { p99_ttft_lt_ms: number; p99_tpot_lt_ms: number } }) => {
    const ttft = (point: Tested): boolean => point.p99_ttft_ms < i.slo.p99_ttft_lt_ms
    const tpot = (point: Tested): boolean => point.p99_tpot_ms < i.slo.p99_tpot_lt_ms
    const both = sloWall(judged(i.sweep, (point) => ttft(point) && tpot(point)))
    return {
      ttft_wall: sloWall(judged(i.sweep, ttft))?.load,
      tpot_wall: sloWall(judged(i.sweep, tpot))?.load,
      slo_wall: both?.load,
      tok_per_s: both?.throughput,
    }
  },
  'q7.sweep.nonmonotone': (i: Sweep) => {
    const found = sloWall(underTpot(i))
    return {
      prefix_rule: found?.load,
      rightmost_rule: underTpot(i).findLast((point) => point.passes)?.load,
      warn: (found?.passingAbove.length ?? 0) > 0 ? 'non_monotone' : null,
    }
  },
  'q7.sweep.censored': (i: Sweep) => {
    const found = sloWall(underTpot(i))
    return { slo_wall: found?.load, censored: found?.reached === false }
  },
  'q7.sweep.none': (i: Sweep) => {
    const found = sloWall(underTpot(i))
    return { slo_wall: found?.load, reason: found?.load === null ? 'no_point_passes' : null }
  },
  'q7.sweep.tie': (i: { p99_tpot_ms: number; limit_ms: number }) => ({
    at_least_100_tok_s: keepsTokenFloor(i.p99_tpot_ms / 1000, 100),
    tpot_lt_10: i.p99_tpot_ms < i.limit_ms,
  }),
  'q7.fp.floor93': (i: { floor_tok_per_s: number; tpot_s: number }) => ({
    naive_1_over_tpot_ge_floor: 1 / i.tpot_s >= i.floor_tok_per_s,
    correct: keepsTokenFloor(i.tpot_s, i.floor_tok_per_s),
  }),
  'q7.percentile_flip': () => {
    const tpot = series(100, (i) => i + 1)
    const speed = tpot.map((ms) => 1000 / ms).sort((a, b) => a - b)
    return { p99_tpot_ms: percentile(tpot, '99'), p1_speed_tok_s: percentile(speed, '1') }
  },
  'q7.sweep.little': (i: { concurrency: number; tok_per_s: number }) => littleTpotMs(i.concurrency, i.tok_per_s),
  'q7.extra.requests': (i: {
    attempts: { status: string; ttft_ms: number | null; tpot_ms: number | null }[]
    duration_s: number
    slo: { ttft_lt_ms: number; tpot_lt_ms: number }
  }) => {
    const ok = i.attempts.filter(({ status }) => status === 'ok')
    const fast = ok.filter(({ ttft_ms }) => ttft_ms !== null && ttft_ms < i.slo.ttft_lt_ms)
    const paced = ok.filter(({ tpot_ms }) => tpot_ms === null || tpot_ms < i.slo.tpot_lt_ms)
    const good = fast.filter((attempt) => paced.includes(attempt)).length
    const rate = i.attempts.length / i.duration_s
    return {
      good,
      goodput_per_s: good / i.duration_s,
      share_of_attempts: good / i.attempts.length,
      product_form_per_s: independentGoodput(rate, ok.length / i.attempts.length, [
        fast.length / ok.length,
        paced.filter(({ tpot_ms }) => tpot_ms !== null).length / ok.filter(({ tpot_ms }) => tpot_ms !== null).length,
      ]),
    }
  },
  'q7.extra.kv_tokens': (i: {
    layers: number
    kv_heads: number
    head_dim: number
    bytes: number
    pool_gib: number
    tokens_per_request: number
  }) => {
    const shape = { layers: i.layers, kvHeads: i.kv_heads, headDim: i.head_dim, bytesPerElement: i.bytes }
    const pool = kvPoolTokens(i.pool_gib * 2 ** 30, shape)
    return {
      bytes_per_token: kvBytesPerToken(shape),
      pool_tokens: pool,
      memory_wall: memoryWall(pool, i.tokens_per_request),
    }
  },
  'q7.extra.kv_average': (i: { kv_pool_tokens: number; prompt: number; output: number }) => ({
    worst_case: memoryWall(i.kv_pool_tokens, i.prompt + i.output),
    average_hold: averageHoldWall(i.kv_pool_tokens, i.prompt, i.output),
  }),

  'q8.seed': (i: Need) => {
    const { usable, need, serving, total } = replicasFor(demand(i))
    return { usable: toNumber(usable), need: toNumber(need), serving, total }
  },
  'q8.manager': (i: Need) => replicasFor(demand(i)).total,
  'q8.uplift_reading': (i: Need) => {
    const { need, serving, total } = replicasFor(demand(i, { marginKind: 'uplift' }))
    return { need: toNumber(need), serving, total }
  },
  'q8.extra.0': exactAndNaive,
  'q8.extra.2': exactAndNaive,
  'q8.extra.3': exactAndNaive,
  'q8.extra.4': exactAndNaive,
  'q8.extra.5': exactAndNaive,
  'q8.edge.zero_peak': (i: Need) => replicasFor(demand(i)).total,
  'q8.edge.margin1': (i: { peak: string; per_gpu: string; margin: string }) =>
    refusedAsNull(() => replicasFor({ peak: i.peak, perReplica: i.per_gpu, margin: i.margin }).total),
  'q8.extra.zones': (i: { serving: number; zones: number; survive_zones: number }) =>
    replicasOverZones(i.serving, i.zones, i.survive_zones),
  'q8.extra.tp': (i: { replicas: number; gpus_per_replica: number }) => gpusFor(i.replicas, i.gpus_per_replica),
  'q8.extra.availability': (i: { need: number; replica_availability: number }) => ({
    n7: chanceEnoughUp(i.need, 7, i.replica_availability),
    n8: chanceEnoughUp(i.need, 8, i.replica_availability),
    n9: chanceEnoughUp(i.need, 9, i.replica_availability),
  }),
  'q8.extra.poisson_margin': (i: { mean_per_s: number; q: number; window_s: number[] }) =>
    i.window_s.map((seconds) => poissonPeakToMean(i.mean_per_s, seconds, i.q)),
  'q8.extra.margin_covers': (i: { mean_per_s: number; uplift: number; window_s: number }) =>
    upliftCovers(i.mean_per_s, i.window_s, i.uplift),
  'q8.extrapolate': (i: { requested: number; sweep_max_concurrency: number }) => {
    const allowed = insideTestedRange(i.requested, [{ load: i.sweep_max_concurrency }])
    return { allowed, reason: allowed ? null : 'outside_tested_range' }
  },
  'q8.extra.imbalance': (i: Need) => {
    const { need, total } = replicasFor(demand(i, { imbalance: i.imbalance as string }))
    return { need: toNumber(need), total }
  },
}
