import * as v from 'valibot'
import type { PercentileType } from '../../stats/percentile.ts'
import type { RunManifest } from './manifest.ts'

const maybe = v.nullable(v.number())
const record = v.record(v.string(), v.unknown())
const three = v.looseObject({ p50: maybe, p99: maybe, max: maybe })
const ownError = v.looseObject({ p50: maybe, p99: maybe })

const ratePerSecond = v.number()
const pacer = v.variant('kind', [
  v.looseObject({ kind: v.literal('constant'), ratePerSecond }),
  v.looseObject({ kind: v.literal('poisson'), ratePerSecond }),
  v.looseObject({ kind: v.literal('gamma'), ratePerSecond, cv: v.number() }),
  v.looseObject({
    kind: v.literal('ramp'),
    fromPerSecond: v.number(),
    toPerSecond: v.number(),
    durationMs: v.number(),
  }),
  v.looseObject({
    kind: v.literal('steps'),
    steps: v.array(v.looseObject({ ratePerSecond, durationMs: v.number() })),
  }),
  v.looseObject({ kind: v.literal('burst'), size: v.number(), everyMs: maybe }),
  v.looseObject({ kind: v.literal('schedule'), timesMs: v.array(v.number()), name: v.string() }),
  v.looseObject({ kind: v.literal('concurrency'), users: v.number(), thinkTimeMs: v.number() }),
])

/** What readers rest on in a `run.json`, its schema apart: keys that may be absent are filled by `manifestFromJson`. */
export const manifestSchema: v.GenericSchema<unknown, Pick<RunManifest, 'clock'> & Partial<RunManifest>> =
  v.looseObject({
    name: v.exactOptional(v.string()),
    versions: v.exactOptional(v.looseObject({ plimsoll: v.string(), node: v.string() })),
    config: v.exactOptional(
      v.intersect([
        record,
        v.looseObject({
          objectives: v.exactOptional(v.array(v.looseObject({ text: v.string() }))),
          percentileType: v.exactOptional(
            v.picklist(['1', '2', '3', '4', '5', '6', '7', '8', '9', 'floor'] satisfies PercentileType[]),
          ),
          percentiles: v.exactOptional(v.array(v.string())),
          metadata: v.exactOptional(v.record(v.string(), v.string())),
        }),
      ]),
    ),
    seed: v.exactOptional(v.string()),
    salt: v.exactOptional(v.nullable(v.string())),
    pacer: v.exactOptional(v.nullable(pacer)),
    workload: v.exactOptional(v.nullable(record)),
    target: v.exactOptional(
      v.nullable(v.looseObject({ url: v.string(), api: v.string(), model: v.nullable(v.string()) })),
    ),
    clock: v.looseObject({ origin_monotonic_ns: v.number(), started_at: v.nullable(v.string()) }),
    planned: v.exactOptional(maybe),
    window: v.exactOptional(
      v.nullable(
        v.looseObject({
          warmup_s: v.number(),
          measure_s: v.number(),
          drain_s: v.number(),
          start_ms: v.number(),
          end_ms: v.number(),
          how: v.picklist(['given', 'detected', 'count']),
        }),
      ),
    ),
    summary: v.exactOptional(v.nullable(v.looseObject({ counts: v.looseObject({ sent: v.number() }) }))),
    objective: v.exactOptional(v.nullable(v.string())),
    server: v.exactOptional(v.nullable(record)),
    client: v.exactOptional(
      v.nullable(
        v.looseObject({
          lag_ms: three,
          loop_delay_ms: three,
          cpu: v.looseObject({
            worker_max: maybe,
            workers: v.array(maybe),
            process: maybe,
            machine: maybe,
          }),
          workers: v.number(),
          own_error_ms: ownError,
          own_error_before_ms: v.exactOptional(v.nullable(ownError)),
          own_error_after_ms: v.exactOptional(v.nullable(ownError)),
          capacity_events_per_s: maybe,
          events: v.number(),
          same_machine: v.boolean(),
        }),
      ),
    ),
    stopped: v.exactOptional(
      v.nullable(v.looseObject({ kind: v.picklist(['interrupted', 'early', 'killed']), why: v.string() })),
    ),
    warnings: v.exactOptional(
      v.array(
        v.looseObject({
          kind: v.string(),
          message: v.string(),
          cause: v.nullable(v.string()),
          next: v.nullable(v.string()),
          evidence: record,
        }),
      ),
    ),
    requests_file: v.exactOptional(v.looseObject({ bytes: v.number(), crc32: v.string() })),
    source: v.exactOptional(
      v.looseObject({
        kind: v.literal('import'),
        tool: v.string(),
        files: v.array(v.string()),
        starts_known: v.boolean(),
        rows_known: v.boolean(),
        published: v.array(v.looseObject({ name: v.string(), value: maybe, unit: v.string() })),
        unrecoverable: v.array(v.looseObject({ figure: v.string(), why: v.string() })),
        facts: record,
      }),
    ),
  }) as unknown as v.GenericSchema<unknown, Pick<RunManifest, 'clock'> & Partial<RunManifest>>
