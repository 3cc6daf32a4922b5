import { mean, standardDeviation } from '../../stats/describe.ts'
import { percentile, sortAscending } from '../../stats/percentile.ts'
import type { Pacer } from '../load/pacer.ts'
import type { Json, JsonObject, RunManifest } from './manifest.ts'
import type { RequestRow } from './request-row.ts'
import { sortRows } from './sort-rows.ts'
import type { Rows } from './rows.ts'

/** Levels that the export has, in vLLM's key form: `p99_ttft_ms`, `p99.9_ttft_ms`. */
const levels = ['50', '90', '95', '99', '99.9']

/**
 * `--format vllm`: the object that vLLM's benchmark writes with `--save-result --save-detailed`, so that what reads those files
 * reads this one. It follows vLLM's conventions, which are not ours:
 *
 * - every latency counts from the **actual** send (ours: from the intended one; the wait before it is in no figure);
 * - all requests of the run that were sent, not a window; `duration` is from the first send to the last end, drain included, and
 *   all throughputs are over it;
 * - percentiles are linear (numpy's default, Hyndman and Fan's type 7), `std` is that of a population;
 * - a failed request has TTFT 0.0, no gaps, output length 0 and its error's text; summaries are over the others;
 * - `itl` are gaps between streamed events, `tpot` is (E2E − TTFT) ÷ (N − 1) for N > 1, and goodput counts a one-token answer's
 *   TPOT as 0, with limits that may be met exactly (`<=`);
 * - summaries are in ms, arrays in seconds; `start_times` count from the run's clock origin;
 * - `max_output_tokens_per_s` counts events, and `max_concurrent_requests` requests that touch it, in one-second buckets.
 *
 * Where vLLM writes 0 for what a run without success cannot tell, this writes null.
 */
export function exportVllm(
  manifest: RunManifest,
  rows: Rows,
  options: { readonly run: string; readonly goodput: { readonly good: number } | null },
): JsonObject {
  const sent = sortRows(
    rows.filter((row) => row.sent_ms !== null && row.outcome !== 'unsent'),
    (row) => row.sent_ms ?? 0,
  )
  const ok = sent.filter((row) => row.ok)
  const firstMs = Math.min(...extremes(sent.map((row) => row.sent_ms ?? 0)))
  const lastMs = Math.max(
    ...extremes(sent.map((row) => (row.sent_ms ?? 0) + (serviceMs(row, row.done_ms ?? row.e2e_ms) ?? 0))),
  )
  const duration = sent.length === 0 ? 0 : (lastMs - firstMs) / 1000
  const inputTokens = knownTotal(ok.map((row) => row.prompt_tokens))
  const outputTokens = knownTotal(ok.map((row) => row.completion_tokens))
  const allTokens = knownTotal([inputTokens, outputTokens])
  const perSecond = (amount: number | null): number | null =>
    amount !== null && duration > 0 ? amount / duration : null
  const peaks = oneSecondPeaks(ok, firstMs)
  const backend = manifest.target?.api === 'completions' ? 'openai' : 'openai-chat'
  const model = manifest.target?.model ?? null
  return {
    date: compactDate(manifest.clock.started_at),
    endpoint_type: backend,
    backend,
    label: null,
    model_id: model,
    tokenizer_id: model,
    num_prompts: sent.length,
    ...paceKeys(manifest.pacer),
    duration,
    completed: ok.length,
    failed: sent.length - ok.length,
    total_input_tokens: inputTokens,
    total_output_tokens: outputTokens,
    request_throughput: perSecond(ok.length),
    request_goodput: options.goodput === null ? null : perSecond(options.goodput.good),
    output_throughput: perSecond(outputTokens),
    total_token_throughput: perSecond(allTokens),
    max_output_tokens_per_s: peaks.events,
    max_concurrent_requests: peaks.concurrent,
    ...summaryKeys(
      'ttft',
      ok.map((row) => serviceMs(row, row.ttft_ms)).filter((value) => value !== null),
    ),
    ...summaryKeys(
      'tpot',
      ok.map((row) => row.tpot_ms).filter((value) => value !== null),
    ),
    ...summaryKeys(
      'itl',
      ok.flatMap((row) => row.gaps_ms),
    ),
    ...summaryKeys(
      'e2el',
      ok.map((row) => serviceMs(row, row.e2e_ms)).filter((value) => value !== null),
    ),
    input_lens: sent.map((row) => (row.ok ? row.prompt_tokens : (row.prompt_tokens ?? 0))),
    output_lens: sent.map((row) => (row.ok ? row.completion_tokens : 0)),
    ttfts: sent.map((row) => (row.ok ? seconds(serviceMs(row, row.ttft_ms)) : 0)),
    itls: sent.map((row) => (row.ok ? row.gaps_ms.map((gap) => gap / 1000) : [])),
    latencies: sent.map((row) => (row.ok ? seconds(serviceMs(row, row.e2e_ms)) : 0)),
    start_times: sent.map((row) => (row.sent_ms ?? 0) / 1000),
    generated_texts: sent.map((row) => row.text ?? ''),
    errors: sent.map(errorText),
    request_ids: sent.map((row) => row.id),
    plimsoll_run: options.run,
    plimsoll_unsent: rows.length - sent.length,
    plimsoll_conventions:
      "vLLM's: from the actual send, all sent requests, duration with its drain, linear percentiles, population std",
  }
}

