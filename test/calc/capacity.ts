import { expect } from 'vitest'
import { calculateLine as calc } from '../../src/flows/calculators.ts'
import { type Compute, refusedAsNull } from '../goldens/golden.ts'
import { value, values } from './ask.ts'

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
interface Need {
  readonly peak: string
  readonly per_gpu: string
  readonly margin: string
  readonly failures?: number
  readonly imbalance?: string
  readonly kind?: string
}
interface Attempts {
  readonly rate: number
  readonly success: number
  readonly pass: number[]
}
const goodput = (i: Attempts): string => `goodput ${i.rate}/s ${i.success} ${i.pass.join(' ')}`
const walls = (sweep: readonly Tested[], more = ''): string =>
  `walls ${sweep.map((p) => `${p.concurrency}:${p.tok_per_s}:${p.p99_tpot_ms}ms:${p.p99_ttft_ms}ms`).join(' ')} ${more}`
const underTpot = (i: Sweep, more = ''): string => walls(i.sweep, `--tpot ${i.tpot_limit_ms}ms ${more}`)
const replicas = (i: Need): string =>
  `replicas ${i.peak}/s ${i.per_gpu}/s ${i.kind ?? 'derate'}:${i.margin} ${i.failures ?? 0}${i.imbalance === undefined ? '' : ` --imbalance ${i.imbalance}`}`
const exactServing = (i: Need): unknown => ({
  ...values(replicas(i), { serving: 'serving', total: 'replicas' }),
  // The mistake is computed here, not by the product.
  naive_float_serving: Math.ceil(Number(i.peak) / (Number(i.per_gpu) * (1 - Number(i.margin)))),
})

