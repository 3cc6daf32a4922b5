import * as v from 'valibot'
import type { Warning, WarningKind } from '../../base/warnings.ts'
import type { Counts } from '../../measure/metrics/run-summary.ts'
import { warningTexts } from '../../report/warning-text.ts'
import type { RunDocument, SweepDocument, SweepLoad, SweepPoint } from '../documents.ts'

/**
 * The documents as schemas, for `schema/*.schema.json` and for tests. No document is checked by them while it is made: their
 * types are what the compiler holds, and the annotations below hold the schemas to the types.
 */

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())
const counted = v.record(v.string(), v.number())

const verdict = v.strictObject({
  status: v.picklist(['VALID', 'DEGRADED', 'INVALID']),
  reasons: v.array(
    v.strictObject({
      rule: text,
      status: v.picklist(['DEGRADED', 'INVALID']),
      message: text,
      value: maybe,
      limit: maybe,
    }),
  ),
})

const counts = v.strictObject({
  planned: number,
  sent: number,
  ok: number,
  failed: number,
  shed: number,
  censored: number,
  unsent: number,
  cancelled_by_client: v.exactOptional(number),
  lost: v.exactOptional(number),
  lost_under_way: v.exactOptional(number),
})

/** How often a nominal 95 % interval was measured to hold. */
const intervalCoverage = v.strictObject({ nominal: number, measured: number, worst: number })

const metric = v.strictObject({
  n: number,
  n_eff: maybe,
  mean: maybe,
  min: maybe,
  p50: maybe,
  p90: maybe,
  p95: maybe,
  p99: maybe,
  p99_9: maybe,
  max: maybe,
  more: v.record(v.string(), maybe),
  ci: v.record(v.string(), v.strictTuple([maybe, maybe])),
  ci_coverage: v.record(v.string(), intervalCoverage),
  upper: v.record(v.string(), maybe),
  why: v.record(v.string(), text),
  all_attempts: v.nullable(v.record(v.string(), maybe)),
})

const metrics = v.strictObject({
  ttft_ms: v.exactOptional(metric),
  ttfc_ms: v.exactOptional(metric),
  ttfb_ms: v.exactOptional(metric),
  e2e_ms: v.exactOptional(metric),
  done_ms: v.exactOptional(metric),
  tpot_ms: v.exactOptional(metric),
  gaps_ms: v.exactOptional(metric),
  itl_per_token_ms: v.exactOptional(metric),
  lag_ms: v.exactOptional(metric),
  service_ttft_ms: v.exactOptional(metric),
  service_e2e_ms: v.exactOptional(metric),
  prompt_tokens: v.exactOptional(metric),
  completion_tokens: v.exactOptional(metric),
})

const throughput = v.strictObject({
  window_s: number,
  requests_per_s: maybe,
  output_tokens_per_s: maybe,
  input_tokens_per_s: maybe,
})

const goodput = v.strictObject({
  per_s: maybe,
  share: maybe,
  good: number,
  attempts: number,
  unknown: number,
  lower_bound: v.boolean(),
  failed_by: counted,
  failed_twice: number,
  vacuous_tpot: number,
  objective: text,
  asked_share: maybeText,
  met: v.nullable(v.picklist(['yes', 'no', 'inconclusive'])),
})

const objective = v.strictObject({
  text,
  kind: v.picklist(['each', 'over_run']),
  judged: v.boolean(),
  met: v.nullable(v.picklist(['yes', 'no', 'inconclusive'])),
  estimate: maybe,
  bound: maybe,
  limit: maybe,
  reason: text,
})

export const warning: v.GenericSchema<unknown, Warning> = v.strictObject({
  kind: v.picklist(Object.keys(warningTexts) as WarningKind[]),
  message: text,
  cause: maybeText,
  next: maybeText,
  evidence: v.record(v.string(), v.nullable(v.union([v.number(), v.string(), v.boolean()]))),
})

