import { expect } from 'vitest'
import { type Compute } from '../goldens/golden.ts'
import { value, number, values, mistake, type Point } from './ask.ts'

interface Seconds {
  readonly ttft_s: number
  readonly tpot_s: number
  readonly n_out: number
}
interface Groups {
  readonly groups: readonly {
    readonly count: number
    readonly n_out: number
    readonly gap_ms: number | null
  }[]
}
const latency = (s: Seconds): string => `latency ${s.ttft_s}s ${s.tpot_s}s ${s.n_out}`
const than = (s: Seconds): string => `--than ${s.ttft_s}s,${s.tpot_s}s,${s.n_out}`
const tpotSeconds = (i: { e2e_s: number; ttft_s: number; n_out: number }): unknown => {
  const found = value(`tpot ${i.e2e_s}s ${i.ttft_s}s ${i.n_out}`, 'tpot')
  return found === null ? null : (found as number) / 1000
}
const decomposed = (i: { x: Seconds; y: Seconds }): unknown =>
  values(`${latency(i.x)} ${than(i.y)}`, {
    ttft_s: 'from_ttft',
    tpot_s: 'from_tpot',
    length_s: 'from_length',
    total_s: 'difference',
  })
const weighting = ({ groups }: Groups): string =>
  `weighting ${groups.map((g) => `${g.count}x${g.n_out}${g.gap_ms === null ? '' : `@${g.gap_ms}ms`}`).join(' ')}`
const prefill = (points: readonly Point[]): string =>
  `prefill ${points.map(([n, ms]) => `${n}:${ms}ms`).join(' ')}`
const seedPoints: readonly Point[] = [
  [256, 23],
  [8000, 280],
]
const twoPoint = (points: readonly Point[]): unknown =>
  values(prefill(points), { tok_per_s: 'rate', fixed_ms: 'fixed' })