export const capacityLines: Readonly<Record<string, Compute>> = {
  'q7.goodput': (i: Attempts) => value(goodput(i), 'if_independent'),
  'q7.goodput_share': (i: Attempts) => value(goodput(i), 'if_independent_share'),
  'q7.frechet': (i: Attempts) =>
    values(goodput(i), {
      joint_lo: 'joint_low',
      joint_hi: 'joint_high',
      goodput_lo: 'goodput_low',
      goodput_hi: 'goodput_high',
    }),
  'q7.floor': (i: { tok_per_s_floor: number }) => value(`floor ${i.tok_per_s_floor}/s`, 'tpot_limit'),
  'q7.extra.joint': () => ({
    same_requests_fail: value('goodput --requests 85x400ms/25ms,5x400ms/35ms,10x600ms/35ms', 'share'),
    disjoint_requests_fail: value('goodput --requests 15x400ms/35ms,75x400ms/25ms,10x600ms/25ms', 'share'),
  }),
  'q7.extra.three_slos': (i: Attempts) =>
    values(goodput(i), { product: 'if_independent', lo: 'goodput_low', hi: 'goodput_high' }),
  'q7.extra.requests': (i: {
    attempts: { status: string; ttft_ms: number | null; tpot_ms: number | null }[]
    duration_s: number
  }) => {
    const said = i.attempts.map(({ status, ttft_ms, tpot_ms }) =>
      status === 'ok' ? `${ttft_ms}ms/${tpot_ms === null ? '-' : `${tpot_ms}ms`}` : status,
    )
    const ok = i.attempts.filter(({ status }) => status === 'ok')
    return {
      ...values(
        `goodput --requests ${said.join(',')} --slo 'ttft < 500ms and tpot < 30ms' --over ${i.duration_s}s`,
        {
          good: 'good',
          goodput_per_s: 'goodput',
          share_of_attempts: 'share',
        },
      ),
      product_form_per_s: value(
        `goodput 5/s ${ok.length / i.attempts.length} ${6 / 8} ${5 / 7}`,
        'if_independent',
      ),
    }
  },
  'q7.sweep.walls': (i: Sweep) =>
    values(underTpot(i, `--kv-tokens ${i.kv_pool_tokens} --request ${i.tokens_per_request}`), {
      peak_tok_per_s: 'peak_throughput',
      peak_at: 'peak',
      saturation_wall: 'saturation',
      slo_wall: 'slo',
      slo_wall_tok_per_s: 'slo_throughput',
      memory_wall: 'memory',
      capacity_concurrency: 'capacity',
      capacity_tok_per_s: 'capacity_throughput',
      binding: 'binding',
    }),
  'q7.sweep.memory_binds': (i: Sweep) =>
    values(underTpot(i, `--kv-tokens ${i.kv_pool_tokens} --request ${i.tokens_per_request}`), {
      memory_wall: 'memory',
      binding: 'binding',
      capacity_tested_concurrency: 'capacity',
      capacity_tok_per_s: 'capacity_throughput',
      interpolated_tok_per_s_at_28: 'interpolated_at_memory',
    }),
  'q7.sweep.saturation_eps': (i: { sweep: Tested[]; eps: number[] }) =>
    i.eps.map((eps) => value(walls(i.sweep, `--epsilon ${eps}`), 'saturation')),
  'q7.sweep.ttft_and_tpot': (i: {
    sweep: Tested[]
    slo: { p99_ttft_lt_ms: number; p99_tpot_lt_ms: number }
  }) =>
    values(walls(i.sweep, `--ttft '<${i.slo.p99_ttft_lt_ms}ms' --tpot '<${i.slo.p99_tpot_lt_ms}ms'`), {
      ttft_wall: 'slo_ttft',
      tpot_wall: 'slo_tpot',
      slo_wall: 'slo',
      tok_per_s: 'slo_throughput',
    }),
  'q7.sweep.nonmonotone': (i: Sweep) => {
    const found = calc(underTpot(i))
    expect(found.mistake).toContain('(40)')
    return {
      prefix_rule: found.results['slo']?.value,
      rightmost_rule: 40,
      warn: found.warnings.some(({ kind }) => kind === 'non_monotone_sweep') ? 'non_monotone' : null,
    }
  },
  'q7.sweep.censored': (i: Sweep) => ({
    slo_wall: value(underTpot(i), 'slo'),
    censored: value(underTpot(i), 'slo_reached') === false,
  }),
  'q7.sweep.none': (i: Sweep) => ({
    slo_wall: value(underTpot(i), 'slo'),
    reason: calc(underTpot(i)).answer.startsWith('No capacity: no tested load keeps the limit')
      ? 'no_point_passes'
      : null,
  }),
  'q7.sweep.tie': (i: { p99_tpot_ms: number; limit_ms: number }) => ({
    at_least_100_tok_s: value(`floor 100/s ${i.p99_tpot_ms}ms`, 'kept'),
    tpot_lt_10: value(`walls 1:1:${i.p99_tpot_ms}ms --tpot '<${i.limit_ms}ms'`, 'slo') !== null,
  }),
  'q7.fp.floor93': (i: { floor_tok_per_s: number; tpot_s: number }) => ({
    naive_1_over_tpot_ge_floor: 1 / i.tpot_s >= i.floor_tok_per_s,
    correct: value(`floor ${i.floor_tok_per_s}/s ${i.tpot_s}s`, 'kept'),
  }),
  'q7.sweep.little': (i: { concurrency: number; tok_per_s: number }) =>
    value(`floor --users ${i.concurrency} --throughput ${i.tok_per_s}/s`, 'implied_tpot'),
  'q7.extra.kv_tokens': (i: {
    layers: number
    kv_heads: number
    head_dim: number
    bytes: number
    pool_gib: number
    tokens_per_request: number
  }) =>
    values(
      `kv --pool ${i.pool_gib}GiB --layers ${i.layers} --kv-heads ${i.kv_heads} --head-dim ${i.head_dim} --bytes ${i.bytes} --request ${i.tokens_per_request}`,
      { bytes_per_token: 'bytes_per_token', pool_tokens: 'pool_tokens', memory_wall: 'memory_wall' },
    ),
  'q7.extra.kv_average': (i: { kv_pool_tokens: number; prompt: number; output: number }) =>
    values(`kv ${i.kv_pool_tokens} --prompt ${i.prompt} --output ${i.output}`, {
      worst_case: 'memory_wall',
      average_hold: 'average_wall',
    }),
  'q8.seed': (i: Need) =>
    values(replicas(i), { usable: 'usable', need: 'need', serving: 'serving', total: 'replicas' }),
  'q8.manager': (i: Need) => value(replicas(i), 'replicas'),
  'q8.uplift_reading': (i: Need) =>
    values(replicas(i), { need: 'need', serving: 'serving', total: 'replicas' }),
  'q8.extra.0': exactServing,
  'q8.extra.2': exactServing,
  'q8.extra.3': exactServing,
  'q8.extra.4': exactServing,
  'q8.extra.5': exactServing,
  'q8.edge.zero_peak': (i: Need) => value(replicas(i), 'replicas'),
  'q8.edge.margin1': (i: Need) => refusedAsNull(() => calc(replicas(i))),
  'q8.extra.zones': (i: { zones: number; survive_zones: number }) =>
    value(
      `replicas 40/s 8/s derate:20% 1 --zones ${i.zones} --survive-zones ${i.survive_zones}`,
      'over_zones',
    ),
  'q8.extra.tp': (i: { gpus_per_replica: number }) =>
    value(`replicas 40/s 8/s derate:20% 1 --gpus-per-replica ${i.gpus_per_replica}`, 'gpus'),
  'q8.extra.availability': (i: { replica_availability: number }) =>
    values(`replicas 40/s 8/s derate:20% 1 --availability ${i.replica_availability}`, {
      n7: 'enough_up_of_7',
      n8: 'enough_up_of_8',
      n9: 'enough_up_of_9',
    }),
  'q8.extra.poisson_margin': (i: { mean_per_s: number; window_s: number[] }) =>
    i.window_s.map((s) =>
      value(`replicas ${i.mean_per_s}/s 8/s derate:20% --window ${s}s`, 'poisson_peak_to_mean'),
    ),
  'q8.extra.margin_covers': (i: { mean_per_s: number; window_s: number }) =>
    value(`replicas ${i.mean_per_s}/s 8/s derate:20% --window ${i.window_s}s`, 'margin_covers'),
  'q8.extrapolate': (i: { requested: number; sweep_max_concurrency: number }) => {
    const found = calc(`replicas 40/s 8/s --asked ${i.requested} --tested ${i.sweep_max_concurrency}`)
    const isAllowed = found.results['inside_tested_range']?.value
    return {
      allowed: isAllowed,
      reason: isAllowed === true || found.warnings.length === 0 ? null : 'outside_tested_range',
    }
  },
  'q8.extra.imbalance': (i: Need) => values(replicas(i), { need: 'need', total: 'replicas' }),
}
