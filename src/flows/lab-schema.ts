import * as v from 'valibot'
import type { LabDocument } from '../report/lab-documents.ts'

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const pair = v.strictTuple([number, number])
const schema = v.literal('plimsoll.lab/1')

const tail = v.strictObject({
  schema,
  kind: v.literal('tail'),
  seed: text,
  shape: v.picklist(['exponential', 'lognormal', 'pareto']),
  percentile: text,
  truth: number,
  rows: v.array(
    v.strictObject({
      n: number,
      repeats: number,
      closed_form: v.strictObject({ mean: maybe, sd: maybe, underestimates: number }),
      simulated: v.strictObject({ mean: number, sd: number, underestimates: number }),
      histogram: v.array(number),
    }),
  ),
  axis: pair,
  agent: v.strictObject({
    calls: number,
    slow: number,
    tasks: number,
    closed_form: number,
    simulated: number,
    standard_error: number,
    needed_per_call: number,
  }),
})

const omission = v.strictObject({
  schema,
  kind: v.literal('omission'),
  rate_per_s: number,
  duration_ms: number,
  stall_start_ms: number,
  stall_ms: number,
  service_ms: number,
  server: v.picklist(['parallel', 'serial']),
  clients: v.array(
    v.strictObject({
      client: v.picklist(['scheduled', 'waiting', 'catching_up']),
      sent: number,
      slow: number,
      mean_ms: number,
      p50_ms: number,
      p95_ms: number,
      p99_ms: number,
      max_ms: number,
      near_stall: v.array(pair),
    }),
  ),
  closed_form_p99_ms: number,
  corrected: v.strictObject({ samples: number, p99_ms: number }),
})

const walls = v.strictObject({
  schema,
  kind: v.literal('walls'),
  source: text,
  seed: v.nullable(text),
  limit: v.nullable(text),
  points: v.array(
    v.strictObject({
      load: number,
      tokens_per_s: number,
      p99_tpot_ms: maybe,
      p99_ttft_ms: maybe,
      p99_tpot_upper_ms: maybe,
      p99_ttft_upper_ms: maybe,
      n: maybe,
      passes: v.nullable(v.boolean()),
      indicative: v.boolean(),
    }),
  ),
  saturation: v.nullable(v.strictObject({ load: number, reached: v.boolean() })),
  peak: v.nullable(v.strictObject({ load: number, tokens_per_s: number })),
  slo: v.nullable(v.strictObject({ load: maybe, reached: v.boolean(), indicative: v.boolean() })),
  memory: v.nullable(v.strictObject({ load: number, kv_tokens: number, tokens_per_request: number })),
  capacity: v.strictObject({
    load: maybe,
    tokens_per_s: maybe,
    binding: v.nullable(v.picklist(['slo', 'saturation', 'memory'])),
    at_least: v.boolean(),
  }),
  passing_above: v.array(number),
  law: v.nullable(v.strictObject({ lambda: number, sigma: number, kappa: number, peak_load: maybe })),
})

/** What `plimsoll lab … --json` prints. */
export const labSchema: v.GenericSchema<LabDocument> = v.variant('kind', [tail, omission, walls])