const gauge = v.nullable(v.strictObject({ mean: number, max: number }))

const server = v.strictObject({
  looks: number,
  failed: number,
  replicas: v.array(text),
  scrape_ms: v.strictObject({ p50: maybe, max: maybe }),
  running: gauge,
  waiting: gauge,
  kv_usage: gauge,
  preemptions: maybe,
  prompt_tokens: maybe,
  generation_tokens: maybe,
  prefix_hits: maybe,
  prefix_queries: maybe,
})

const stopped = v.nullable(
  v.strictObject({ kind: v.picklist(['interrupted', 'early', 'killed']), why: text }),
)

const target = v.strictObject({
  url: text,
  api: text,
  model: maybeText,
  engine: maybeText,
  embedded: v.boolean(),
  replicas: v.nullable(counted),
  kv_tokens: maybe,
})

const threePercentiles = v.strictObject({ p50: maybe, p99: maybe, max: maybe })

const repeat = v.exactOptional(
  v.nullable(
    v.strictObject({
      asked: v.array(text),
      ends: v.array(text),
      load: v.exactOptional(v.nullable(v.array(text))),
    }),
  ),
)

const ownError = v.strictObject({ p50: maybe, p99: maybe })

const client = v.strictObject({
  lag_ms: threePercentiles,
  loop_delay_ms: threePercentiles,
  cpu: v.strictObject({ worker_max: maybe, workers: v.array(maybe), process: maybe, machine: maybe }),
  workers: number,
  own_error_ms: ownError,
  own_error_before_ms: v.exactOptional(v.nullable(ownError)),
  own_error_after_ms: v.exactOptional(v.nullable(ownError)),
  capacity_events_per_s: maybe,
  events: number,
  same_machine: v.boolean(),
})

export const runSchema: v.GenericSchema<unknown, RunDocument> = v.strictObject({
  schema: v.literal('plimsoll.run/1'),
  plimsoll: text,
  run: text,
  name: text,
  complete: v.boolean(),
  stopped,
  clock: v.strictObject({ origin_monotonic_ns: number, started_at: maybeText }),
  seed: text,
  salt: maybeText,
  tags: v.record(text, text),
  target,
  load: v.strictObject({
    kind: v.picklist(['constant', 'poisson', 'gamma', 'ramp', 'steps', 'burst', 'schedule', 'concurrency']),
    text,
    open_loop: v.boolean(),
    rate_per_s: maybe,
    users: maybe,
    connection_limit: maybe,
  }),
  workload: text,
  repeat,
  window: v.strictObject({
    warmup_s: number,
    measure_s: number,
    drain_s: number,
    start_ms: number,
    end_ms: number,
    how: v.picklist(['given', 'detected', 'count']),
  }),
  verdict,
  counts,
  window_counts: counts,
  metrics,
  weighting: v.strictObject({ per_request: maybe, per_token: maybe }),
  throughput,
  goodput: v.nullable(goodput),
  objectives: v.array(objective),
  stutter: v.strictObject({
    streams: number,
    stuttering_streams: number,
    gap_p95_ms: maybe,
    gap_p99_ms: maybe,
    gap_max_ms: maybe,
    worst_gap_share_max: maybe,
    worst_gap_share_p50: maybe,
  }),
  little: v.nullable(
    v.strictObject({
      in_flight_mean: number,
      arrival_per_s: number,
      time_in_system_s: number,
      discrepancy: maybe,
    }),
  ),
  errors: counted,
  error_messages: v.exactOptional(v.record(v.string(), text)),
  tokens_source: counted,
  cache: v.nullable(v.strictObject({ prompt_tokens: number, cached_tokens: number, hit_rate: number })),
  server: v.nullable(server),
  client,
  worked: v.nullable(
    v.strictObject({ id: text, ttft_ms: number, e2e_ms: number, completion_tokens: number, tpot_ms: number }),
  ),
  warnings: v.array(warning),
})

