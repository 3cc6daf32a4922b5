import {
  backlog,
  backlogDeviation,
  closedThroughput,
  closedUsers,
  drainTime,
  fifoWait,
  growthFactor,
  little,
  mm1,
  multiServer,
  pollaczekKhinchine,
} from '../../src/stats/queueing.ts'
import { mean } from '../../src/stats/describe.ts'
import { percentile, sortAscending, type PercentileType } from '../../src/stats/percentile.ts'
import { elasticity, flatElasticity } from '../../src/stats/saturation.ts'
import {
  backfillOmitted,
  scheduledClient,
  stallPercentile,
  waitingClient,
  type StallExperiment,
} from '../../src/stats/stall.ts'
import { series, type Compute } from './golden.ts'

/** 5 requests a second for 60 s, the server frozen from 10 s to 13 s. */
const seedStall = (serviceMs: number, more: Partial<StallExperiment> = {}): StallExperiment => ({
  intervalMs: 200,
  requests: 300,
  stallStartMs: 10_000,
  stallMs: 3000,
  serviceMs,
  ...more,
})
const seen = (experiment: StallExperiment): Float64Array => sortAscending(scheduledClient(experiment).latenciesMs)
const congestion = (i: { servers: number; rho: number }): unknown => {
  const found = multiServer(i.servers, i.rho)
  return { p_wait: found?.waitProbability, w_over_s: found?.timeOverService }
}
const p99Seconds = (values: readonly number[], type: PercentileType = '1'): number =>
  (percentile(sortAscending(values), '99', type) as number) / 1000

