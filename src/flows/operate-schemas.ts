import * as v from 'valibot'
import type { PolicyDocument, SignalsDocument } from '../report/scale-documents.ts'
import type { WatchDocument } from '../report/watch-document.ts'

/** `scale signals`, `scale policy` and `watch` with `--json`, held to their types by the annotations. */

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())

export const signalsSchema: v.GenericSchema<unknown, SignalsDocument> = v.strictObject({
  schema: v.literal('plimsoll.signals/1'),
  plimsoll: text,
  run: text,
  url: v.exactOptional(text),
  limit: text,
  breach_at_s: maybe,
  signals: v.array(
    v.strictObject({
      name: text,
      unit: text,
      kind: v.picklist(['early', 'late', 'flat', 'unknown']),
      lead_s: maybe,
      quiet: maybe,
      extreme: maybe,
      correlation: maybe,
      why: text,
    }),
  ),
  best: maybeText,
  policy: v.nullable(v.strictObject({ on: text, refused: maybeText })),
})

export const policySchema: v.GenericSchema<unknown, PolicyDocument> = v.strictObject({
  schema: v.literal('plimsoll.policy/1'),
  plimsoll: text,
  sweep: text,
  basis: v.strictObject({
    requests_per_s: number,
    kind: v.picklist(['confirmed', 'indicative', 'refuted', 'typed']),
  }),
  cold_start_s: v.nullable(v.strictTuple([number, number])),
  ramp_per_s2: maybeText,
  trigger_per_s: number,
  target_per_s: number,
  target_in_flight: number,
  warm_pool: number,
  reserve_in_flight: number,
  min_replicas: number,
  max_replicas: number,
  scale_down_stabilization_s: number,
  scale_down_period_s: number,
  backlog: v.nullable(v.strictObject({ waiting: number, wait_s: number })),
  working: v.array(text),
  manifests: v.record(v.string(), text),
})

const latency = v.nullable(
  v.strictObject({
    n: number,
    per: v.picklist(['request', 'token', 'byte']),
    p50_ms: maybe,
    p99_ms: v.nullable(v.strictTuple([number, maybe])),
  }),
)

export const watchSchema: v.GenericSchema<unknown, WatchDocument> = v.strictObject({
  schema: v.literal('plimsoll.watch/1'),
  plimsoll: text,
  at: text,
  elapsed_s: number,
  replicas: v.array(
    v.strictObject({
      name: text,
      engine: maybeText,
      up: v.boolean(),
      age_s: maybe,
      running: maybe,
      waiting: maybe,
      kv_usage: maybe,
    }),
  ),
  fleet: v.strictObject({
    up: number,
    known: number,
    running: maybe,
    waiting: maybe,
    kv_usage_max: maybe,
    cpu: maybe,
    gpu_memory: maybe,
    window_s: number,
    requests_per_s: maybe,
    output_tokens_per_s: maybe,
    ttft: latency,
    tpot: latency,
  }),
  objectives: v.array(
    v.strictObject({
      text,
      target: number,
      windows: v.array(
        v.strictObject({
          window_s: number,
          watched_s: number,
          n: number,
          limits: v.array(v.strictObject({ text, low: maybe, high: maybe })),
          share: v.nullable(v.strictTuple([number, number])),
          burn: v.nullable(v.strictTuple([maybe, maybe])),
          why: maybeText,
          waits: v.exactOptional(v.boolean()),
        }),
      ),
      alerts: v.array(
        v.strictObject({ name: text, state: v.nullable(v.picklist(['fires', 'may_fire', 'quiet'])) }),
      ),
    }),
  ),
  walls: v.array(
    v.strictObject({
      kind: v.picklist(['saturation', 'slo', 'memory', 'kv']),
      at: number,
      unit: v.picklist(['in flight a replica', 'req/s a replica', 'of the KV pool']),
      now: maybe,
      share: maybe,
    }),
  ),
  notes: v.array(text),
})
