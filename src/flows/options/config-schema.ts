import * as v from 'valibot'
import { type ApiKind, apis } from '../../measure/wire/api.ts'
import type { ConfigFile } from './config-file-type.ts'
import { sloSection } from './slo-section.ts'

/**
 * The schema of plimsoll.yaml. It says the shapes; what texts such as `6/s` mean is read afterwards by the readers that flags use
 * too. `scripts/schema.mjs` makes `schema/config.schema.json` of it, so each field carries its description.
 */

type Described<T extends v.GenericSchema> = v.SchemaWithPipe<
  readonly [T, v.DescriptionAction<v.InferOutput<T>, string>]
>

function described<const T extends v.GenericSchema>(schema: T, description: string): Described<T> {
  return v.pipe(schema, v.description(description)) as Described<T>
}

const text = v.string()
const quantity = v.union([v.string(), v.number()])
const count = v.union([v.pipe(v.number(), v.integer(), v.minValue(1)), v.string()])
// A bare number is refused by the reader of durations, which says what may be meant.
const duration = v.union([v.string(), v.number()])
const pairs = v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))

const length = v.union([
  v.number(),
  v.string(),
  v.strictObject({ lognormal: v.strictObject({ median: v.number(), p99: v.number() }) }),
  v.strictObject({ normal: v.strictObject({ mean: v.number(), sd: v.number() }) }),
  v.strictObject({ uniform: v.strictObject({ low: v.number(), high: v.number() }) }),
  v.strictObject({ mean: v.number(), sd: v.exactOptional(v.number()) }),
])

const target = v.strictObject({
  url: v.exactOptional(
    described(text, 'Base address of an OpenAI-compatible server; without it the embedded engine is started'),
  ),
  api: v.exactOptional(described(v.picklist(Object.keys(apis) as ApiKind[]), 'Which API is asked')),
  stream: v.exactOptional(described(v.boolean(), 'Ask for streams; without them there is no TTFT')),
  endpoint: v.exactOptional(described(text, 'Path of the endpoint, if it is not that of the API')),
  model: v.exactOptional(described(text, 'Model; auto asks the server')),
  models: v.exactOptional(
    described(
      v.record(v.string(), v.pipe(v.number(), v.minValue(0))),
      'Models (or LoRA adapters) with weights, instead of one',
    ),
  ),
  key: v.exactOptional(
    v.strictObject({ env: described(text, 'Environment variable that holds the API key') }),
  ),
  headers: v.exactOptional(
    described(
      pairs,
      'Further headers; values may hold {{segment}}, {{row.FIELD}}, {{env.NAME}} and their like',
    ),
  ),
  insecure: v.exactOptional(described(v.boolean(), 'Do not verify the certificate')),
  http2: v.exactOptional(described(v.boolean(), 'Speak HTTP/2, over TLS')),
  aws_sigv4: v.exactOptional(
    described(text, 'Sign requests for this AWS service: SERVICE or SERVICE:REGION'),
  ),
  ca: v.exactOptional(described(text, 'PEM file of a further certificate authority')),
  metrics: v.exactOptional(described(v.array(text), 'Prometheus addresses of the replicas')),
  replica_header: v.exactOptional(described(text, 'Response header that names the replica')),
  kv_tokens: v.exactOptional(described(count, 'Size of the KV pool in tokens, where /metrics does not say')),
})

const lengths = {
  path: v.exactOptional(described(text, 'File of jsonl, sharegpt, batch and trace')),
  prompt: v.exactOptional(described(length, 'Prompt tokens')),
  output: v.exactOptional(described(length, 'Answer tokens')),
  scenario: v.exactOptional(described(text, 'Both lengths in one: D(900,200), N(900,100)/(200,20)')),
  prefix_hit_rate: v.exactOptional(
    described(quantity, 'Share of each prompt that all prompts of the run begin with: 60%'),
  ),
  shared_prefix: v.exactOptional(described(count, 'Or the tokens that all prompts begin with')),
}

const workload = v.strictObject({
  kind: v.exactOptional(
    described(
      v.picklist(['random', 'jsonl', 'sharegpt', 'batch', 'trace', 'mix']),
      'Where prompts come from',
    ),
  ),
  ...lengths,
  speed: v.exactOptional(described(quantity, 'Of a trace: how many times as fast as recorded, 2x')),
  turns: v.exactOptional(
    described(count, 'Requests of a session: each sends all that was said before it; rates are of sessions'),
  ),
  turn_think: v.exactOptional(
    described(duration, 'From an answer to the next turn of its session: 2s, or exponential 2s'),
  ),
  classes: v.exactOptional(
    described(
      v.record(
        v.string(),
        v.strictObject({
          weight: v.pipe(v.number(), v.minValue(0)),
          kind: v.exactOptional(v.picklist(['random', 'jsonl', 'sharegpt', 'batch'])),
          ...lengths,
        }),
      ),
      'Classes of a mix by name: drawn by weight, the class is the segment of the row',
    ),
  ),
  cancel: v.exactOptional(
    described(
      v.strictObject({ share: quantity, after: v.exactOptional(duration) }),
      'Requests that the client hangs up on, so long after their intended send: { share: 10%, after: 500ms }',
    ),
  ),
  ignore_eos: v.exactOptional(described(v.boolean(), 'Ask for answers of exactly the length')),
  extra_body: v.exactOptional(described(v.record(v.string(), v.unknown()), 'Fields added to every request')),
  body_template: v.exactOptional(
    described(
      text,
      'JSON file that is the body of every request, with placeholders: {{prompt}}, {{row.FIELD}}',
    ),
  ),
  tokenizer: v.exactOptional(described(text, 'A tokenizer.json or tokenizer.model; else the server counts')),
  salt: v.exactOptional(
    described(text, 'Text that keeps prompts out of the prefix cache; fresh each run unless given'),
  ),
  warm_prefix: v.exactOptional(described(v.boolean(), 'No salt: let the prefix cache hit')),
})

