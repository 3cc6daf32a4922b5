import * as v from 'valibot'
import type { ModelDocument } from '../report/model-document.ts'
import type { SimulationDocument } from '../report/simulate-document.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const counted = v.record(v.string(), v.number())

const latency = v.strictObject({ n: number, mean: maybe, p50: maybe, p90: maybe, p99: maybe, max: maybe })

const window = v.strictObject({
  start_s: number,
  arrived: number,
  good: number,
  bad: number,
  ready_replicas: number,
  most_waiting: number,
})

const policy = v.strictObject({
  policy: text,
  folder: text,
  counts: v.strictObject({
    arrived: number,
    answered: number,
    good: number,
    censored: number,
    attempts: number,
    lost: counted,
  }),
  good_share: maybe,
  goodput_per_s: number,
  output_tokens_per_s: number,
  objective_met: v.nullable(v.boolean()),
  budget_spent: maybe,
  hurt: counted,
  ttft_ms: latency,
  tpot_ms: latency,
  e2e_ms: latency,
  queue_ms: latency,
  worst_queue: v.strictObject({ requests: number, at_s: number }),
  preemptions: number,
  replicas: v.strictObject({
    first: number,
    most: number,
    changes: v.array(v.strictObject({ at_s: number, from: number, to: number })),
  }),
  groups: v.array(v.strictObject({ name: text, ttft_ms: latency })),
  replica_hours: number,
  cost: maybe,
  windows: v.array(window),
})

/** `plimsoll simulate --json`. */
export const simulationSchema: v.GenericSchema<unknown, SimulationDocument> = v.strictObject({
  schema: v.literal('plimsoll.simulation/1'),
  plimsoll: text,
  file: text,
  name: text,
  seed: text,
  duration_s: number,
  objective: v.nullable(text),
  policies: v.array(policy),
  floor: v.nullable(
    v.strictObject({ replica_hours: number, cost: maybe, capacity_per_s: number, binding: text }),
  ),
})

const range = v.tuple([number, number])
const figure = v.strictObject({ measured: number, fitted: number })

/** The file of `plimsoll model fit --out`. */
export const modelSchema: v.GenericSchema<unknown, ModelDocument> = v.strictObject({
  schema: v.literal('plimsoll.model/1'),
  plimsoll: text,
  runs: v.array(text),
  settings: v.record(text, v.nullable(v.union([number, v.boolean()]))),
  coefficients: counted,
  uncertainty: counted,
  log_covariance: v.array(v.array(number)),
  ensemble: v.array(counted),
  bounded_by: v.picklist(['physics', 'not negative']),
  rms_error: number,
  points: v.array(
    v.strictObject({
      run: text,
      n: number,
      prompt_tokens: number,
      ttft_ms: figure,
      tpot_ms: v.nullable(figure),
    }),
  ),
  collinear: v.array(v.strictObject({ a: text, b: text, correlation: number })),
  next_measurement: v.nullable(text),
  hull: v.strictObject({ prompt_tokens: range, output_tokens: range }),
})
