import * as v from 'valibot'
import { PlimsollError } from '../base/errors.ts'
import { quotedValue } from '../base/expected-words.ts'
import { type PositionedYaml, readYaml, type YamlSubject } from '../base/positioned-yaml.ts'
import { schemaRefusal } from './options/schema-refusal.ts'
import { schedulingPolicies } from '../simulate/engine/engine-config.ts'
import type { FleetText } from './simulate-text.ts'

const quantity = v.union([v.string(), v.number()])
const length = v.union([v.string(), v.number()])

const engine = v.union([
  v.string(),
  v.strictObject({
    preset: v.exactOptional(v.string()),
    model: v.exactOptional(v.string()),
    max_num_seqs: v.exactOptional(v.number()),
    max_num_batched_tokens: v.exactOptional(v.number()),
    long_prefill_token_threshold: v.exactOptional(v.number()),
    max_model_len: v.exactOptional(v.number()),
    block_size: v.exactOptional(v.number()),
    num_gpu_blocks: v.exactOptional(v.number()),
    max_num_waiting: v.exactOptional(v.number()),
    policy: v.exactOptional(v.picklist(schedulingPolicies)),
    speculative: v.exactOptional(v.number()),
    accept: v.exactOptional(v.union([v.number(), v.array(v.number())])),
    async_scheduling: v.exactOptional(v.boolean()),
    mixed_chunk: v.exactOptional(v.boolean()),
    host_ms: v.exactOptional(v.number()),
    enable_prefix_caching: v.exactOptional(v.boolean()),
    enable_chunked_prefill: v.exactOptional(v.boolean()),
    front_end_ms: v.exactOptional(v.number()),
    jitter_sigma: v.exactOptional(v.number()),
    base_ms: v.exactOptional(v.number()),
    knee_tokens: v.exactOptional(v.number()),
    per_token_ms: v.exactOptional(v.number()),
    per_context_token_ms: v.exactOptional(v.number()),
    per_pair_ms: v.exactOptional(v.number()),
    per_sequence_ms: v.exactOptional(v.number()),
  }),
])

const coldStart = v.union([quantity, v.strictObject({ median: quantity, p99: quantity })])

const parts = {
  name: v.exactOptional(v.string()),
  seed: v.exactOptional(quantity),
  duration: v.exactOptional(quantity),
  drain: v.exactOptional(quantity),
  window: v.exactOptional(quantity),
  replicas: v.exactOptional(v.number()),
  engine: v.exactOptional(engine),
  cost_per_hour: v.exactOptional(v.number()),
  groups: v.exactOptional(
    v.array(
      v.strictObject({
        name: v.exactOptional(v.string()),
        replicas: v.number(),
        engine,
        cost_per_hour: v.exactOptional(v.number()),
      }),
    ),
  ),
  traffic: v.exactOptional(
    v.strictObject({
      // A number is none, and is told what it may have meant.
      arrivals: v.exactOptional(quantity),
      prompt: v.exactOptional(length),
      output: v.exactOptional(length),
      sharing: v.exactOptional(v.strictObject({ groups: v.number(), tokens: v.number() })),
      trace: v.exactOptional(v.string()),
      speed: v.exactOptional(v.number()),
      repeat: v.exactOptional(v.boolean()),
    }),
  ),
  router: v.exactOptional(
    v.union([v.string(), v.strictObject({ kind: v.string(), signal_every: v.exactOptional(quantity) })]),
  ),
  scaler: v.exactOptional(
    v.nullable(
      v.strictObject({
        metric: v.exactOptional(v.string()),
        target: v.exactOptional(quantity),
        min: v.exactOptional(v.number()),
        max: v.exactOptional(v.number()),
        tolerance: v.exactOptional(quantity),
        sync: v.exactOptional(quantity),
        scrape: v.exactOptional(quantity),
        delay: v.exactOptional(quantity),
        up_stabilization: v.exactOptional(quantity),
        down_stabilization: v.exactOptional(quantity),
        cold_start: v.exactOptional(coldStart),
        warm_pool: v.exactOptional(
          v.nullable(
            v.strictObject({ replicas: v.exactOptional(v.number()), ready: v.exactOptional(quantity) }),
          ),
        ),
      }),
    ),
  ),
  admission: v.exactOptional(
    v.strictObject({
      in_flight_per_replica: v.exactOptional(v.number()),
      queue: v.exactOptional(v.number()),
      queue_timeout: v.exactOptional(quantity),
    }),
  ),
  clients: v.exactOptional(
    v.strictObject({
      timeout: v.exactOptional(quantity),
      retries: v.exactOptional(v.number()),
      backoff: v.exactOptional(quantity),
    }),
  ),
  faults: v.exactOptional(v.array(v.string())),
  objective: v.exactOptional(v.string()),
}

const policy = v.strictObject(parts)
const fleetFile = v.strictObject({ ...parts, policies: v.exactOptional(v.record(v.string(), policy)) })

/** The file as it is written, its shape checked; texts such as `10/s` are read in simulate-spec.ts. */
export interface FleetFile extends Pick<PositionedYaml, 'where' | 'has'> {
  readonly text: FleetText
}

const smallestFleet =
  '{ replicas: 2, engine: h100-8b, traffic: { arrivals: poisson 5/s, prompt: 1024, output: 128 }, objective: "ttft < 1s" }'

const fleet: YamlSubject = {
  what: 'fleet',
  expected: `a map that says replicas, engine and traffic: ${smallestFleet}`,
  hint: 'docs/simulation.md has whole ones, each with what it shows',
}

/** @throws PlimsollError PLIM_CONFIG with file, line and column, and for a misspelt key the nearest right one. */
export function readFleetFile(content: string, file: string): FleetFile {
  const yaml = readYaml(content, file, fleet)
  const { value, where, has } = yaml
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap || Object.keys(value).length === 0) {
    throw new PlimsollError('PLIM_CONFIG', isMap ? 'the file holds no fleet' : 'the file is not a fleet', {
      expected: fleet.expected,
      received: isMap ? 'an empty map' : quotedValue(value),
      where: where([]),
      hint: fleet.hint,
    })
  }
  const result = v.safeParse(fleetFile, value, { abortEarly: false })
  if (!result.success) throw schemaRefusal(fleetFile, result.issues, yaml)
  return { text: result.output, where, has }
}
