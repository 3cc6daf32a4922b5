import {
  decomposeLatency,
  endToEndMs,
  streamPauses,
  tpotAfterFirstEventMs,
  tpotMs,
  tpotResolutionMs,
  type LatencyParts,
} from '../../src/measure/metrics/decompose-latency.ts'
import {
  fitPrefill,
  marginalPrefillRate,
  prefillMs,
  twoPointError,
  twoPointPrefill,
  type PrefillPoint,
} from '../../src/measure/metrics/prefill-line.ts'
import { mean } from '../../src/stats/describe.ts'
import { percentile } from '../../src/stats/percentile.ts'
import { ratioOfSums } from '../../src/stats/ratio.ts'
import { series, type Compute } from './golden.ts'

interface Seconds {
  readonly ttft_s: number
  readonly tpot_s: number
  readonly n_out: number
}
interface Groups {
  readonly groups: readonly { readonly count: number; readonly n_out: number; readonly gap_ms: number | null }[]
}
interface Points {
  readonly points: readonly (readonly [number, number])[]
}

const parts = (s: Seconds): LatencyParts => ({ ttftMs: s.ttft_s * 1000, tpotMs: s.tpot_s * 1000, outputTokens: s.n_out })
const tpotSeconds = (i: { e2e_s: number; ttft_s: number; n_out: number }): number | null => {
  const found = tpotMs(i.e2e_s * 1000, i.ttft_s * 1000, i.n_out)
  return found === null ? null : found / 1000
}
const decomposed = (i: { x: Seconds; y: Seconds }): unknown => {
  const found = decomposeLatency(parts(i.x), parts(i.y))
  return {
    ttft_s: found.ttftMs / 1000,
    tpot_s: found.tpotMs / 1000,
    length_s: found.lengthMs / 1000,
    total_s: found.totalMs / 1000,
  }
}

/** Requests with a pace, as TPOT and gaps of each. */
const requests = ({ groups }: Groups): { pace: number[]; gapCount: number[]; gapTime: number[]; excluded: number } => {
  const paced = groups.filter(({ n_out, gap_ms }) => n_out > 1 && gap_ms !== null)
  const each = paced.flatMap(({ count, n_out, gap_ms }) =>
    series(count, () => n_out - 1).map((gaps) => ({ gaps, pace: gap_ms as number })),
  )
  return {
    pace: each.map(({ pace }) => pace),
    gapCount: each.map(({ gaps }) => gaps),
    gapTime: each.map(({ gaps, pace }) => gaps * pace),
    excluded: groups.reduce((sum, group) => sum + (paced.includes(group) ? 0 : group.count), 0),
  }
}
const perToken = (i: Groups): ReturnType<typeof ratioOfSums> => ratioOfSums(requests(i).gapTime, requests(i).gapCount)
const bothWeightings = (i: Groups): { per_request: number | null; per_token: number | undefined } => ({
  per_request: mean(requests(i).pace),
  per_token: perToken(i)?.ratio,
})
const tokenGaps = ({ groups }: Groups): number[] =>
  groups.flatMap(({ count, n_out, gap_ms }) => series(count * (n_out - 1), () => gap_ms as number)).sort((a, b) => a - b)

const prefillPoints = ({ points }: Points): PrefillPoint[] =>
  points.map(([promptTokens, ttftMs]) => ({ promptTokens, ttftMs }))
const ends = (points: readonly PrefillPoint[]): [PrefillPoint, PrefillPoint] => [
  points[0] as PrefillPoint,
  points.at(-1) as PrefillPoint,
]
const seedPoints = prefillPoints({ points: [[256, 23], [8000, 280]] })
const twoPoint = (points: readonly PrefillPoint[]): { tok_per_s: number | null | undefined; fixed_ms: number | undefined } => {
  const found = twoPointPrefill(...ends(points))
  return { tok_per_s: found?.tokensPerSecond, fixed_ms: found?.fixedMs }
}
/** What dividing one TTFT by its prompt says: the mistake. */
const naiveRate = (tokens: number, ttft: number): number => (1000 * tokens) / ttft