/** Null where one of them is not known. */
function knownTotal(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === values.length ? total(known) : null
}

function serviceMs(row: RequestRow, latencyMs: number | null): number | null {
  return latencyMs === null ? null : latencyMs - (row.lag_ms ?? 0)
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}

/** vLLM takes a request without an error text for a success. */
function errorText(row: RequestRow): string {
  if (row.ok) return ''
  const text = row.error_message ?? row.error_kind ?? ''
  return text === '' ? row.outcome : text
}

/** `request_rate`, `burstiness` (the gamma shape, 1 ÷ cv²) and `max_concurrency`, as vLLM's flags say it. */
function paceKeys(pacer: Pacer | null): JsonObject {
  const of = (rate: number | 'inf' | null, burstiness: number | null, users: number | null): JsonObject => ({
    request_rate: rate,
    burstiness,
    max_concurrency: users,
  })
  switch (pacer?.kind) {
    case 'poisson':
      return of(pacer.ratePerSecond, 1, null)
    case 'gamma':
      return of(pacer.ratePerSecond, 1 / pacer.cv ** 2, null)
    case 'constant':
      return of(pacer.ratePerSecond, null, null)
    case 'concurrency':
      return of('inf', 1, pacer.users)
    case 'burst':
      return of('inf', 1, null)
    default:
      return of(null, null, null)
  }
}

function summaryKeys(name: string, values: readonly number[]): JsonObject {
  const sorted = sortAscending(values)
  const sampleDeviation = standardDeviation(sorted)
  const n = sorted.length
  const keys: Record<string, Json> = {
    [`mean_${name}_ms`]: mean(sorted),
    [`median_${name}_ms`]: percentile(sorted, '50', '7'),
    [`std_${name}_ms`]:
      n === 1 ? 0 : sampleDeviation === null ? null : sampleDeviation * Math.sqrt((n - 1) / n),
  }
  for (const level of levels) keys[`p${level}_${name}_ms`] = percentile(sorted, level, '7')
  return keys
}

/** Events, and requests in flight at any time, in the busiest second since the first send. */
function oneSecondPeaks(ok: Rows, firstMs: number): { events: number; concurrent: number } {
  const events: number[] = []
  const concurrent: number[] = []
  const add = (buckets: number[], second: number): void => {
    buckets[second] = (buckets[second] ?? 0) + 1
  }
  for (const row of ok) {
    const startMs = (row.sent_ms ?? 0) - firstMs
    const ttftMs = serviceMs(row, row.ttft_ms)
    if (ttftMs !== null) {
      let atMs = startMs + ttftMs
      add(events, Math.floor(atMs / 1000))
      for (const gap of row.gaps_ms) {
        atMs += gap
        add(events, Math.floor(atMs / 1000))
      }
    }
    const endMs = startMs + (serviceMs(row, row.e2e_ms) ?? 0)
    for (let second = Math.floor(startMs / 1000); second <= Math.floor(endMs / 1000); second++)
      add(concurrent, second)
  }
  const largest = (buckets: readonly number[]): number =>
    buckets.reduce((most, count) => Math.max(most, count ?? 0), 0)
  return { events: largest(events), concurrent: largest(concurrent) }
}

/** `20261129-143600`, UTC. */
function compactDate(iso: string | null): string | null {
  if (iso === null) return null
  const digits = iso.replace(/\.\d+/, '').replace(/[-:Z]/g, '')
  return digits.replace('T', '-')
}

/** Smallest and largest, without spreading a long list into arguments. */
function extremes(values: readonly number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return [low, high]
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
