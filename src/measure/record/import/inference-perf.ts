import { noun } from '../../../base/noun.ts'
import type { RequestRow } from '../request-row.ts'
import { rowStore, type RowStoreOptions } from '../row-store.ts'
import { noFacts, type ImportedRun, type Published, type ToolFormulas } from './imported-run.ts'
import { note } from './import-notes.ts'
import type { Importer, ImportSession } from './importer.ts'
import { requestId } from '../request-id.ts'
import { countedRows, failure, fromEarliest, importedRow } from './imported-row.ts'
import type { JsonPlan } from './json-stream.ts'
import {
  asList,
  asRecord,
  countOf,
  member,
  numberOf,
  numbersOf,
  textOf,
  type JsonRecord,
  type JsonValue,
} from './json-value.ts'
import { publish, publishAll } from './published.ts'

const formulas: ToolFormulas = {
  ttft: 'first content token; reasoning does not count',
  tpot: '(last token − first) ÷ (N − 1), N by the client tokenizer unless told otherwise',
  gaps: 'each chunk tokenized again, all of its tokens at its time: zeros inside chunks',
  e2e: 'to the end of the body',
  percentiles: 'linear between ranks (numpy)',
  rate: 'over first start to last end of a stage',
}

const request: JsonPlan = {
  emit: true,
  members: {
    request: { skip: true },
    response: { skip: true },
    info: { members: { response_metrics: { members: { response_chunks: { skip: true } } } } },
  },
}

/** inference-perf's `per_request_lifecycle_metrics.json`, in seconds of one monotonic clock. */
export const inferencePerfRequests: Importer = {
  format: 'inference-perf-requests',
  tool: 'inference-perf',
  detects: ({ roots }) => {
    const first = asRecord(asList(roots[0])?.[0])
    return first !== null && 'start_time' in first && 'end_time' in first && 'info' in first
  },
  begin: requestsSession,
}

/** Its `summary_lifecycle_metrics.json` and `stage_N_…`: distributions in seconds. */
export const inferencePerfSummary: Importer = {
  format: 'inference-perf-summary',
  tool: 'inference-perf',
  detects: ({ roots }) =>
    asRecord(member(roots[0], 'load_summary')) !== null && asRecord(member(roots[0], 'successes')) !== null,
  begin: summarySession,
}

function requestsSession(file: string, options: RowStoreOptions): ImportSession {
  const read = rowStore(options)
  let baseS: number | null = null
  let repeated = 0
  return {
    plan: { each: request },
    item(value) {
      const record = asRecord(value)
      if (record === null) return
      baseS ??= numberOf(record['start_time'])
      const found = requestRow(record, read.length, baseS)
      if (found.repeats) repeated++
      read.push(found.row)
    },
    end() {
      const { rows } = fromEarliest(read)
      return [
        {
          ...noFacts,
          format: 'inference-perf-requests',
          tool: 'inference-perf',
          file,
          formulas,
          rows,
          startsKnown: rows.length > 0 && rows.every((row) => row.sent_ms !== null),
          rowsKnown: true,
          unrecoverable: [
            {
              figure: 'lag_ms',
              why: 'only the distribution of its schedule_delay is published: latencies count from the actual send',
            },
          ],
          warnings:
            repeated > 0
              ? [
                  note(
                    'messages_not_tokens',
                    `in ${repeated} ${noun(repeated, 'request')} several tokens share one time: they came in one chunk`,
                    'its inter-token latencies are 0 inside chunks; here a gap is from chunk to chunk',
                    { requests: repeated },
                  ),
                ]
              : [],
        },
      ]
    },
  }
}

