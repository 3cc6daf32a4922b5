import { noun } from '../../../base/noun.ts'
import type { Warning } from '../../../base/warnings.ts'
import type { Pacer } from '../../load/pacer.ts'
import type { Json, JsonObject } from '../manifest.ts'
import { numberLists } from '../number-lists.ts'
import type { RowStoreOptions } from '../row-store.ts'
import type { ImportedRun, Published, ToolFormulas, Unrecoverable } from './imported-run.ts'
import { doubledCount, doubledNote, note } from './import-notes.ts'
import type { Importer, ImportSession } from './importer.ts'
import { countedRows } from './imported-row.ts'
import type { JsonPlace, JsonPlan } from './json-stream.ts'
import {
  asRecord,
  countOf,
  numberOf,
  numbersOf,
  textOf,
  type JsonRecord,
  type JsonValue,
} from './json-value.ts'
import { columnRows, servingLoss, unevenNotes, type ColumnRows } from './serving-columns.ts'
import { servingSummary } from './serving-summary.ts'

const plan: JsonPlan = {
  members: {
    itls: { each: { emit: true } },
    generated_texts: { skip: true },
    server_info: { skip: true },
    rps_change_events: { skip: true },
  },
}

function isServing(root: JsonValue | undefined): JsonRecord | null {
  const record = asRecord(root)
  if (record === null) return null
  const known = [
    'completed',
    'duration',
    'request_throughput',
    'total_output_tokens',
    'mean_ttft_ms',
    'ttfts',
  ].filter((key) => key in record)
  return known.length >= 2 && ('completed' in record || 'ttfts' in record || 'mean_ttft_ms' in record)
    ? record
    : null
}

function isSglang(record: JsonRecord): boolean {
  const backend = textOf(record['backend']) ?? ''
  return (
    'total_output_tokens_retokenized' in record ||
    'accept_length' in record ||
    'mean_e2e_latency_ms' in record ||
    backend.startsWith('sglang')
  )
}

const vllmFormulas: ToolFormulas = {
  ttft: 'first message with choices, a chat role alone counts; from the actual send',
  tpot: '(E2E − TTFT) ÷ (N − 1)',
  gaps: 'gaps between messages, pooled over all requests',
  e2e: 'to the last message, in a chat the usage one too',
  percentiles: 'linear between ranks (numpy), std of a population',
  rate: 'over its duration, first send to last end',
}

const sglangFormulas: ToolFormulas = {
  ...vllmFormulas,
  ttft: 'first non-empty content; from the actual send, behind its semaphore',
  e2e: 'to the [DONE] line',
  rate: 'over its duration; N is the asked maximum where the server gave no usage',
}

/** vLLM's `--save-result`, with `--save-detailed` or without, one object or several appended. */
export const vllmImporter: Importer = {
  format: 'vllm',
  tool: 'vLLM bench serve',
  detects: ({ roots }) => {
    const record = isServing(roots[0])
    return record !== null && !isSglang(record)
  },
  begin: (file, rows) =>
    session({ file, format: 'vllm', tool: 'vLLM bench serve', formulas: vllmFormulas }, rows),
}

/** SGLang's `--output-file`: an object a line, `Infinity` and all. */
export const sglangImporter: Importer = {
  format: 'sglang',
  tool: 'SGLang bench_serving',
  detects: ({ roots }) => {
    const record = isServing(roots[0])
    return record !== null && isSglang(record)
  },
  begin: (file, rows) =>
    session({ file, format: 'sglang', tool: 'SGLang bench_serving', formulas: sglangFormulas }, rows),
}

type About = Pick<ImportedRun, 'file' | 'format' | 'tool' | 'formulas'>

function session(about: About, options: RowStoreOptions): ImportSession {
  const runs: ImportedRun[] = []
  let gaps = numberLists(options)
  return {
    plan,
    item(value, path) {
      if (path[1] === 0) gaps = numberLists(options)
      const own = numbersOf(value, 1000)
      if (own === null) return
      while (gaps.length < Number(path[1])) gaps.push(null)
      gaps.push(own)
    },
    rootsAreRuns: true,
    root(value, place, cut) {
      const record = asRecord(value)
      if (record !== null) {
        const run = servingRun(record, columnRows(record, gaps, options), place, about)
        runs.push(
          cut === null
            ? { ...run, warnings: [...run.warnings, ...unevenNotes(record, gaps, run.rows.length)] }
            : { ...run, loss: servingLoss(record, run.rows.length, gaps.length) },
        )
      }
      gaps = numberLists(options)
    },
    end: () =>
      runs.length === 1 ? runs : runs.map((run, index) => ({ ...run, label: run.label ?? `${index + 1}` })),
  }
}

