import { mean, standardDeviation } from '../../stats/describe.ts'
import { percentile, sortAscending } from '../../stats/percentile.ts'
import type { Throughput } from '../metrics/run-summary.ts'
import { isInWindow, type RunWindow } from '../metrics/run-window.ts'
import type { Pacer } from '../load/pacer.ts'
import type { Json, JsonObject, RunManifest } from './manifest.ts'
import type { RequestRow } from './request-row.ts'
import type { Rows } from './rows.ts'

/** Percentiles that the report's statistics have, with the report's own names. */
const levels: readonly (readonly [key: string, percent: string])[] = [
  ['p0p1', '0.1'],
  ['p1', '1'],
  ['p5', '5'],
  ['p10', '10'],
  ['p25', '25'],
  ['p50', '50'],
  ['p75', '75'],
  ['p90', '90'],
  ['p95', '95'],
  ['p99', '99'],
  ['p99p9', '99.9'],
]

export interface LlmdOptions {
  readonly run: string
  readonly window: RunWindow
  readonly throughput: Throughput
}

/**
 * `--format llm-d`: the Benchmark Report v0.2.1 of llm-d-benchmark, in which every figure carries its unit. The window's requests that
 * succeeded, by our definitions: latencies from the intended send, percentiles by nearest rank, TPOT = (E2E − TTFT) ÷ (N − 1),
 * inter-token latency from the gaps (one a message, or one a token where the tokens of each message are known). What was not measured
 * is left out, since the report has no null. `plimsoll` under `scenario.load.native.config` says so and names the run.
 */
export function exportLlmd(manifest: RunManifest, rows: Rows, options: LlmdOptions): JsonObject {
  const inside = rows.filter((row) => isInWindow(row, options.window))
  const ok = inside.filter((row) => row.ok)
  const failures = inside.filter((row) => row.outcome === 'failed' || row.outcome === 'shed').length
  const incomplete = inside.filter((row) => row.outcome === 'censored').length
  const sent = inside.filter((row) => row.outcome !== 'unsent')
  const perToken = ok.every((row) => row.itl_per_token_ms !== null || row.gaps_ms.length === 0)
  const gaps = ok.flatMap((row) => (perToken ? (row.itl_per_token_ms ?? []) : row.gaps_ms))
  const { throughput } = options
  const total =
    throughput.input_tokens_per_s === null || throughput.output_tokens_per_s === null
      ? null
      : throughput.input_tokens_per_s + throughput.output_tokens_per_s
  return {
    version: '0.2.1',
    run: runPart(manifest, options),
    scenario: { load: loadPart(manifest, sent, options.run) },
    results: {
      request_performance: {
        aggregate: {
          requests: {
            total: sent.length,
            failures,
            incomplete,
            ...statistics(
              'input_length',
              'count',
              ok.map((row) => row.prompt_tokens),
            ),
            ...statistics(
              'output_length',
              'count',
              ok.map((row) => row.completion_tokens),
            ),
          },
          latency: {
            ...statistics(
              'time_to_first_token',
              'ms',
              ok.map((row) => row.ttft_ms),
            ),
            ...statistics('normalized_time_per_output_token', 'ms/token', ok.map(normalized)),
            ...statistics(
              'time_per_output_token',
              'ms/token',
              ok.map((row) => row.tpot_ms),
            ),
            ...statistics('inter_token_latency', 'ms/token', gaps),
            ...statistics(
              'request_latency',
              'ms',
              ok.map((row) => row.e2e_ms),
            ),
          },
          throughput: {
            ...rate('input_token_rate', 'tokens/s', throughput.input_tokens_per_s),
            ...rate('output_token_rate', 'tokens/s', throughput.output_tokens_per_s),
            ...rate('total_token_rate', 'tokens/s', total),
            ...rate('request_rate', 'queries/s', throughput.requests_per_s),
          },
        },
      },
    },
  }
}

/** E2E ÷ N, the wait for the first token in it. */
function normalized(row: RequestRow): number | null {
  return row.e2e_ms === null || row.completion_tokens === null || row.completion_tokens === 0
    ? null
    : row.e2e_ms / row.completion_tokens
}

