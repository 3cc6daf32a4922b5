import { ar1Iact, exceedanceIact, tailClusters } from '../../src/stats/autocorrelation.ts'
import { tailClustersForEstimate } from '../../src/stats/effective-interval.ts'
import { classicQuantile, mergeClassic, type ClassicBucket } from '../../src/stats/classic-histogram.ts'
import { mean } from '../../src/stats/describe.ts'
import {
  exponentialBase,
  exponentialRelativeError,
  geometricPosition,
  largestScale,
} from '../../src/stats/exponential-histogram.ts'
import { logBucketCount, logBucketKey, logBucketValue } from '../../src/stats/log-bucket-sketch.ts'
import { highestEquivalent, logLinearLayout } from '../../src/stats/log-linear-histogram.ts'
import { nearestRank, percentile, type PercentileType } from '../../src/stats/percentile.ts'
import { earlyStoppingTotal, orderStatisticInterval, samplesNeeded, sloProof } from '../../src/stats/percentile-interval.ts'
import { series, type Compute } from './golden.ts'

const allTypes = (i: { xs: number[]; p: string }): unknown =>
  Object.fromEntries(series(9, (t) => t + 1).map((t) => [`type${t}`, percentile(i.xs, i.p, String(t) as PercentileType)]))
const rank = (i: { p: string; n: number }): unknown => ({
  rank: nearestRank(i.n, i.p),
  naive_float_ceil: Math.ceil((Number(i.p) / 100) * i.n),
})
/** The rules of other tools, 1-based values so that a rank is its value. */
const peerRules = (n: number, p: number): Record<string, number | null> => {
  const values = series(n, (i) => i + 1)
  let sum = 0
  const cumulative = values.map(() => (sum += 1 / n))
  return {
    nearest_rank: percentile(values, String(p)),
    numpy_linear: percentile(values, String(p), '7'),
    mlperf_oha_floor_index: percentile(values, String(p), 'floor'),
    guidellm_cumsum_float: cumulative.findIndex((share) => share >= p / 100) + 1,
    node_perf_hooks_round: Math.floor((p / 100) * n + 0.5),
    ddsketch_lower_rank: Math.floor((p / 100) * (n - 1)) + 1,
    k6_linear: percentile(values, String(p), '7'),
  }
}
const picked = (all: Record<string, unknown>, ...keys: string[]): unknown =>
  Object.fromEntries(keys.map((key) => [key, all[key]]))
const interval = (i: { p: string; n: number; conf: string }): unknown => {
  const found = orderStatisticInterval(i.n, i.p, i.conf)
  return { lo_rank: found.lowRank, hi_rank: found.highRank, coverage: found.coverage }
}
const table = (i: { p: string }): unknown => {
  const found = samplesNeeded(i.p, '0.95')
  return {
    n_100_beyond: found.hundredBeyond,
    n_10pct_exact: found.tenPercent,
    n_10_beyond: found.tenBeyond,
    n_upper95_exists: found.oneSidedUpper,
    n_two_sided95_exists: found.twoSided,
    n_upper99_exists_mlperf_h0: samplesNeeded(i.p, '0.99').oneSidedUpper,
  }
}
const buckets = (rows: readonly (readonly [number | string, number])[]): ClassicBucket[] =>
  rows.map(([bound, count]) => [Number(bound), count])
const quantile = (i: { buckets: [number | string, number][]; q: number }): number | null =>
  classicQuantile(buckets(i.buckets), i.q).value