export const latencyGoldens: Readonly<Record<string, Compute>> = {
  'q1.x.e2e': (i: Seconds) => endToEndMs(parts(i)) / 1000,
  'q1.y.e2e': (i: Seconds) => endToEndMs(parts(i)) / 1000,
  'q1.ratio': (i: { x: number; y: number }) => i.x / i.y,
  'q1.tpot.key': tpotSeconds,
  'q1.tpot.wrong_n': (i: { e2e_s: number; ttft_s: number; n_out: number }) => (i.e2e_s - i.ttft_s) / i.n_out,
  'q1.x.tpot_from_rounded': tpotSeconds,
  'q1.y.tpot_from_rounded': tpotSeconds,
  'q1.y.rounding_halfwidth': (i: { e2e_halfwidth_s: number; n_out: number }) =>
    (tpotResolutionMs(i.e2e_halfwidth_s * 1000, i.n_out) as number) / 1000,
  'q1.decompose.seed': decomposed,
  'q1.extra.decompose': decomposed,
  'q1.extra.e2e_over_n': (i: { x: Seconds; y: Seconds }) => {
    const overN = (s: Seconds): number => endToEndMs(parts(s)) / 1000 / s.n_out
    return { x_s: overN(i.x), y_s: overN(i.y), y_over_x: overN(i.y) / overN(i.x) }
  },
  'q1.extra.tpot512': tpotSeconds,
  'q1.extra.n1': tpotSeconds,
  'q1.extra.first_chunk4': (i: { t_first_s: number; t_last_s: number; n_out: number; n_first_chunk: number }) =>
    (tpotAfterFirstEventMs(i.t_last_s * 1000, i.t_first_s * 1000, i.n_out, i.n_first_chunk) as number) / 1000,
  'q1.extra.first_chunk4_naive': (i: { t_first_s: number; t_last_s: number; n_out: number }) =>
    tpotSeconds({ e2e_s: i.t_last_s, ttft_s: i.t_first_s, n_out: i.n_out }),
  'q1.extra.stutter': () => {
    const gaps = [...series(99, () => 15), 515]
    const found = streamPauses(gaps)
    return {
      mean: found?.meanMs,
      p95: percentile(gaps, '95'),
      p99: percentile(gaps, '99'),
      p99_type7: percentile(gaps, '99', '7'),
      max: found?.maxMs,
      time_share_of_max: found?.worstShare,
      time_weighted_p95: found?.timeWeightedP95Ms,
    }
  },

  'q2.per_request': (i: Groups) => bothWeightings(i).per_request,
  'q2.per_token': (i: Groups) => bothWeightings(i).per_token,
  'q2.gaps': (i: Groups) => {
    const { gapCount, gapTime } = requests(i)
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
    return { short: sum(gapCount.slice(0, 50)), long: sum(gapCount.slice(50)), total: sum(gapCount), sum_ms: sum(gapTime) }
  },
  'q2.long_share': (i: Groups) => {
    const gaps = tokenGaps(i)
    return gaps.filter((gap) => gap === 10).length / gaps.length
  },
  'q2.spec': (i: { message_gap_ms: number; tokens_per_message: number }) =>
    ratioOfSums([i.message_gap_ms], [i.tokens_per_message])?.ratio,
  'q2.wrong.n_not_n1': ({ groups }: Groups) =>
    groups.reduce((sum, g) => sum + g.count * g.n_out * (g.gap_ms as number), 0) /
    groups.reduce((sum, g) => sum + g.count * g.n_out, 0),
  'q2.wrong.no_multiplicity': ({ groups }: Groups) =>
    groups.reduce((sum, g) => sum + (g.n_out - 1) * (g.gap_ms as number), 0) /
    groups.reduce((sum, g) => sum + g.n_out - 1, 0),
  'q2.percentiles': (i: Groups) => {
    const pace = requests(i).pace.sort((a, b) => a - b)
    const tokens = tokenGaps(i)
    return {
      req_p16: percentile(pace, '16'),
      req_p17: percentile(pace, '17'),
      req_p50: percentile(pace, '50'),
      req_p99: percentile(pace, '99'),
      tok_p50: percentile(tokens, '50'),
      tok_p91: percentile(tokens, '91'),
      tok_p92: percentile(tokens, '92'),
    }
  },
  'q2.per_token.se': (i: Groups) => perToken(i)?.se,
  'q2.neff': (i: Groups) => perToken(i)?.nEff,
  'q2.extra.n1': (i: Groups) => ({ ...bothWeightings(i), excluded: requests(i).excluded }),
  'q2.extra.reverse': bothWeightings,
  'q2.extra.spec_variable': ({ messages }: { messages: readonly { gap_ms: number; tokens: number }[] }) => {
    const gaps = messages.map(({ gap_ms }) => gap_ms)
    const tokens = messages.map(({ tokens }) => tokens)
    return {
      tpot_ms: ratioOfSums(gaps, tokens)?.ratio,
      mean_of_ratios_wrong: mean(messages.map(({ gap_ms, tokens }) => gap_ms / tokens)),
      mean_message_gap_ms: mean(gaps),
    }
  },

  'q3.two_point': (i: Points) => twoPoint(prefillPoints(i)),
  'q3.deltas': ({ points: [a, b] }: { points: [[number, number], [number, number]] }) => ({
    dtokens: b[0] - a[0],
    dms: b[1] - a[1],
  }),
  'q3.prefill_256_ms': (i: { tokens: number }) => prefillMs(i.tokens, twoPoint(seedPoints).tok_per_s as number),
  'q3.seed_rounded': (i: { tok_per_s: number; tokens: number; ttft_ms: number }) => {
    const prefill = prefillMs(i.tokens, i.tok_per_s)
    return { prefill_ms: prefill, fixed_ms: i.ttft_ms - prefill }
  },
  'q3.naive': (i: { tokens: number; ttft_ms: number }) => naiveRate(i.tokens, i.ttft_ms),
  'q3.naive_ratio': () => (twoPoint(seedPoints).tok_per_s as number) / naiveRate(256, 23),
  'q3.se': (i: Points & { se_ms: number }) => {
    const found = twoPointError(...ends(prefillPoints(i)), i.se_ms)
    return {
      slope_se_ms_per_tok: found?.slopeSeMsPerToken,
      throughput_rel_se: found?.rateRelativeSe,
      fixed_se_ms: found?.fixedSeMs,
    }
  },
  'q3.extra.ols': (i: Points) => {
    const found = fitPrefill(prefillPoints(i))?.leastSquares
    return {
      tok_per_s: found?.tokensPerSecond,
      fixed_ms: found?.fixedMs,
      slope_se: found?.line.slopeSe,
      intercept_se: found?.line.interceptSe,
      r2: found?.line.r2,
    }
  },
  'q3.extra.theilsen_outlier': (i: Points) => {
    const found = fitPrefill(prefillPoints(i))
    return {
      theil_sen_tok_per_s: found?.robust.tokensPerSecond,
      ols_tok_per_s: found?.leastSquares.tokensPerSecond,
      fixed_ms_median_residual: found?.robust.fixedMs,
    }
  },
  'q3.extra.quadratic': (i: { a_ms: number; b_ms_per_tok: number; c_ms_per_tok2: number; at: [number, number] }) => {
    const ttft = (tokens: number): number => i.a_ms + i.b_ms_per_tok * tokens + i.c_ms_per_tok2 * tokens * tokens
    const points = i.at.map((promptTokens) => ({ promptTokens, ttftMs: ttft(promptTokens) }))
    const curve = { linear: i.b_ms_per_tok, quadratic: i.c_ms_per_tok2 }
    return {
      two_point_tok_per_s: twoPoint(points).tok_per_s,
      marginal_at_0: marginalPrefillRate(curve, 0),
      marginal_at_8000: marginalPrefillRate(curve, 8000),
      two_point_fixed_ms: twoPoint(points).fixed_ms,
    }
  },
  'q3.extra.chunked_prefill': (i: { a_ms: number; tok_per_s: number; chunk: number; ms_per_chunk: number }) => {
    const ttft = (tokens: number): number =>
      i.a_ms + prefillMs(tokens, i.tok_per_s) + i.ms_per_chunk * Math.ceil(tokens / i.chunk)
    return twoPoint([256, 8000].map((promptTokens) => ({ promptTokens, ttftMs: ttft(promptTokens) })))
  },
}
