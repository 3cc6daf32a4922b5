import { type Compute } from '../goldens/golden.ts'
import { value, values, type Point } from './ask.ts'

const stall = (more = ''): string => `stall 5/s 60s 3s ${more}`
const congestion = (i: { servers: number; rho: number }): unknown =>
  values(`utilization ${i.rho} --servers ${i.servers}`, {
    p_wait: 'wait_probability',
    w_over_s: 'time_over_service',
  })

export const loadLines: Readonly<Record<string, Compute>> = {
  'q4.throughput': (i: { n: number; w_s: number }) => value(`little ${i.n} ${i.w_s}s`, 'rate'),
  'q4.growth': (i: { arrivals: number; completions: number }) =>
    value(`backlog ${i.arrivals}/s ${i.completions}/s 1s`, 'growth'),
  'q4.backlog60': (i: { arrivals: number; completions: number; t_s: number }) =>
    value(`backlog ${i.arrivals}/s ${i.completions}/s ${i.t_s}s`, 'backlog'),
  'q4.wait_at_60': (i: { backlog: number; completions: number }) =>
    value(`backlog 10/s ${i.completions}/s --waiting ${i.backlog}`, 'wait'),
  'q4.little_L': (i: { lambda: number; w_s: number }) => value(`little ${i.lambda}/s ${i.w_s}s`, 'users'),
  'q4.stall.counts': (i: { rate: number; duration_s: number; stall_s: number }) =>
    values(`stall ${i.rate}/s ${i.duration_s}s ${i.stall_s}s`, {
      scheduled: 'planned',
      slow_open: 'slow',
      slow_share: 'slow_share',
      slow_waiting_client: 'waiting_slow',
    }),
  'q4.stall.open_p99': () =>
    values(stall('--percentiles 95 96'), {
      p99_nearest_rank: 'p99',
      p95_nearest_rank: 'p95',
      p96_nearest_rank: 'p96',
      max: 'max',
      mean: 'mean',
    }),
  'q4.stall.types': () => ({
    ...values(
      stall(),
      Object.fromEntries(Array.from({ length: 9 }, (_, k) => [`type${k + 1}`, `p99_type${k + 1}`])),
    ),
    floor_index_mlperf_oha: value(stall(), 'p99_floor_index'),
  }),
  'q4.stall.open_serial_50ms': (i: { service_ms: number }) =>
    value(stall(`--service ${i.service_ms}ms --server serial`), 'p99'),
  'q4.stall.open_20ms': (i: { service_ms: number }) => value(stall(`--service ${i.service_ms}ms`), 'p99'),
  'q4.stall.wait_skip': (i: { service_ms: number }) =>
    values(stall(`--service ${i.service_ms}ms`), {
      samples: 'waiting_samples',
      slow: 'waiting_slow',
      p99_s: 'waiting_p99',
      p99_type7_s: 'waiting_p99_type7',
      max_s: 'waiting_max',
      mean_s: 'waiting_mean',
    }),
  'q4.stall.wait_skip_s0': () =>
    values(stall(), { samples: 'waiting_samples', slow: 'waiting_slow', p99_s: 'waiting_p99' }),
  'q4.stall.wait_catchup': (i: { service_ms: number }) =>
    values(stall(`--service ${i.service_ms}ms`), {
      samples: 'catch_up_samples',
      slow: 'catch_up_slow',
      p99_s: 'catch_up_p99',
    }),
  'q4.stall.co_corrected': () => {
    // The truth has 285 fast and one slow: the slots that a waiting client kept, and the one that froze.
    const found = values(stall(), {
      samples: 'backfilled_samples',
      p99_ms: 'backfilled_p99',
      slow: 'backfilled_slow',
    })
    return { ...found, p99_ms: (found['p99_ms'] as number) * 1000 }
  },
  'q4.stall.phase': (i: { stall_starts_ms_before_next_send: number }) => {
    const found = values(stall(`--at ${10_000 - i.stall_starts_ms_before_next_send}ms`), {
      slow: 'slow',
      p99_ms: 'p99',
    })
    return { ...found, p99_ms: (found['p99_ms'] as number) * 1000 }
  },
  'q4.stall.continuum': () => value(stall(), 'dense_p99'),
  'q4.util': (i: { rho: number; growth: number }) =>
    values(`utilization ${i.rho} ${i.growth}`, {
      rho2: 'rho_after',
      f1: 'time_over_service',
      f2: 'time_over_service_after',
      ratio: 'growth_factor',
    }),
  'q4.util.overload': (i: { rho: number; growth: number }) =>
    value(`utilization ${i.rho} ${i.growth}`, 'growth_factor'),
  'q4.extra.think': (i: { n: number; w_s: number; think_s: number }) =>
    value(`little ${i.n} ${i.w_s}s --think ${i.think_s}s`, 'rate'),
  'q4.extra.users_for_rate': (i: { rate: number; w_s: number; think_s: number }) =>
    value(`little ${i.rate}/s ${i.w_s}s --think ${i.think_s}s`, 'users'),
  'q4.extra.drain': (i: { backlog: number; mu: number; lambda_after: number }) =>
    value(`backlog 10/s ${i.mu}/s --waiting ${i.backlog} --after ${i.lambda_after}/s`, 'drain'),
  'q4.extra.backlog_sd': (i: { arrivals: number; completions: number; t_s: number }) =>
    values(`backlog ${i.arrivals}/s ${i.completions}/s ${i.t_s}s`, { mean: 'backlog', sd: 'deviation' }),
  'q4.extra.mmc.c1.rho0.7': congestion,
  'q4.extra.mmc.c1.rho0.91': congestion,
  'q4.extra.mmc.c8.rho0.91': congestion,
  'q4.extra.mmc.c32.rho0.91': congestion,
  'q4.extra.mmc8.growth': (i: { servers: number; rho: number; growth: number }) =>
    value(`utilization ${i.rho} ${i.growth} --servers ${i.servers}`, 'growth_factor'),
  'q4.extra.pk': (i: { rho: number; cs2: number }) =>
    value(`utilization ${i.rho} --cv2 ${i.cs2}`, 'time_over_service_mg1'),
  'q4.extra.md1': (i: { rho: number; cs2: number }) =>
    value(`utilization ${i.rho} --cv2 ${i.cs2}`, 'time_over_service_mg1'),
  'q4.extra.capacity_claim': (i: { sweeps: readonly [Point, Point][] }) =>
    i.sweeps.map(([[n1, x1], [n2, x2]]) =>
      values(`little ${n2} ${n2 / x2}s --other ${n1}:${x1}/s`, {
        elasticity: 'elasticity',
        is_capacity: 'is_capacity',
      }),
    ),
}