export const requestsLines: Readonly<Record<string, Compute>> = {
  'q1.x.e2e': (i: Seconds) => value(latency(i), 'e2e'),
  'q1.y.e2e': (i: Seconds) => value(latency(i), 'e2e'),
  'q1.ratio': () => value('latency 0.3s 20ms 400 --than 0.3s,20ms,85', 'ratio'),
  'q1.tpot.key': tpotSeconds,
  'q1.x.tpot_from_rounded': tpotSeconds,
  'q1.y.tpot_from_rounded': tpotSeconds,
  'q1.y.rounding_halfwidth': (i: { e2e_halfwidth_s: number; n_out: number }) =>
    number(`tpot 2s 0.3s ${i.n_out} --rounding ${2 * i.e2e_halfwidth_s}s`, 'resolution') / 1000,
  'q1.decompose.seed': decomposed,
  'q1.extra.decompose': decomposed,
  'q1.extra.tpot512': tpotSeconds,
  'q1.extra.n1': tpotSeconds,
  'q1.extra.first_chunk4': (i: {
    t_first_s: number
    t_last_s: number
    n_out: number
    n_first_chunk: number
  }) =>
    number(
      `tpot ${i.t_last_s}s ${i.t_first_s}s ${i.n_out} --first-tokens ${i.n_first_chunk}`,
      'tpot_after_first_event',
    ) / 1000,
  'q1.extra.first_chunk4_naive': (i: { t_first_s: number; t_last_s: number; n_out: number }) =>
    tpotSeconds({ e2e_s: i.t_last_s, ttft_s: i.t_first_s, n_out: i.n_out }),
  'q1.extra.stutter': () =>
    values('tpot 2.3s 0.3s 101 --gaps 99x15ms,515ms', {
      mean: 'gap_mean',
      p95: 'gap_p95',
      p99: 'gap_p99',
      p99_type7: 'gap_p99_interpolated',
      max: 'gap_max',
      time_share_of_max: 'longest_gap_share',
      time_weighted_p95: 'gap_p95_of_time',
    }),
  'q2.per_request': (i: Groups) => value(weighting(i), 'per_request'),
  'q2.per_token': (i: Groups) => value(weighting(i), 'per_token'),
  'q2.gaps': (i: Groups) => ({
    ...values(weighting(i), { short: 'group_1_gaps', long: 'group_2_gaps', total: 'gaps' }),
    sum_ms: number(weighting(i), 'stream_time') * 1000,
  }),
  'q2.long_share': (i: Groups) => value(weighting(i), 'group_2_share_of_gaps'),
  'q2.spec': (i: { message_gap_ms: number; tokens_per_message: number }) =>
    value(`chunks --gap ${i.message_gap_ms}ms --tokens ${i.tokens_per_message}`, 'tpot'),
  'q2.percentiles': (i: Groups) =>
    values(`${weighting(i)} --percentiles 16 17 91 92`, {
      req_p16: 'request_p16',
      req_p17: 'request_p17',
      req_p50: 'request_p50',
      req_p99: 'request_p99',
      tok_p50: 'token_p50',
      tok_p91: 'token_p91',
      tok_p92: 'token_p92',
    }),
  'q2.per_token.se': (i: Groups) => value(weighting(i), 'per_token_se'),
  'q2.neff': (i: Groups) => value(weighting(i), 'effective_requests'),
  'q2.extra.n1': (i: Groups) =>
    values(weighting(i), { per_request: 'per_request', per_token: 'per_token', excluded: 'excluded' }),
  'q2.extra.reverse': (i: Groups) =>
    values(weighting(i), { per_request: 'per_request', per_token: 'per_token' }),
  'q2.extra.spec_variable': ({ messages }: { messages: readonly { gap_ms: number; tokens: number }[] }) => {
    const line = `chunks ${messages.map((m) => `${m.gap_ms}ms:${m.tokens}`).join(' ')}`
    expect(mistake(line)).toContain('16.333 ms')
    return {
      ...values(line, { tpot_ms: 'tpot', mean_message_gap_ms: 'message_gap' }),
      mean_of_ratios_wrong: 49 / 3,
    }
  },
  'q3.two_point': (i: { points: Point[] }) => twoPoint(i.points),
  'q3.deltas': (i: { points: Point[] }) =>
    values(prefill(i.points), { dtokens: 'delta_tokens', dms: 'delta_ttft' }),
  'q3.prefill_256_ms': (i: { tokens: number }) =>
    value(`${prefill(seedPoints)} --at ${i.tokens}`, 'prefill_at'),
  'q3.seed_rounded': (i: { tok_per_s: number; tokens: number; ttft_ms: number }) =>
    values(`prefill --rate ${i.tok_per_s}/s --at ${i.tokens} --ttft ${i.ttft_ms}ms`, {
      prefill_ms: 'prefill_at',
      fixed_ms: 'fixed',
    }),
  'q3.naive_ratio': () => value(prefill(seedPoints), 'over_one_point'),
  'q3.se': (i: { points: Point[]; se_ms: number }) =>
    values(`${prefill(i.points)} --error ${i.se_ms}ms`, {
      slope_se_ms_per_tok: 'slope_se',
      throughput_rel_se: 'rate_relative_se',
      fixed_se_ms: 'fixed_se',
    }),
  'q3.extra.ols': (i: { points: Point[] }) =>
    values(prefill(i.points), {
      tok_per_s: 'least_squares_rate',
      fixed_ms: 'least_squares_fixed',
      slope_se: 'least_squares_slope_se',
      intercept_se: 'least_squares_fixed_se',
      r2: 'r2',
    }),
  'q3.extra.theilsen_outlier': (i: { points: Point[] }) =>
    values(prefill(i.points), {
      theil_sen_tok_per_s: 'rate',
      ols_tok_per_s: 'least_squares_rate',
      fixed_ms_median_residual: 'fixed',
    }),
  'q3.extra.quadratic': (i: {
    a_ms: number
    b_ms_per_tok: number
    c_ms_per_tok2: number
    at: [number, number]
  }) => {
    const point = (n: number): Point => [n, i.a_ms + i.b_ms_per_tok * n + i.c_ms_per_tok2 * n * n]
    const ends = i.at.map(point)
    const curved = prefill([256, 2000, 4000, 8000].map(point))
    return {
      ...values(prefill(ends), { two_point_tok_per_s: 'rate', two_point_fixed_ms: 'fixed' }),
      ...values(curved, { marginal_at_0: 'marginal_at_0', marginal_at_8000: 'marginal_at_longest' }),
    }
  },
  'q3.extra.chunked_prefill': (i: { a_ms: number; tok_per_s: number; chunk: number; ms_per_chunk: number }) =>
    twoPoint(
      [256, 8000].map(
        (n) => [n, i.a_ms + (1000 * n) / i.tok_per_s + i.ms_per_chunk * Math.ceil(n / i.chunk)] as const,
      ),
    ),
}
