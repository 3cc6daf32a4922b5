import { exponential, sfc32 } from '../../src/base/random.ts'
import type { LatencyParts } from '../../src/measure/metrics/decompose-latency.ts'
import {
  averagedPercentiles,
  closedLoopOverload,
  coordinatedOmission,
  fewSamples,
  lengthConfounded,
  messagesNotTokens,
  mixShift,
  notSteady,
  prefixCache,
  proxyBuffering,
  pseudoReplication,
  saturatedInFlight,
  survivorsOnly,
  type TrapFinding,
} from '../../src/judge/traps.ts'
import { saturationPoint, throughputBound } from '../../src/stats/queueing.ts'
import { slopeTest } from '../../src/stats/regression.ts'
import { blockBootstrap } from '../../src/stats/resampling.ts'
import { fitScalability, flowBalance, kleinrockKnee, kneedle } from '../../src/stats/saturation.ts'
import { classifySteadyState, mser } from '../../src/stats/steady-state.ts'
import { windowCounts } from '../../src/stats/window.ts'
import { noise, series, type Compute } from './golden.ts'

const slope = (i: { in_flight_per_s: number[] }): unknown => {
  const found = slopeTest(i.in_flight_per_s)
  return { slope: found?.slope, lo: found?.low, hi: found?.high, saturated: found?.growing }
}
const balance = (i: { arrivals: number; completions: number }): unknown => flowBalance(i.arrivals, i.completions)
interface Sweep {
  readonly sweep: readonly { concurrency: number; tok_per_s: number; p99_tpot_ms: number }[]
}
const points = ({ sweep }: Sweep): { load: number; throughput: number; latency: number }[] =>
  sweep.map((point) => ({ load: point.concurrency, throughput: point.tok_per_s, latency: point.p99_tpot_ms }))

const shapes: Readonly<Record<string, (i: number) => number>> = {
  warmup: (i) => 100 + 60 * Math.exp(-i / 15),
  flat: () => 100,
  trend: (i) => 100 + 0.5 * i,
  late_shift: (i) => 100 + 40 * Number(i >= 200),
}
const described = (name: string): number[] => series(300, (i) => (shapes[name] as (i: number) => number)(i) + noise(i))
const steady =
  (name: string) =>
  (i: { batch: number }): unknown => {
    const found = classifySteadyState(described(name), { batch: i.batch })
    return {
      batches: found.mser?.batches,
      d_star: found.mser?.cutBatches,
      truncate_obs: (found.mser?.cutBatches ?? 0) * i.batch,
      d_star_unrestricted: found.mser?.unrestrictedCutBatches,
      half_drift: found.halfDrift,
      half_p: found.halfP,
      class: found.kind,
    }
  }

const trap = ({ fires, stat }: TrapFinding): unknown => ({ fires, stat })
/** Both halves of a trap: the same computation must fire on one and not on the other. */
const hitAndMiss = (name: string, compute: Compute): Record<string, Compute> => ({
  [`trap.${name}.hit`]: compute,
  [`trap.${name}.miss`]: compute,
})
interface Seconds {
  readonly ttft_s: number
  readonly tpot_s: number
  readonly n_out: number
}
const parts = (s: Seconds): LatencyParts => ({ ttftMs: s.ttft_s * 1000, tpotMs: s.tpot_s * 1000, outputTokens: s.n_out })