export const sweepLoad: v.GenericSchema<unknown, SweepLoad> = v.strictObject({
  kind: v.picklist(['concurrency', 'rate']),
  value: number,
})
const twoPercentiles = v.strictObject({ p50: maybe, p99: maybe })

export const sweepWalls: v.GenericSchema<unknown, SweepDocument['walls']> = v.strictObject({
  saturation: v.nullable(v.strictObject({ load: number, output_tokens_per_s: maybe, share_of_best: number })),
  slo: v.nullable(v.strictObject({ load: number, indicative: v.boolean(), objective: text })),
  memory: v.nullable(
    v.strictObject({ load: number, load_p99: maybe, kv_tokens: number, tokens_per_request: number }),
  ),
  why: v.strictObject({ saturation: text, slo: text, memory: text }),
})

export const sweepCapacity: v.GenericSchema<unknown, SweepDocument['capacity']> = v.strictObject({
  load: maybe,
  binding: v.nullable(v.picklist(['saturation', 'slo', 'memory'])),
  censored: v.boolean(),
  indicative: v.boolean(),
  why: text,
})

export const operatingPoint: v.GenericSchema<unknown, SweepDocument['operating_point']> = v.nullable(
  v.strictObject({
    load: sweepLoad,
    in_flight: maybe,
    requests_per_s: number,
    output_tokens_per_s: maybe,
    ttft_ms: twoPercentiles,
    tpot_ms: twoPercentiles,
    confirmed: v.nullable(v.boolean()),
    confirmation: v.nullable(
      v.strictObject({
        run: maybeText,
        text,
        requests_per_s: number,
        verdict,
        objectives: v.array(objective),
        goodput_share: maybe,
      }),
    ),
  }),
)

type MayBeAbsent<T> = v.ExactOptionalSchema<v.GenericSchema<unknown, T>, undefined>

/** What a point of a sweep tells, as the entries of an object: a search's points tell most of it too. */
export const pointEntries: {
  readonly [K in Exclude<keyof SweepPoint, 'counts' | 'errors' | 'error_messages'>]: v.GenericSchema<
    unknown,
    SweepPoint[K]
  >
} & {
  readonly counts: MayBeAbsent<Counts>
  readonly errors: MayBeAbsent<Readonly<Record<string, number>>>
  readonly error_messages: MayBeAbsent<Readonly<Record<string, string>>>
} = {
  load: sweepLoad,
  in_flight: maybe,
  run: maybeText,
  verdict,
  counts: v.exactOptional(counts),
  errors: v.exactOptional(counted),
  error_messages: v.exactOptional(v.record(v.string(), text)),
  throughput,
  metrics,
  goodput: v.nullable(goodput),
  objectives: v.array(objective),
  passes: v.nullable(v.picklist(['yes', 'indicative', 'no'])),
  suspect: v.array(text),
  stopped: maybeText,
}

export const sweepSchema: v.GenericSchema<unknown, SweepDocument> = v.strictObject({
  schema: v.literal('plimsoll.sweep/1'),
  plimsoll: text,
  sweep: text,
  name: text,
  complete: v.boolean(),
  stopped,
  started_at: maybeText,
  seed: text,
  tags: v.record(text, text),
  target,
  workload: text,
  repeat,
  objective: maybeText,
  points: v.array(v.strictObject(pointEntries)),
  walls: sweepWalls,
  capacity: sweepCapacity,
  operating_point: operatingPoint,
  peak: v.nullable(v.strictObject({ load: number, output_tokens_per_s: number })),
  warnings: v.array(warning),
})

/** Parts that the documents repeat: named once in their JSON Schemas. */
export const documentParts: Readonly<Record<string, v.GenericSchema>> = {
  verdict,
  counts,
  metric,
  metrics,
  throughput,
  goodput,
  objective,
  warning,
  target,
  interval_coverage: intervalCoverage,
}