export const loadGoldens: Readonly<Record<string, Compute>> = {
  'q4.throughput': (i: { n: number; w_s: number }) => closedThroughput(i.n, i.w_s),
  'q4.growth': (i: { arrivals: number; completions: number }) => backlog(i.arrivals, i.completions, 1),
  'q4.backlog60': (i: { arrivals: number; completions: number; t_s: number }) =>
    backlog(i.arrivals, i.completions, i.t_s),
  'q4.wait_at_60': (i: { backlog: number; completions: number }) => fifoWait(i.backlog, i.completions),
  'q4.little_L': (i: { lambda: number; w_s: number }) => little(i.lambda, i.w_s),
  'q4.stall.counts': (i: { rate: number; duration_s: number; stall_s: number }) => {
    const experiment = seedStall(0, {
      intervalMs: 1000 / i.rate,
      requests: i.rate * i.duration_s,
      stallMs: i.stall_s * 1000,
    })
    const { slow } = scheduledClient(experiment)
    return {
      scheduled: experiment.requests,
      slow_open: slow,
      slow_share: slow / experiment.requests,
      slow_waiting_client: waitingClient(experiment, 'skip').slow,
    }
  },
  'q4.stall.open_p99': (i: { service_s: number }) => {
    const values = seen(seedStall(i.service_s * 1000))
    const at = (p: string): number => (percentile(values, p) as number) / 1000
    return {
      p99_nearest_rank: at('99'),
      p95_nearest_rank: at('95'),
      p96_nearest_rank: at('96'),
      max: at('100'),
      mean: (mean(values) as number) / 1000,
    }
  },
  'q4.stall.types': () => {
    const values = [...series(285, () => 0), ...series(15, (k) => 200 * (k + 1))]
    return {
      ...Object.fromEntries(
        (['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const).map((type) => [`type${type}`, p99Seconds(values, type)]),
      ),
      floor_index_mlperf_oha: p99Seconds(values, 'floor'),
    }
  },
  'q4.stall.open_serial_50ms': (i: { service_ms: number }) =>
    p99Seconds(scheduledClient(seedStall(i.service_ms, { server: 'serial' })).latenciesMs),
  'q4.stall.open_20ms': (i: { service_ms: number }) => p99Seconds(scheduledClient(seedStall(i.service_ms)).latenciesMs),
  'q4.stall.wait_skip': (i: { service_ms: number }) => {
    const { latenciesMs, slow } = waitingClient(seedStall(i.service_ms), 'skip')
    return {
      samples: latenciesMs.length,
      slow,
      p99_s: p99Seconds(latenciesMs),
      p99_type7_s: p99Seconds(latenciesMs, '7'),
      max_s: Math.max(...latenciesMs) / 1000,
      mean_s: (mean(latenciesMs) as number) / 1000,
    }
  },
  'q4.stall.wait_skip_s0': (i: { service_ms: number }) => {
    const { latenciesMs, slow } = waitingClient(seedStall(i.service_ms), 'skip')
    return { samples: latenciesMs.length, slow, p99_s: p99Seconds(latenciesMs) }
  },
  'q4.stall.wait_catchup': (i: { service_ms: number }) => {
    const { latenciesMs, slow } = waitingClient(seedStall(i.service_ms), 'catch_up')
    return { samples: latenciesMs.length, slow, p99_s: p99Seconds(latenciesMs) }
  },
  'q4.stall.co_corrected': (i: { expected_interval_ms: number }) => {
    const filled = backfillOmitted([...series(285, () => 0), 3000], i.expected_interval_ms)
    return {
      samples: filled.length,
      p99_ms: percentile(sortAscending(filled), '99'),
      slow: filled.filter((value) => value > 0).length,
    }
  },
  'q4.stall.phase': (i: { service_ms: number; stall_starts_ms_before_next_send: number }) => {
    const stallStartMs = 10_000 - i.stall_starts_ms_before_next_send
    const { latenciesMs, slow } = scheduledClient(seedStall(i.service_ms, { stallStartMs }))
    return { slow, p99_ms: percentile(sortAscending(latenciesMs), '99') }
  },
  'q4.stall.continuum': (i: { slow_share: number; stall_s: number; p: number }) =>
    stallPercentile(i.stall_s, i.slow_share, i.p),
  'q4.util': (i: { rho: number; growth: number }) => ({
    rho2: i.rho * i.growth,
    f1: mm1(i.rho)?.timeOverService,
    f2: mm1(i.rho * i.growth)?.timeOverService,
    ratio: growthFactor(1, i.rho, i.growth),
  }),
  'q4.util.overload': (i: { rho: number; growth: number }) => growthFactor(1, i.rho, i.growth),
  'q4.extra.think': (i: { n: number; w_s: number; think_s: number }) => closedThroughput(i.n, i.w_s, i.think_s),
  'q4.extra.users_for_rate': (i: { rate: number; w_s: number; think_s: number }) =>
    closedUsers(i.rate, i.w_s, i.think_s),
  'q4.extra.drain': (i: { backlog: number; mu: number; lambda_after: number }) =>
    drainTime(i.backlog, i.mu, i.lambda_after),
  'q4.extra.backlog_sd': (i: { arrivals: number; completions: number; t_s: number }) => ({
    mean: backlog(i.arrivals, i.completions, i.t_s),
    sd: backlogDeviation(i.arrivals, i.completions, i.t_s),
  }),
  'q4.extra.mmc.c1.rho0.7': congestion,
  'q4.extra.mmc.c1.rho0.91': congestion,
  'q4.extra.mmc.c8.rho0.91': congestion,
  'q4.extra.mmc.c32.rho0.91': congestion,
  'q4.extra.mmc8.growth': (i: { servers: number; rho: number; growth: number }) =>
    growthFactor(i.servers, i.rho, i.growth),
  'q4.extra.pk': (i: { rho: number; cs2: number }) => pollaczekKhinchine(i.rho, i.cs2),
  'q4.extra.md1': (i: { rho: number; cs2: number }) => pollaczekKhinchine(i.rho, i.cs2),
  'q4.extra.capacity_claim': (i: { sweeps: readonly [[number, number], [number, number]][] }) =>
    i.sweeps.map(([[n1, x1], [n2, x2]]) => {
      const found = elasticity(n1, x1, n2, x2) as number
      return { elasticity: found, is_capacity: found < flatElasticity }
    }),
}
