import { PlimsollError } from '../../base/errors.ts'
import type { Warning } from '../../base/warnings.ts'
import { checkedDocument } from './checked-document.ts'
import type { FileSum } from './file-sum.ts'
import { manifestSchema } from './manifest-schema.ts'
import type { ClientHealth } from '../load/client-health.ts'
import type { Pacer } from '../load/pacer.ts'
import type { RunSummary } from '../metrics/run-summary.ts'

/** The form of `run.json`. The number rises when a reader of the older form would misunderstand the newer one. */
export const runSchema = 'plimsoll.run/1'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** The measurement window on the run's clock: requests belong to it by intended send, `start <= planned < end`. */
export interface ManifestWindow {
  readonly warmup_s: number
  readonly measure_s: number
  readonly drain_s: number
  readonly start_ms: number
  readonly end_ms: number
  /** How the ends were chosen: given, found by detection, or by the number of requests. */
  readonly how: 'given' | 'detected' | 'count'
}

/** The same shape as the verdict of `judge`, which is a floor above and therefore cannot be imported. */
export interface ManifestVerdict {
  readonly status: 'VALID' | 'DEGRADED' | 'INVALID'
  readonly reasons: readonly {
    readonly rule: string
    readonly status: 'DEGRADED' | 'INVALID'
    readonly message: string
    readonly value: number | null
    readonly limit: number | null
  }[]
}

/**
 * `run.json`: what was done, with which parts, against what, and what came out of it. Everything in it that could hold a
 * secret has gone through `redact`. Times in ms on the run's clock.
 */
export interface RunManifest {
  readonly schema: typeof runSchema
  /** The last part of the folder's name, as given by `--name`. */
  readonly name: string
  readonly versions: { readonly plimsoll: string; readonly node: string }
  /** The configuration as it was understood, defaults filled in, secrets taken out. */
  readonly config: JsonObject
  readonly seed: string
  /** What was put in front of prompts to keep caches cold; null where nothing was. */
  readonly salt: string | null
  /** Null for imports and other rows that no pacer sent. */
  readonly pacer: Pacer | null
  readonly workload: JsonObject | null
  readonly target: { readonly url: string; readonly api: string; readonly model: string | null } | null
  readonly clock: {
    /**
     * CLOCK_MONOTONIC at 0 ms of the run, in ns. A JSON integer: exact to the nanosecond for the first 104 days after boot
     * and to 2 ns for the next hundred.
     */
    readonly origin_monotonic_ns: number
    /** The wall clock at the same moment, ISO 8601 in UTC; null where no one knows (imports). */
    readonly started_at: string | null
  }
  /** How many requests the plan had; null where it had no end of its own. */
  readonly planned: number | null
  readonly window: ManifestWindow | null
  readonly objective: string | null
  /** What preflight learnt of the server. */
  readonly server: JsonObject | null
  readonly client: ClientHealth | null
  readonly summary: RunSummary | null
  readonly verdict: ManifestVerdict | null
  /** Why the run ended before its plan did, or null. */
  readonly stopped: { readonly kind: 'interrupted' | 'early' | 'killed'; readonly why: string } | null
  readonly warnings: readonly Warning[]
  /** What `requests.parquet` summed to as it was written; absent in runs of older versions, and in the copy inside the file. */
  readonly requests_file?: FileSum
  /** Where the rows come from when another tool made them; absent for a run of plimsoll. */
  readonly source?: ImportSource
}

/** What an import knows of the run that its rows come from. */
export interface ImportSource {
  readonly kind: 'import'
  /** "vLLM bench serve" */
  readonly tool: string
  readonly format: string
  readonly files: readonly string[]
  /** Whether each request's own start was in the file; without, all of them stand at 0 ms and rates need `window`. */
  readonly starts_known: boolean
  /** Whether the file has the requests; else only their number and outcome, and `published`. */
  readonly rows_known: boolean
  /** The tool's own figures in our unit, null where they stand for "none". */
  readonly published: readonly {
    readonly name: string
    readonly value: number | null
    readonly unit: string
    /** What it is about and which statistic of it; absent in runs imported by older versions. */
    readonly metric?: string
    readonly statistic?: string
  }[]
  /** What cannot be had from the file, and why. */
  readonly unrecoverable: readonly { readonly figure: string; readonly why: string }[]
  readonly facts: JsonObject
  /** What the file's end in the middle, or torn places in it, took from the run, in a sentence; absent of whole ones. */
  readonly broken?: string
}

/** What is known when a run begins; the rest is null until it ends. */
export type ManifestStart = Pick<
  RunManifest,
  'name' | 'versions' | 'config' | 'seed' | 'salt' | 'pacer' | 'workload' | 'target' | 'clock'
> &
  Partial<RunManifest>

export function startManifest(start: ManifestStart): RunManifest {
  return {
    schema: runSchema,
    planned: null,
    window: null,
    objective: null,
    server: null,
    client: null,
    summary: null,
    verdict: null,
    stopped: null,
    warnings: [],
    ...start,
  }
}

/**
 * A manifest from parsed JSON: the schema and the fields that readers rest on are checked, keys that an older version did not write are filled with null.
 * @throws PlimsollError PLIM_RUN_FOLDER when it is no manifest, or one of a form that this version does not know.
 */
export function manifestFromJson(value: unknown, file: string): RunManifest {
  const schema = isObject(value) ? value['schema'] : undefined
  if (!isObject(value) || typeof schema !== 'string' || !schema.startsWith('plimsoll.')) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'this is not the manifest of a run', {
      expected: `an object with "schema": "${runSchema}"`,
      received: (JSON.stringify(value) ?? 'nothing').slice(0, 80),
      where: { file },
    })
  }
  if (schema !== runSchema) {
    const newer = /^plimsoll\.run\/(\d+)$/.exec(schema)
    throw new PlimsollError(
      'PLIM_RUN_FOLDER',
      `this manifest is of the form ${schema}, which cannot be read here`,
      {
        expected: runSchema,
        received: schema,
        where: { file },
        hint:
          newer === null
            ? 'give the folder of a run; a sweep is a folder of runs'
            : 'it was written by another version of plimsoll: read it with that version or a newer one',
      },
    )
  }
  const clock = value['clock']
  if (!isObject(clock) || typeof clock['origin_monotonic_ns'] !== 'number') {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'the manifest has no clock', {
      expected: '"clock": {"origin_monotonic_ns": …, "started_at": …}',
      received: JSON.stringify(clock) ?? 'nothing',
      where: { file },
    })
  }
  return startManifest({
    name: '',
    versions: { plimsoll: 'unknown', node: 'unknown' },
    config: {},
    seed: '',
    salt: null,
    pacer: null,
    workload: null,
    target: null,
    ...checkedDocument(manifestSchema, value, { file, what: 'the manifest' }),
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
