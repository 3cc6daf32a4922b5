import {
  coldStartSeconds,
  drainSeconds,
  quantizedBytes,
  shardedLoadSeconds,
  triggerRate,
  warmPool,
  weightLoadSeconds,
} from '../../src/operate/scale/cold-start.ts'
import { hpaReplicas } from '../../src/operate/scale/hpa.ts'
import { budgetRequests, hoursLeftByEvents } from '../../src/operate/slo/budget.ts'
import {
  budgetUsed,
  burnEvidence,
  burnNumber,
  burnOfCounts,
  burnOverWindow,
  burnRate,
  burnThreshold,
  daysLeft,
  exceeds,
  timeToDetect,
  type BurnRate,
} from '../../src/operate/slo/burn.ts'
import { backlog, fifoWait } from '../../src/stats/queueing.ts'
import { rational, toNumber, toRational } from '../../src/stats/rational.ts'
import type { Compute } from './golden.ts'

interface Bad {
  readonly slo: string
  readonly bad_ratio: string
}
const finite = (burn: number): BurnRate => ({ kind: 'finite', rate: toRational(burn) })
const days = (burn: BurnRate, period: number, remaining = 1): number => {
  const left = daysLeft(burn, period, remaining)
  return left === null ? Number.POSITIVE_INFINITY : toNumber(left)
}
/** The seed's arithmetic in floats: the mistake. */
const naiveBurn = (slo: number, badRatio: number): number => badRatio / (1 - slo)

