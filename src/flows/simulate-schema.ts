import * as v from 'valibot'
import type { MeasurementDocument } from '../report/measurement-document.ts'
import type { ModelDocument, PredictionDocument, ScoreDocument } from '../report/model-document.ts'
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
  noise: number,
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

const predicted = v.strictObject({ value: number, low: number, high: number })

/** `plimsoll model predict --json`. */
export const predictionSchema: v.GenericSchema<unknown, PredictionDocument> = v.strictObject({
  schema: v.literal('plimsoll.prediction/1'),
  plimsoll: text,
  model: text,
  asked: v.strictObject({ rate_per_s: number, prompt: text, output: text, tpot_limit_ms: maybe }),
  capacity_per_s: predicted,
  walls_per_s: v.record(text, maybe),
  binding: text,
  load: predicted,
  latency: v.nullable(
    v.strictObject({
      ttft_mean_ms: predicted,
      ttft_p99_ms: predicted,
      tpot_mean_ms: predicted,
      tpot_p99_ms: predicted,
      e2e_mean_ms: predicted,
    }),
  ),
  outside: v.array(text),
})

const scored = v.strictObject({
  value: number,
  low: number,
  high: number,
  measured: number,
  error: number,
  inside: v.boolean(),
})

/** `plimsoll model score --json`. */
export const scoreSchema: v.GenericSchema<unknown, ScoreDocument> = v.strictObject({
  schema: v.literal('plimsoll.score/1'),
  plimsoll: text,
  model: text,
  points: v.array(
    v.strictObject({
      run: text,
      n: number,
      prompt_tokens: number,
      ttft_ms: scored,
      tpot_ms: v.nullable(scored),
    }),
  ),
  mean_error: v.strictObject({ ttft: maybe, tpot: maybe }),
  mape: v.strictObject({ ttft: maybe, tpot: maybe }),
  closed_loops: v.array(v.strictObject({ run: text, users: number, requests_per_s: scored })),
  coverage: v.strictObject({ inside: number, of: number, claimed: v.literal(0.9) }),
  wide: number,
})

/** `plimsoll model measure --json`. */
export const measurementSchema: v.GenericSchema<unknown, MeasurementDocument> = v.strictObject({
  schema: v.literal('plimsoll.measurement/1'),
  plimsoll: text,
  folder: text,
  target: v.strictObject({ url: text, model: v.nullable(text), embedded: v.boolean() }),
  asked: v.strictObject({
    wall: v.picklist(['capacity', 'slo', 'memory', 'saturation']),
    prompt: text,
    output: text,
    tpot_limit_ms: maybe,
    target: number,
  }),
  points: v.array(
    v.strictObject({
      run: text,
      prompt_tokens: number,
      output_tokens: number,
      users: number,
      answered: number,
      seconds: number,
      ttft_ms: maybe,
      tpot_ms: maybe,
      foretold: v.nullable(v.strictObject({ before: number, after: number })),
      half_width: maybe,
    }),
  ),
  wall_per_s: v.nullable(predicted),
  half_width: maybe,
  ended: v.picklist(['target', 'points', 'time', 'interrupted', 'nothing left', 'not stored']),
  seconds: number,
  not_known: v.array(text),
  model: v.nullable(text),
})
