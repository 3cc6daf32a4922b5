import { expect } from 'vitest'
import { type Compute } from '../goldens/golden.ts'
import { value, number, values, orForEver, mistake, type Point } from './ask.ts'

interface Bad {
  readonly slo: string
  readonly bad_ratio: string
}
const burn = (i: Bad): string => `burn ${i.slo} ${i.bad_ratio}`
const perHour = (hours: number): string => `${hours}h`

export const budgetLines: Readonly<Record<string, Compute>> = {
  'q9.budget': (i: { slo: string; requests: number }) => value(`budget ${i.slo} ${i.requests}`, 'budget'),
  'q9.burn': (i: Bad) => value(burn(i), 'burn'),
  'q9.days': (i: { period_days: number }) => value(`burn 99.5% 3% --period ${i.period_days}d`, 'days_left'),
  'q9.fp': (i: { slo: number; bad_ratio: number }) => {
    const line = `burn ${i.slo} ${i.bad_ratio} --threshold 6`
    expect(mistake(line)).toContain('5.999999999999995')
    const naive = i.bad_ratio / (1 - i.slo)
    return {
      naive_burn: naive,
      naive_ge_6: naive >= 6,
      exact_ge_6: value(line, 'over_threshold'),
      naive_days: 30 / naive,
    }
  },
  'q9.budget_used_1h': (i: { window_h: number; period_h: number }) =>
    value(`burn 99.5% 3% --window ${perHour(i.window_h)} --period ${perHour(i.period_h)}`, 'budget_used'),
  'q9.sre_thresholds': (i: { period_h: number; rows: Point[] }) =>
    i.rows.map(([percent, hours]) =>
      value(
        `burn 99.5% 3% --spend ${percent}% --window ${perHour(hours)} --period ${perHour(i.period_h)}`,
        'spend_threshold',
      ),
    ),
  'q9.page_at_6x_1h': () => ({
    page_sre_default: value('page 99.5% 3%', 'sre_workbook_1h'),
    page_seed_threshold_6: value('page 99.5% 3%', 'lesson_1h'),
  }),
  'q9.blip': (i: { slo: string; outage_min: number }) => {
    const line = (threshold: string): string =>
      `burn ${i.slo} 100% --outage ${i.outage_min}m --window 1h --threshold ${threshold}`
    const seen = number(line('6'), 'burn_over_window')
    return {
      ...values(line('6'), { burn_5m: 'burn_over_5m', burn_1h: 'burn_over_window' }),
      'page_at_14.4': seen >= 14.4,
      page_at_6: seen >= 6,
    }
  },
  'q9.detect_time_total_outage': (i: { slo: string; threshold: number; window_min: number }) =>
    value(`burn ${i.slo} 100% --threshold ${i.threshold} --window ${i.window_min}m`, 'detect'),
  'q9.detect_time_3pct': (i: { slo: string; threshold: number; window_min: number; bad_ratio: string }) =>
    value(`burn ${i.slo} ${i.bad_ratio} --threshold ${i.threshold} --window ${i.window_min}m`, 'detect'),
  'q9.extra.ci': (i: { bad: number; total: number; slo: string }) =>
    values(`burn ${i.slo} --bad-count ${i.bad} --total ${i.total}`, {
      ratio_lo: 'bad_low',
      ratio_hi: 'bad_high',
      burn_lo: 'burn_low',
      burn_hi: 'burn_high',
    }),
  'q9.extra.low_traffic': (i: { bad: number; total: number; slo: string }) =>
    values(`burn ${i.slo} --bad-count ${i.bad} --total ${i.total}`, {
      burn: 'burn',
      cp_lo: 'exact_low',
      significant: 'significant',
      p_at_least_1_under_slo: 'chance_of_any',
    }),
  'q9.extra.event_based': (i: { hour_requests: number; bad_ratio: number }) =>
    values(`budget 99.5% 2M --bad ${i.bad_ratio} --hourly ${i.hour_requests}`, {
      bad_per_h: 'bad_per_hour',
      hours_left: 'lasts',
    }),
  'q9.extra.partial_budget': (i: { remaining_fraction: number; period_days: number }) =>
    value(`burn 99.5% 3% --left ${i.remaining_fraction} --period ${i.period_days}d`, 'days_left'),
  'q9.edge.burn1': (i: Bad) => ({
    ...values(burn(i), { burn: 'burn', days: 'days_left' }),
    naive_float_burn: Number(i.bad_ratio) / (1 - Number(i.slo)),
  }),
  'q9.edge.burn0': (i: Bad) => ({ burn: value(burn(i), 'burn'), days: orForEver(burn(i), 'days_left') }),
  'q9.edge.slo100': (i: Bad) => ({
    budget: value(`budget ${i.slo} 2M`, 'budget'),
    burn: orForEver(burn(i), 'burn'),
    days: value(burn(i), 'days_left'),
  }),
  'q9.edge.slo100_clean': (i: Bad) => ({
    budget: value(`budget ${i.slo} 2M`, 'budget'),
    burn: value(burn(i), 'burn'),
    days: orForEver(burn(i), 'days_left'),
  }),
  'q9.edge.no_traffic': (i: { slo: string; bad: number; total: number }) =>
    value(`burn ${i.slo} --bad-count ${i.bad} --total ${i.total}`, 'burn'),
  'q10.cold_start': (i: { weights_gb: number; gb_per_s: number }) =>
    value(`cold-start ${i.weights_gb}GB ${i.gb_per_s}GB/s`, 'cold_start'),
  'q10.gib': (i: { weights_gib: number; gb_per_s: number }) =>
    value(`cold-start ${i.weights_gib}GiB ${i.gb_per_s}GB/s`, 'cold_start'),
  'q10.bits': (i: { weights_gb: number; gbit_per_s: number }) =>
    value(`cold-start ${i.weights_gb}GB ${i.gbit_per_s}Gb/s`, 'cold_start'),
  'q10.quantized': (i: { weights_gb: number; from_bits: number; to_bits: number; gb_per_s: number }) =>
    value(
      `cold-start ${i.weights_gb}GB ${i.gb_per_s}GB/s --from-bits ${i.from_bits} --to-bits ${i.to_bits}`,
      'cold_start',
    ),
  'q10.total': (i: {
    load_s: number
    schedule_s: number
    init_s: number
    warmup_s: number
    probe_period_s: number
  }) =>
    values(
      `cold-start ${2 * i.load_s}GB 2GB/s --schedule ${i.schedule_s}s --init ${i.init_s}s --warmup ${i.warmup_s}s --probe ${i.probe_period_s}s`,
      { min: 'cold_start', max: 'cold_start_most' },
    ),
  'q10.queue_during': (i: { lambda: number; mu: number; cold_start_s: number }) =>
    value(
      `cold-start ${2 * i.cold_start_s}GB 2GB/s --arrivals ${i.lambda}/s --completions ${i.mu}/s`,
      'queue',
    ),
  'q10.wait_from_queue': (i: { waiting: number; mu: number }) =>
    value(`backlog 10/s ${i.mu}/s --waiting ${i.waiting}`, 'wait'),
  'q10.extra.drain_with_new': (i: {
    backlog: number
    lambda: number
    mu_per_replica: number
    replicas: number
  }) =>
    value(
      `backlog ${i.lambda}/s ${i.mu_per_replica}/s --waiting ${i.backlog} --replicas ${i.replicas}`,
      'drain',
    ),
  'q10.extra.trigger_level': (i: { capacity: number; ramp_per_s2: number; cold_start_s: number }) =>
    value(`trigger ${i.capacity}/s ${i.ramp_per_s2}/s/s ${i.cold_start_s}s`, 'trigger'),
  'q10.extra.warm_pool': (i: { ramp_per_s2: string; cold_start_s: number; usable_per_replica: string }) =>
    value(
      `trigger 8/s ${i.ramp_per_s2}/s2 ${i.cold_start_s}s --usable ${i.usable_per_replica}/s`,
      'warm_pool',
    ),
  'q10.extra.sharded_load': (i: {
    weights_gb: number
    shards: number
    gb_per_s_per_shard: number
    shared_link_gb_per_s: number
  }) =>
    value(
      `cold-start ${i.weights_gb}GB ${i.shared_link_gb_per_s}GB/s --shards ${i.shards} --per-shard ${i.gb_per_s_per_shard}GB/s`,
      'load',
    ),
  'q10.extra.hpa': (i: { cases: [number, string, string][] }) => ({
    exact: i.cases.map((one) => value(`hpa ${one.join(' ')}`, 'exact')),
    ieee_as_kubernetes: i.cases.map((one) => value(`hpa ${one.join(' ')}`, 'replicas')),
  }),
}