export const budgetGoldens: Readonly<Record<string, Compute>> = {
  'q9.budget': (i: { slo: string; requests: number }) => toNumber(budgetRequests(i.slo, i.requests)),
  'q9.burn': (i: Bad) => burnNumber(burnRate(i.bad_ratio, i.slo)),
  'q9.days': (i: { burn: number; period_days: number }) => days(finite(i.burn), i.period_days),
  'q9.fp': (i: { slo: number; bad_ratio: number }) => ({
    naive_burn: naiveBurn(i.slo, i.bad_ratio),
    naive_ge_6: naiveBurn(i.slo, i.bad_ratio) >= 6,
    exact_ge_6: exceeds(burnRate(i.bad_ratio, i.slo), 6, '>='),
    naive_days: 30 / naiveBurn(i.slo, i.bad_ratio),
  }),
  'q9.budget_used_1h': (i: { burn: number; window_h: number; period_h: number }) =>
    toNumber(budgetUsed(i.burn, i.window_h, i.period_h)),
  'q9.sre_thresholds': (i: { period_h: number; rows: [number, number][] }) =>
    i.rows.map(([percent, window]) => toNumber(burnThreshold(rational(percent, 100), window, i.period_h))),
  'q9.page_at_6x_1h': (i: { burn_1h: number; burn_5m: number; threshold: number }) => {
    const page = (threshold: number): boolean =>
      [i.burn_1h, i.burn_5m].every((burn) => exceeds(finite(burn), threshold, '>='))
    return { page_sre_default: page(i.threshold), page_seed_threshold_6: page(6) }
  },
  'q9.blip': (i: { slo: string; outage_min: number; bad_ratio_during: number }) => {
    const over = (window: number): BurnRate => burnOverWindow(i.outage_min, window, i.bad_ratio_during, i.slo)
    return {
      burn_5m: burnNumber(over(5)),
      burn_1h: burnNumber(over(60)),
      'page_at_14.4': exceeds(over(60), '14.4', '>='),
      page_at_6: exceeds(over(60), 6, '>='),
    }
  },
  'q9.detect_time_total_outage': (i: { slo: string; threshold: number; window_min: number; bad_ratio: number }) => {
    const time = timeToDetect(i.threshold, i.slo, i.window_min, i.bad_ratio)
    return time === null ? null : toNumber(time)
  },
  'q9.detect_time_3pct': (i: { slo: string; threshold: number; window_min: number; bad_ratio: string }) => {
    const time = timeToDetect(i.threshold, i.slo, i.window_min, i.bad_ratio)
    return time === null ? null : toNumber(time)
  },
  'q9.extra.ci': (i: { bad: number; total: number; slo: string }) => {
    const found = burnEvidence(i.bad, i.total, i.slo)
    return {
      ratio_lo: found?.ratio[0],
      ratio_hi: found?.ratio[1],
      burn_lo: found?.burnInterval?.[0],
      burn_hi: found?.burnInterval?.[1],
    }
  },
  'q9.extra.low_traffic': (i: { bad: number; total: number; slo: string }) => {
    const found = burnEvidence(i.bad, i.total, i.slo)
    return {
      burn: found === null ? null : burnNumber(found.burn),
      cp_lo: found?.exactLow,
      significant: found?.significant,
      p_at_least_1_under_slo: found?.chanceOfAny,
    }
  },
  'q9.extra.event_based': (i: { budget_events: number; hour_requests: number; bad_ratio: number }) => ({
    bad_per_h: i.hour_requests * i.bad_ratio,
    hours_left: hoursLeftByEvents(i.budget_events, i.hour_requests, i.bad_ratio),
  }),
  'q9.extra.partial_budget': (i: { burn: number; remaining_fraction: number; period_days: number }) =>
    days(finite(i.burn), i.period_days, i.remaining_fraction),
  'q9.edge.burn1': (i: Bad) => ({
    burn: burnNumber(burnRate(i.bad_ratio, i.slo)),
    days: days(burnRate(i.bad_ratio, i.slo), 30),
    naive_float_burn: naiveBurn(Number(i.slo), Number(i.bad_ratio)),
  }),
  'q9.edge.burn0': (i: Bad) => ({
    burn: burnNumber(burnRate(i.bad_ratio, i.slo)),
    days: days(burnRate(i.bad_ratio, i.slo), 30),
  }),
  'q9.edge.slo100': (i: Bad) => ({
    budget: toNumber(budgetRequests(i.slo, 2_000_000)),
    burn: burnNumber(burnRate(i.bad_ratio, i.slo)),
    days: days(burnRate(i.bad_ratio, i.slo), 30),
  }),
  'q9.edge.slo100_clean': (i: Bad) => ({
    budget: toNumber(budgetRequests(i.slo, 2_000_000)),
    burn: burnNumber(burnRate(i.bad_ratio, i.slo)),
    days: days(burnRate(i.bad_ratio, i.slo), 30),
  }),
  'q9.edge.no_traffic': (i: { slo: string; bad: number; total: number }) => burnOfCounts(i.bad, i.total, i.slo),

  'q10.cold_start': (i: { weights_gb: number; gb_per_s: number }) => weightLoadSeconds(i.weights_gb, i.gb_per_s),
  'q10.gib': (i: { weights_gib: number; gb_per_s: number }) =>
    weightLoadSeconds(i.weights_gib * 2 ** 30, i.gb_per_s * 1e9),
  'q10.bits': (i: { weights_gb: number; gbit_per_s: number }) => weightLoadSeconds(i.weights_gb, i.gbit_per_s / 8),
  'q10.quantized': (i: { weights_gb: number; from_bits: number; to_bits: number; gb_per_s: number }) =>
    weightLoadSeconds(quantizedBytes(i.weights_gb, i.from_bits, i.to_bits), i.gb_per_s),
  'q10.total': (i: { load_s: number; schedule_s: number; init_s: number; warmup_s: number; probe_period_s: number }) =>
    coldStartSeconds({
      loadSeconds: i.load_s,
      scheduleSeconds: i.schedule_s,
      initSeconds: i.init_s,
      warmupSeconds: i.warmup_s,
      probePeriodSeconds: i.probe_period_s,
    }),
  'q10.queue_during': (i: { lambda: number; mu: number; cold_start_s: number }) =>
    backlog(i.lambda, i.mu, i.cold_start_s),
  'q10.wait_from_queue': (i: { waiting: number; mu: number }) => fifoWait(i.waiting, i.mu),
  'q10.extra.drain_with_new': (i: { backlog: number; lambda: number; mu_per_replica: number; replicas: number }) =>
    drainSeconds(i.backlog, i.lambda, i.mu_per_replica, i.replicas),
  'q10.extra.trigger_level': (i: { capacity: number; ramp_per_s2: number; cold_start_s: number }) =>
    toNumber(triggerRate(i.capacity, i.ramp_per_s2, i.cold_start_s)),
  'q10.extra.warm_pool': (i: { ramp_per_s2: string; cold_start_s: number; usable_per_replica: string }) =>
    warmPool(i.ramp_per_s2, i.cold_start_s, i.usable_per_replica),
  'q10.extra.sharded_load': (i: {
    weights_gb: number
    shards: number
    gb_per_s_per_shard: number
    shared_link_gb_per_s: number
  }) => shardedLoadSeconds(i.weights_gb, i.shards, i.gb_per_s_per_shard, i.shared_link_gb_per_s),
  'q10.extra.hpa': (i: { cases: [number, string, string][] }) => ({
    exact: i.cases.map(([current, metric, target]) => hpaReplicas(current, metric, target)),
    ieee_as_kubernetes: i.cases.map(([current, metric, target]) =>
      hpaReplicas(current, metric, target, { arithmetic: 'kubernetes' }),
    ),
  }),
}
