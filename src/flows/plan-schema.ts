import * as v from 'valibot'
import type { PlanDocument } from '../report/plan-document.ts'
import { operatingPoint, sweepCapacity, sweepLoad, sweepWalls, warning } from './options/document-schemas.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())
const marginKind = v.picklist(['derate', 'uplift'])

const reading = v.strictObject({
  margin_kind: marginKind,
  usable_per_s: number,
  need: number,
  serving: number,
  replicas: number,
  gpus: number,
  cost_per_hour: maybe,
  cost_per_million_output_tokens: maybe,
  working: v.array(text),
})

const basis = v.nullable(
  v.strictObject({
    requests_per_s: number,
    kind: v.picklist(['confirmed', 'indicative', 'refuted', 'typed']),
    at_least: v.boolean(),
    why: text,
  }),
)

const latency = v.strictObject({ n: number, mean: maybe, p50: maybe, p90: maybe, p99: maybe, max: maybe })

const planSimulation = v.strictObject({
  survives: v.boolean(),
  engine: v.strictObject({
    source: v.picklist(['preset', 'model', 'sweep', 'fit']),
    text,
    capacity_per_s: number,
  }),
  traffic: v.strictObject({ text, duration_s: number, peak_per_s: number, lengths: text }),
  router: text,
  seed: text,
  busiest: v.strictObject({ from_s: number, until_s: number }),
  cases: v.array(
    v.strictObject({
      kind: v.picklist(['plan', 'one_fewer', 'slowest_engine']),
      replicas: number,
      killed: number,
      survives: v.boolean(),
      arrived: number,
      goodput_per_s: number,
      objectives: v.array(
        v.strictObject({
          text,
          wanted: number,
          day: maybe,
          busiest: maybe,
          budget_spent: maybe,
          budget_spent_busiest: maybe,
          met: v.boolean(),
        }),
      ),
      ttft_ms: latency,
      tpot_ms: latency,
      worst_queue: v.strictObject({ requests: number, at_s: number }),
      hurt: v.record(text, number),
      hours: v.array(
        v.strictObject({
          start_s: number,
          arrived: number,
          good: number,
          ready_replicas: number,
          most_waiting: number,
        }),
      ),
    }),
  ),
  not_judged: v.array(text),
})

/** `plimsoll plan --json`, held to its type by the annotation. */
export const planSchema: v.GenericSchema<unknown, PlanDocument> = v.strictObject({
  schema: v.literal('plimsoll.plan/1'),
  plimsoll: text,
  made_at: text,
  demand: v.strictObject({
    peak_per_s: text,
    margin: text,
    margin_kind: v.picklist(['derate', 'uplift', 'unsaid']),
    imbalance: text,
    failures: number,
    zones: v.nullable(v.strictObject({ count: number, lost: number })),
    gpus_per_replica: number,
    burst_window_s: maybe,
    price_per_gpu_hour: maybeText,
  }),
  candidates: v.array(
    v.strictObject({
      name: text,
      basis,
      output_tokens_per_s: maybe,
      capacity: v.nullable(sweepLoad),
      binding: v.nullable(v.picklist(['saturation', 'slo', 'memory'])),
      broke_first: maybeText,
      peak_output_tokens_per_s: maybe,
      readings: v.array(reading),
      chosen: v.nullable(marginKind),
      survivor_share: maybe,
    }),
  ),
  classes: v.array(
    v.strictObject({
      name: text,
      peak_per_s: text,
      sweep: text,
      basis,
      readings: v.array(reading),
      chosen: v.nullable(marginKind),
    }),
  ),
  shared_replicas: maybe,
  chosen: v.nullable(marginKind),
  availability: v.nullable(
    v.strictObject({
      of_replica: number,
      enough_up: v.array(v.strictObject({ replicas: number, chance: number })),
      wanted: v.nullable(v.strictObject({ chance: number, replicas: number })),
    }),
  ),
  bursts: v.array(v.strictObject({ window_s: number, peak_to_mean: number, covered_share: number })),
  limits: v.nullable(
    v.strictObject({
      max_running: number,
      max_wait_ms: maybe,
      max_queued: maybe,
      max_in_flight: maybe,
      max_queued_tokens: maybe,
      retry_after_s: maybe,
      why: v.record(v.string(), text),
      flags: v.record(v.string(), v.array(text)),
    }),
  ),
  provenance: v.nullable(
    v.strictObject({
      sweep: text,
      objective: maybeText,
      workload: text,
      engine: maybeText,
      embedded: v.boolean(),
      again: v.exactOptional(v.nullable(v.array(text))),
      model: maybeText,
      gpu: maybeText,
      engine_args: maybeText,
      plimsoll: text,
      measured_at: maybeText,
      expires_at: maybeText,
      runs: v.array(text),
      walls: sweepWalls,
      capacity: sweepCapacity,
      operating_point: operatingPoint,
      tail: v.array(
        v.strictObject({
          metric: v.picklist(['ttft_ms', 'tpot_ms']),
          p99: maybe,
          interval: v.nullable(v.strictTuple([maybe, maybe])),
          why: maybeText,
        }),
      ),
      tested: v.nullable(
        v.strictObject({ kind: v.picklist(['concurrency', 'rate']), first: number, last: number }),
      ),
    }),
  ),
  simulation: v.nullable(planSimulation),
  warnings: v.array(warning),
  not_measured: v.array(text),
  files: v.array(text),
  out: maybeText,
})