function servingRun(root: JsonRecord, columns: ColumnRows, place: JsonPlace, about: About): ImportedRun {
  const rowsKnown = columns.rows.length > 0
  const completed = countOf(root['completed']) ?? columns.rows.filter((row) => row.ok).length
  const planned = countOf(root['num_prompts'])
  const failed =
    countOf(root['failed']) ??
    countOf(root['failed_requests']) ??
    (planned === null ? 0 : Math.max(0, planned - completed))
  const durationS = numberOf(root['duration'])
  const published = servingSummary(root, completed)
  const placeholder = placeholderMetrics(published, completed)
  const outputTokens = numberOf(root['total_output_tokens'])
  return {
    ...about,
    label: rateText(root),
    rows: rowsKnown ? columns.rows : countedRows({ ok: completed, failed }),
    originWallMs: null,
    target: { url: textOf(root['base_url']) ?? 'unknown', api: apiOf(root), model: textOf(root['model_id']) },
    pacer: pacerOf(root),
    durationMs: durationS === null || durationS <= 0 ? null : durationS * 1000,
    startsKnown: columns.startsKnown,
    rowsKnown,
    published,
    facts: {
      ...factsOf(root),
      completed,
      failed,
      output_tokens_per_s:
        durationS !== null && durationS > 0 && outputTokens !== null ? outputTokens / durationS : null,
      placeholder_metrics: placeholder,
    },
    unrecoverable: missing(root, columns, rowsKnown, placeholder),
    warnings: [
      doubledNote(about.file, doubledCount(place.doubled), 'the last value was taken'),
      placeholderNote(placeholder),
      retokenizedNote(root),
      durationNote(root),
      ...columnNotes(columns),
    ].filter((one) => one !== null),
  }
}

/** Metrics of which every published figure is a zero although requests succeeded. */
function placeholderMetrics(published: readonly Published[], completed: number): string[] {
  if (completed === 0) return []
  const metrics = [...new Set(published.filter((one) => one.unit === 'ms').map(({ metric }) => metric))]
  return metrics.filter(
    (metric) =>
      published.every((one) => one.metric !== metric || one.value === null || one.statistic === 'std') &&
      published.some((one) => one.metric === metric && /placeholder/.test(one.why ?? '')),
  )
}

function placeholderNote(metrics: readonly string[]): Warning | null {
  if (metrics.length === 0) return null
  return note(
    'unrecoverable',
    `${metrics.map((metric) => metric.replace(/_ms$/, '')).join(', ')}: every figure in the file is 0, which stands for "not measured"`,
    'the client did not see the stream: a backend without streaming, or an endpoint that answers at once',
    { metrics: metrics.join(',') },
  )
}

/** A test that took no time, or less: no rate can be taken over it. */
function durationNote(root: JsonRecord): Warning | null {
  const seconds = numberOf(root['duration'])
  if (root['duration'] === undefined || root['duration'] === null || (seconds !== null && seconds > 0))
    return null
  return note(
    'unrecoverable',
    `duration is ${seconds ?? 'no number'}: a test lasts longer than 0 s`,
    'taken as not known: no rate is held against it',
    { field: 'duration' },
  )
}

/** SGLang falls back on the asked maximum where usage is missing; its own retokenised count then differs. */
function retokenizedNote(root: JsonRecord): Warning | null {
  const reported = numberOf(root['total_output_tokens'])
  const again = numberOf(root['total_output_tokens_retokenized'])
  if (reported === null || again === null || again === 0 || Math.abs(reported - again) <= 0.02 * again)
    return null
  return note(
    'token_count_disagrees',
    `output tokens: ${reported} reported, ${again} when its text is tokenized again`,
    'without usage in the answer the asked maximum is counted: an answer that ended early inflates throughput and shortens TPOT',
    { reported, retokenized: again },
  )
}