function statistics(name: string, units: string, values: readonly (number | null)[]): JsonObject {
  const sorted = sortAscending(values.filter((value) => value !== null))
  const average = mean(sorted)
  if (average === null) return {}
  const found: Record<string, Json> = { units, mean: average }
  const deviation = standardDeviation(sorted)
  if (deviation !== null) found['stddev'] = deviation
  found['min'] = sorted[0] ?? null
  for (const [key, percent] of levels) found[key] = percentile(sorted, percent)
  found['max'] = sorted.at(-1) ?? null
  return { [name]: found }
}

function rate(name: string, units: string, perS: number | null): JsonObject {
  return perS === null ? {} : { [name]: { units, mean: perS } }
}

function runPart(manifest: RunManifest, { run, window }: LlmdOptions): JsonObject {
  const startedMs = manifest.clock.started_at === null ? Number.NaN : Date.parse(manifest.clock.started_at)
  const at = (ms: number): string => new Date(startedMs + ms).toISOString()
  const seconds = (window.endMs - window.startMs) / 1000
  return {
    uid: uidOf(`${run}\n${manifest.clock.started_at}\n${manifest.seed}\n${manifest.salt}`),
    description: `${manifest.name} by plimsoll ${manifest.versions.plimsoll}: latencies from the intended send, nearest-rank percentiles`,
    ...(Number.isNaN(startedMs)
      ? {}
      : { time: { start: at(window.startMs), end: at(window.endMs), duration: `PT${seconds.toFixed(6)}S` } }),
  }
}

function loadPart(manifest: RunManifest, sent: Rows, run: string): JsonObject {
  const prompts = sent.map((row) => row.prompt_tokens).filter((tokens) => tokens !== null)
  const asked = sent.map((row) => row.asked_output_tokens).filter((tokens) => tokens !== null)
  const kind = manifest.workload?.['kind']
  return {
    metadata: { schema_version: '0.0.1' },
    standardized: {
      tool: manifest.source?.tool ?? 'plimsoll',
      tool_version: manifest.source === undefined ? manifest.versions.plimsoll : 'unknown',
      parallelism: Math.max(1, manifest.client?.workers ?? 1),
      source: kind === 'random' ? 'random' : kind === undefined ? 'unknown' : 'sampled',
      input_seq_len: lengths(prompts) ?? { distribution: 'other', value: 0 },
      ...(lengths(asked) === null ? {} : { output_seq_len: lengths(asked) }),
      ...pace(manifest.pacer),
    },
    native: {
      config: {
        plimsoll: {
          run,
          schema: manifest.schema,
          pacer: manifest.pacer === null ? null : manifest.pacer.kind,
          seed: manifest.seed,
          imported_from: manifest.source?.tool ?? null,
          target:
            manifest.target === null ? null : { url: manifest.target.url, model: manifest.target.model },
        },
      },
    },
  }
}

function lengths(tokens: readonly number[]): JsonObject | null {
  if (tokens.length === 0) return null
  const sorted = sortAscending(tokens)
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)]
  const value = mean(sorted) ?? 0
  if (least === most) return { distribution: 'fixed', value }
  return {
    distribution: 'other',
    value,
    std_dev: standardDeviation(sorted) ?? 0,
    min: least,
    max: Math.max(1, most),
  }
}

function pace(pacer: Pacer | null): JsonObject {
  if (pacer === null) return {}
  if (pacer.kind === 'concurrency') return { concurrency: pacer.users }
  return 'ratePerSecond' in pacer && pacer.ratePerSecond > 0 ? { rate_qps: pacer.ratePerSecond } : {}
}

/** 128 bits of FNV-1a as four of 32 over the text and its position: the same run has the same uid, on every machine. */
function uidOf(text: string): string {
  let uid = ''
  for (let part = 0; part < 4; part++) {
    let hash = 0x811c9dc5 ^ Math.imul(part + 1, 0x9e3779b1)
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    uid += (hash >>> 0).toString(16).padStart(8, '0')
  }
  return uid
}