export const seriesGoldens: Readonly<Record<string, Compute>> = {
  'sat.slope.saturated': slope,
  'sat.slope.stable': slope,
  'sat.balance': balance,
  'sat.balance_ok': balance,
  'sat.usl_exact': (i: { points: [number, number][] }) => {
    const found = fitScalability(i.points.map(([load, throughput]) => ({ load, throughput })))
    return { lambda: found?.lambda, sigma: found?.sigma, kappa: found?.kappa, n_star: found?.peakLoad }
  },
  'sat.kleinrock': (i: Sweep) => ({ argmax_concurrency: kleinrockKnee(points(i)) }),
  'sat.kneedle': (i: Sweep) => [kneedle(points(i), 'linear'), kneedle(points(i), 'log2')],
  'sat.asymptotic': (i: { d_s: number; dmax_s: number; think_s: number }) => ({
    n_star: saturationPoint(i.d_s, i.dmax_s, i.think_s),
    x_bound_n32: throughputBound(32, i.d_s, i.dmax_s, i.think_s),
  }),

  'steady.mser5.warmup': steady('warmup'),
  'steady.mser5.flat': steady('flat'),
  'steady.mser5.late_shift': steady('late_shift'),
  'steady.mser1.small': (i: { xs: number[]; batch: number }) => {
    const found = mser(i.xs, i.batch)
    return { d_star: found?.cutBatches, objective: found?.objective }
  },
  'steady.censoring': (i: { window_s: number; service_s: number; rate: number }) => {
    const found = windowCounts(i.window_s, i.service_s, i.rate)
    return [{ requests: found.finishedInside }, { requests: found.arrived }]
  },

  'rng.sfc32': ({ state: [a, b, c, counter] }: { state: [number, number, number, number] }) => {
    const random = sfc32(a, b, c, 0, counter)
    return series(20, () => random.nextUint32())
  },
  'rng.poisson_schedule': (i: { state: [number, number, number, number]; discard: number; rate_per_s: number; n: number }) => {
    const [a, b, c, counter] = i.state
    const random = sfc32(a, b, c, i.discard, counter)
    let at = 0
    return series(i.n, () => (at += exponential(random) / i.rate_per_s))
  },
  'rng.block_bootstrap_p90': (i: { xs: number[]; block: number; reps: number; state: [number, number, number, number]; discard: number }) => {
    const [a, b, c, counter] = i.state
    const found = blockBootstrap(i.xs, '90', { block: i.block, resamples: i.reps }, sfc32(a, b, c, i.discard, counter))
    return { est: found?.estimate, lo: found?.low, hi: found?.high, mean: found?.mean }
  },

  ...hitAndMiss('coordinated_omission', (i: { scheduled_ms: number[]; sent_ms: number[]; median_latency_ms: number }) =>
    trap(coordinatedOmission(i.scheduled_ms, i.sent_ms, i.median_latency_ms)),
  ),
  ...hitAndMiss('closed_loop_overload', (i: { n: number; w_s: number; target_rate: number }) =>
    trap(closedLoopOverload(i.n, i.w_s, i.target_rate)),
  ),
  ...hitAndMiss('few_samples', (i: { n: number; p: string }) => trap(fewSamples(i.n, i.p))),
  ...hitAndMiss('averaged_percentiles', (i: { p99s: number[] }) => trap(averagedPercentiles(i.p99s))),
  ...hitAndMiss(
    'mix_shift',
    (i: { before: number[]; after: number[]; segment_change: number[]; blended_change: number }) =>
      trap(mixShift(i.before, i.after, i.segment_change, i.blended_change)),
  ),
  'trap.not_steady.hit': () => trap(notSteady(described('trend'))),
  'trap.not_steady.miss': () => trap(notSteady(described('flat'))),
  ...hitAndMiss('saturated', (i: { in_flight_per_s: number[] }) => trap(saturatedInFlight(i.in_flight_per_s))),
  ...hitAndMiss('messages_not_tokens', (i: { messages: number; usage_tokens: number }) =>
    trap(messagesNotTokens(i.messages, i.usage_tokens)),
  ),
  ...hitAndMiss('length_confounded', (i: { a: Seconds; b: Seconds }) => trap(lengthConfounded(parts(i.a), parts(i.b)))),
  ...hitAndMiss('survivors_only', (i: { total: number; failed_or_timed_out: number; p: string }) =>
    trap(survivorsOnly(i.total, i.failed_or_timed_out, i.p)),
  ),
  ...hitAndMiss('proxy_buffering', (i: { gaps_ms: number[] }) => trap(proxyBuffering(i.gaps_ms))),
  ...hitAndMiss('pseudo_replication', (i: { runs: number[][] }) => trap(pseudoReplication(i.runs))),
  ...hitAndMiss('prefix_cache', (i: { first_seen_ttft_ms: number[]; repeat_ttft_ms: number[] }) =>
    trap(prefixCache(i.first_seen_ttft_ms, i.repeat_ttft_ms)),
  ),
}