export const percentileGoldens: Readonly<Record<string, Compute>> = {
  'pct.hf.p25': allTypes,
  'pct.hf.p50': allTypes,
  'pct.hf.p95': allTypes,
  'pct.hf.p99': allTypes,
  'pct.rank.p99.9.n1000': rank,
  'pct.rank.p55.n100': rank,
  'pct.rank.p99.n100': rank,
  'pct.rank.p99.n300': rank,
  'pct.rank.p50.n2': rank,
  'pct.rank.p0.n5': rank,
  'pct.rank.p100.n5': rank,
  'pct.peers.n300_p99': () => peerRules(300, 99),
  'pct.peers.n100_p999': () =>
    picked(
      peerRules(100, 99.9),
      'nearest_rank',
      'numpy_linear',
      'mlperf_oha_floor_index',
      'node_perf_hooks_round',
      'ddsketch_lower_rank',
    ),
  'pct.ci.p50.n5': interval,
  'pct.ci.p50.n6': interval,
  'pct.ci.p50.n10': interval,
  'pct.ci.p90.n100': interval,
  'pct.ci.p99.n100': interval,
  'pct.ci.p99.n368': interval,
  'pct.ci.p99.n2000': interval,
  'pct.ci.p99.9.n3687': interval,
  'pct.ci.p99.9.n3688': interval,
  'pct.ci.p99.9.n10000': interval,
  'pct.n_table.p50': table,
  'pct.n_table.p75': table,
  'pct.n_table.p95': table,
  'pct.n_table.p99': table,
  'pct.n_table.p99.9': table,
  'pct.n_table.p99.99': table,
  'pct.mlperf.h': (i: { confidence: number }) => ({
    p99_t0: earlyStoppingTotal('99', i.confidence, 0),
    p90_t1_total: earlyStoppingTotal('90', i.confidence, 1),
    p99_t1_total: earlyStoppingTotal('99', i.confidence, 1),
    p99_t5_total: earlyStoppingTotal('99', i.confidence, 5),
  }),
  'pct.slo_proof': (i: { n: number; over: number; slo_p: string }) => {
    const found = sloProof(i.n, i.over, i.slo_p)
    return { p_value: found?.pValue, proven_95: found?.proven, cp_upper95_one_sided: found?.overShareUpper }
  },
  'pct.slo_proof_4_5': (i: { n: number; over: number[]; slo_p: string }) =>
    i.over.map((over) => sloProof(i.n, over, i.slo_p)?.proven),
  'pct.iact.ar1': (i: { rho: number[] }) => i.rho.map(ar1Iact),
  'pct.neff': (i: { n: number; iact: number }) => i.n / i.iact,
  'pct.tail_clusters': (i: { cases: [number, string, number][] }) =>
    i.cases.map(([n, p, tau]) => {
      const clusters = tailClusters(n, p, tau)
      return { clusters, enough: clusters >= tailClustersForEstimate }
    }),
  'pct.iact.indicator': (i: { threshold: number }) => {
    const values = series(120, (k) => 10 + 30 * Number(Math.floor(k / 6) % 4 === 3))
    const found = exceedanceIact(values, i.threshold)
    return { tau: found.tau, window: found.window, n_eff: found.nEff }
  },

  'hist.prom.doc': quantile,
  'hist.prom.tpot_trap': (i: { buckets: [number | string, number][]; q: number[] }) =>
    i.q.map((q) => quantile({ buckets: i.buckets, q })),
  'hist.prom.inf': quantile,
  'hist.prom.merge': (i: { replicas: [number, number][][]; q: number }) => ({
    merged: classicQuantile(mergeClassic(i.replicas.map(buckets)), i.q).value,
    avg_of_quantiles_wrong: mean(i.replicas.map((rows) => quantile({ buckets: rows, q: i.q }) as number)),
  }),
  'hist.exp.base': (i: { scale: number[] }) =>
    i.scale.map((scale) => ({ base: exponentialBase(scale), rel_err_mid: exponentialRelativeError(scale) })),
  'hist.exp.range160': (i: { max_buckets: number; range: [number, number] }) => {
    const scale = largestScale(...i.range, i.max_buckets)
    return { max_scale: scale, rel_err: exponentialRelativeError(scale) }
  },
  'hist.native.exp_interp': (i: { lower: number; upper: number; fraction: number }) => ({
    exponential: geometricPosition(i.lower, i.upper, i.fraction),
    linear: i.lower + (i.upper - i.lower) * i.fraction,
  }),
  'hist.dd.map': (i: { alpha: number; values: number[] }) =>
    i.values.map((value) => {
      const key = logBucketKey(value, i.alpha)
      return { key, value: logBucketValue(key, i.alpha) }
    }),
  'hist.dd.bins': (i: { alpha: number[]; range: [number, number] }) =>
    i.alpha.map((alpha) => logBucketCount(...i.range, alpha)),
  'hist.hdr.equiv': (i: { digits: 3; values: number[] }) => {
    const layout = logLinearLayout(3_600_000_000, i.digits)
    return i.values.map((value) => highestEquivalent(layout, value))
  },
  'hist.hdr.len': (i: { highest: number; digits: 3 }) => {
    const { subBuckets, buckets: count, counters } = logLinearLayout(i.highest, i.digits)
    return { sub_buckets: subBuckets, buckets: count, counts_len: counters }
  },
}