function requestRow(
  record: JsonRecord,
  index: number,
  baseS: number | null,
): { readonly row: RequestRow; readonly repeats: boolean } {
  const info = asRecord(record['info']) ?? {}
  const response = asRecord(info['response_metrics']) ?? info
  const startS = numberOf(record['start_time'])
  const endS = numberOf(record['end_time'])
  const times = numbersOf(response['output_token_times']) ?? []
  const usage = countOf(member(response['server_usage'], 'completion_tokens'))
  const tokens = usage ?? countOf(response['output_tokens']) ?? (times.length > 0 ? times.length : null)
  const events: { atS: number; tokens: number }[] = []
  for (const atS of times) {
    const last = events.at(-1)
    if (last?.atS === atS) last.tokens++
    else events.push({ atS, tokens: 1 })
  }
  const since = (atS: number | undefined): number | null =>
    atS === undefined || startS === null ? null : round((atS - startS) * 1000)
  const error = asRecord(record['error'])
  const outcome =
    error === null
      ? { outcome: 'ok' as const }
      : failure(
          textOf(error['error_type'])?.match(/^\d{3}/)?.[0] ?? null,
          textOf(error['error_msg']) ?? textOf(error['error_type']) ?? 'failed',
        )
  const first = events[0]
  const counted = events.reduce((sum, one) => sum + one.tokens, 0)
  return {
    repeats: events.length < times.length,
    row: importedRow({
      id: requestId(index),
      plannedMs: startS === null ? 0 : round((startS - (baseS ?? startS)) * 1000),
      sentMs: startS === null ? null : round((startS - (baseS ?? startS)) * 1000),
      ...outcome,
      errorType: textOf(error?.['error_type']),
      ttftMs: since(first?.atS),
      e2eMs:
        since(events.at(-1)?.atS) ??
        (error === null && events.length === 0 ? since(endS ?? undefined) : null),
      doneMs: since(endS ?? undefined),
      gapsMs:
        first === undefined
          ? null
          : events.slice(1).map((one, at) => round((one.atS - (events[at]?.atS ?? 0)) * 1000)),
      eventTokens: events.length > 0 && counted === tokens ? events.map((one) => one.tokens) : null,
      promptTokens:
        countOf(member(info['request_metrics'], 'text', 'input_tokens')) ??
        countOf(info['input_tokens']) ??
        countOf(member(response['server_usage'], 'prompt_tokens')),
      completionTokens: tokens,
      tokensSource: usage === null ? 'tokenizer' : 'server',
      segment: textOf(info['lora_adapter']),
      flags: events.length === 0 && error === null ? ['not_streamed'] : [],
    }),
  }
}

function round(ms: number): number {
  return Math.round(ms * 1e6) / 1e6
}

const latencies = [
  ['time_to_first_token', 'ttft_ms'],
  ['time_per_output_token', 'tpot_ms'],
  ['inter_token_latency', 'gaps_ms'],
  ['request_latency', 'e2e_ms'],
] as const

function summarySession(file: string): ImportSession {
  let root: JsonRecord = {}
  return {
    plan: null,
    root: (value: JsonValue) => void (root = asRecord(value) ?? root),
    end(): readonly ImportedRun[] {
      const successes = asRecord(root['successes']) ?? {}
      const failures = asRecord(root['failures']) ?? {}
      const ok = countOf(successes['count']) ?? 0
      const latency = asRecord(successes['latency']) ?? successes
      const published: Published[] = latencies.flatMap(([name, metric]) =>
        publishAll(`successes.latency.${name}`, asRecord(latency[name]), metric, { scale: 1000, ok }),
      )
      const throughput = asRecord(successes['throughput'])
      const rates = [
        ['requests_per_sec', 'requests_per_s', 'req/s'],
        ['output_tokens_per_sec', 'output_tokens_per_s', 'tok/s'],
        ['input_tokens_per_sec', 'input_tokens_per_s', 'tok/s'],
      ] as const
      for (const [name, metric, unit] of rates)
        if (throughput !== null && name in throughput)
          published.push(publish(`successes.throughput.${name}`, throughput[name], metric, 'rate', { unit }))
      const load = asRecord(root['load_summary']) ?? {}
      const seconds = numberOf(root['benchmark_time_seconds'])
      const delay = numberOf(member(load['schedule_delay'], 'p99'))
      return [
        {
          ...noFacts,
          format: 'inference-perf-summary',
          tool: 'inference-perf',
          file,
          formulas,
          rows: countedRows({ ok, failed: countOf(failures['count']) ?? 0 }),
          durationMs: seconds === null ? null : seconds * 1000,
          startsKnown: false,
          rowsKnown: false,
          published,
          facts: {
            requested_rate: numberOf(load['requested_rate']),
            achieved_rate: numberOf(load['achieved_rate']),
            schedule_delay_p99_ms: delay === null ? null : delay * 1000,
          },
          unrecoverable: [
            {
              figure: 'every distribution',
              why: 'the file has only summaries: ask inference-perf for report.request_lifecycle.per_request',
            },
          ],
        },
      ]
    },
  }
}