const spacing = v.exactOptional(v.picklist(['even', 'poisson']))

const arrivals = v.variant('kind', [
  v.strictObject({ kind: v.literal('constant'), rate: quantity, max_connections: v.exactOptional(count) }),
  v.strictObject({ kind: v.literal('poisson'), rate: quantity, max_connections: v.exactOptional(count) }),
  v.strictObject({
    kind: v.literal('gamma'),
    rate: quantity,
    cv: v.number(),
    max_connections: v.exactOptional(count),
  }),
  v.strictObject({ kind: v.literal('ramp'), from: quantity, to: quantity, over: duration, spacing }),
  v.strictObject({
    kind: v.literal('steps'),
    steps: v.array(v.strictObject({ rate: quantity, for: duration })),
    spacing,
  }),
  v.strictObject({ kind: v.literal('burst'), size: count, every: v.exactOptional(duration) }),
  v.strictObject({
    kind: v.literal('users'),
    users: count,
    think: v.exactOptional(duration),
    think_time: v.exactOptional(v.picklist(['fixed', 'exponential'])),
    stagger: v.exactOptional(duration),
  }),
])

const window = v.strictObject({
  warmup: v.exactOptional(
    described(duration, 'Sent before the window and left out of it; auto finds its end'),
  ),
  measure: v.exactOptional(described(duration, 'How long to measure')),
  requests: v.exactOptional(
    described(count, 'Requests to send; with measure the first of both ends the run'),
  ),
  drain: v.exactOptional(described(duration, 'How long to wait for the last answers')),
})

const objective = v.strictObject({
  each: v.exactOptional(
    described(text, 'What a request must keep: ttft < 500ms and tpot < 30ms; without it: an answer'),
  ),
  good: v.exactOptional(described(quantity, 'The share that must be good: 99.5%')),
  over: v.exactOptional(described(text, 'The time over which that share is promised: 30d')),
  shed: v.exactOptional(described(v.picklist(['bad', 'ignore']), 'Whether a refusal is bad')),
})

const capacity = v.strictObject({
  at: v.exactOptional(described(text, 'The objective at which capacity is read: p99 tpot <= 10ms')),
  margin: v.exactOptional(described(text, 'derate:20% or uplift:20%')),
  survive: v.exactOptional(described(v.number(), 'Replicas that may be lost')),
  peak: v.exactOptional(described(quantity, 'The demand: 40/s')),
})

const sweep = v.strictObject({
  concurrency: v.exactOptional(
    described(v.union([v.literal('auto'), v.array(v.number())]), 'Users of closed loops'),
  ),
  rates: v.exactOptional(
    described(v.union([v.literal('auto'), v.array(quantity)]), 'Requests per second of open loops instead'),
  ),
  points: v.exactOptional(described(count, 'At most this many points with auto')),
  duration_per_point: v.exactOptional(described(duration, 'How long each point is measured')),
  confirm: v.exactOptional(described(v.boolean(), 'Confirm the operating point by a Poisson run')),
})

const client = v.strictObject({
  workers: v.exactOptional(described(count, 'Worker threads')),
  timeouts: v.exactOptional(
    v.strictObject({
      connect: v.exactOptional(duration),
      first_token: v.exactOptional(duration),
      idle: v.exactOptional(duration),
      total: v.exactOptional(duration),
    }),
  ),
  keep_text: v.exactOptional(described(v.boolean(), 'Keep the answers on the rows')),
})

const output = v.strictObject({
  name: v.exactOptional(described(text, 'Name of the run, in its folder')),
  runs_dir: v.exactOptional(described(text, 'Where run folders are made')),
  percentiles: v.exactOptional(described(v.array(v.number()), 'Percentiles to print')),
  percentile_type: v.exactOptional(
    described(v.picklist(['1', '6', '7', 'floor']), '1 nearest rank; others to compare with other tools'),
  ),
  metadata: v.exactOptional(described(pairs, 'Pairs kept with the run')),
})

export const configSchema: v.GenericSchema<unknown, ConfigFile> = v.strictObject({
  target: v.exactOptional(described(target, 'The server')),
  workload: v.exactOptional(described(workload, 'What is asked')),
  arrivals: v.exactOptional(described(arrivals, 'When it is asked')),
  window: v.exactOptional(described(window, 'How long')),
  seed: v.exactOptional(described(quantity, 'The same seed makes the same plan')),
  objectives: v.exactOptional(described(v.record(v.string(), objective), 'What is good, by name')),
  slo: v.exactOptional(described(sloSection, 'How the objectives are watched: plimsoll slo')),
  capacity: v.exactOptional(described(capacity, 'What capacity means here')),
  sweep: v.exactOptional(described(sweep, 'Rising load')),
  client: v.exactOptional(described(client, 'The load generator')),
  output: v.exactOptional(described(output, 'Where runs are kept and what is printed')),
  engine: v.exactOptional(
    described(v.record(v.string(), v.union([quantity, v.boolean()])), 'Settings of the embedded engine'),
  ),
  matrix: v.exactOptional(
    described(
      v.record(v.string(), v.pipe(v.array(v.union([quantity, v.boolean()])), v.minLength(1))),
      'plimsoll run: every combination of these flags is run',
    ),
  ),
  repeat: v.exactOptional(
    described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'plimsoll run: each combination so many times'),
  ),
  faults: v.exactOptional(described(v.array(text), 'What goes wrong in the embedded engine')),
})