function columnNotes(columns: ColumnRows): Warning[] {
  const notes: Warning[] = [...columns.notes]
  if (columns.guessed) {
    notes.push(
      note(
        'unrecoverable',
        'the file has no errors list: a request without output tokens is taken for a failure',
        null,
      ),
    )
  }
  if (columns.zeroTtft > 0) {
    notes.push(
      note(
        'unrecoverable',
        `${columns.zeroTtft} successful ${noun(columns.zeroTtft, 'request has', 'requests have')} a TTFT of 0: taken as not measured`,
        null,
        { requests: columns.zeroTtft },
      ),
    )
  }
  return notes
}

function missing(
  root: JsonRecord,
  columns: ColumnRows,
  rowsKnown: boolean,
  placeholder: readonly string[],
): Unrecoverable[] {
  const found: Unrecoverable[] = placeholder.map((metric) => ({
    figure: metric,
    why: 'all of its figures are 0: not measured',
  }))
  if (!rowsKnown) {
    found.push({
      figure: 'every distribution',
      why: 'the file has only summaries: run with --save-detailed (vLLM) or --output-details (SGLang) for the requests',
    })
    return found
  }
  if (root['queue_times'] === undefined)
    found.push({
      figure: 'lag_ms',
      why: 'the intended sends are not in the file: latencies count from the actual send',
    })
  if (!columns.startsKnown)
    found.push({
      figure: 'planned_ms',
      why: 'the file has no start times: nothing that depends on the order of requests can be known',
    })
  if (!columns.gapsKnown) found.push({ figure: 'gaps_ms', why: 'the file has no itls list' })
  if (
    /chat/.test(textOf(root['endpoint_type']) ?? textOf(root['backend']) ?? '') &&
    root['latencies'] === undefined
  )
    found.push({
      figure: 'e2e_ms',
      why: 'not in the file: TTFT + Σ ITL, which for a chat may end at the usage event',
    })
  return found
}

function apiOf(root: JsonRecord): string {
  const backend = textOf(root['endpoint_type']) ?? textOf(root['backend']) ?? 'unknown'
  return /chat/.test(backend) ? 'chat' : /completion|^openai$|^vllm$/.test(backend) ? 'completions' : backend
}

/** `request_rate` as a number, `inf`, or null; SGLang writes the bare word Infinity, vLLM the text "inf". */
export function rateOf(value: JsonValue | undefined): number | 'inf' | null {
  if (value === Number.POSITIVE_INFINITY || value === 'inf') return 'inf'
  return numberOf(value)
}

function rateText(root: JsonRecord): string | null {
  const rate = rateOf(root['request_rate'])
  const users = countOf(root['max_concurrency'])
  const parts = [rate === null || rate === 'inf' ? null : `${rate}rps`, users === null ? null : `c${users}`]
  const text = parts.filter((part) => part !== null).join('-')
  return text === '' ? null : text
}

function pacerOf(root: JsonRecord): Pacer | null {
  const rate = rateOf(root['request_rate'])
  const users = countOf(root['max_concurrency'])
  const burstiness = numberOf(root['burstiness']) ?? 1
  // A rate behind a semaphore is neither loop: the semaphore holds sends back.
  if (rate === 'inf' && users !== null && users > 0) return { kind: 'concurrency', users, thinkTimeMs: 0 }
  if (typeof rate !== 'number' || rate <= 0 || users !== null) return null
  return burstiness === 1
    ? { kind: 'poisson', ratePerSecond: rate }
    : burstiness > 0
      ? { kind: 'gamma', ratePerSecond: rate, cv: 1 / Math.sqrt(burstiness) }
      : null
}

const factKeys = [
  'date',
  'backend',
  'endpoint_type',
  'dataset_name',
  'label',
  'tag',
  'num_prompts',
  'max_concurrency',
  'burstiness',
  'duration',
  'total_input_tokens',
  'total_output_tokens',
  'total_output_tokens_retokenized',
  'max_output_tokens_per_s',
  'max_concurrent_requests',
  'concurrency',
  'accept_length',
] as const

function factsOf(root: JsonRecord): JsonObject {
  const facts: Record<string, Json> = { request_rate: rateOf(root['request_rate']) }
  for (const key of factKeys) {
    if (!(key in root)) continue
    const value = root[key]
    facts[key] = typeof value === 'string' || typeof value === 'boolean' ? value : numberOf(value)
  }
  return facts
}
