import { noun } from '../../../base/noun.ts'
import type { Json, JsonObject } from '../manifest.ts'
import { rowStore, type RowStore, type RowStoreOptions } from '../row-store.ts'
import { guidellmRow, guidellmStart, type TpotForms } from './guidellm-row.ts'
import { noFacts, type ImportedRun, type Published, type ToolFormulas } from './imported-run.ts'
import { countDoubled, doubledCount, doubledNote, note, type DoubledCount } from './import-notes.ts'
import type { Importer, ImportSession } from './importer.ts'
import { fromEarliest, fromPlan } from './imported-row.ts'
import type { JsonFault, JsonPlan } from './json-stream.ts'
import {
  asList,
  asRecord,
  countOf,
  member,
  numberOf,
  textOf,
  type JsonRecord,
  type JsonValue,
} from './json-value.ts'
import { publish } from './published.ts'

const formulas: ToolFormulas = {
  ttft: 'first token of any channel − request start, by the wall clock; a missing one is written 0',
  tpot: '(last token − request start) ÷ N: TTFT is in it. Ours is (last − first) ÷ (N − 1) = (tpot·N − ttft) ÷ (N − 1)',
  gaps: 'inter_token_latency: (last − first) ÷ (N − 1), weighted by tokens; no gaps are kept',
  e2e: 'request_latency: to the end of the request, behind the last token',
  percentiles: 'lower inverse of the distribution (no interpolation)',
  rate: 'mean of a rate distribution over the measured window',
}

const request: JsonPlan = {
  emit: true,
  members: {
    request_args: { skip: true },
    output: { skip: true },
    reasoning_output: { skip: true },
    tool_calls: { skip: true },
  },
}
const requests: JsonPlan = {
  members: {
    successful: { each: request },
    incomplete: { each: request },
    errored: { each: request },
    total: { skip: true },
  },
}
const plan: JsonPlan = { members: { requests, benchmarks: { each: { members: { requests } } } } }

const outcomes = { successful: 'ok', incomplete: 'censored', errored: 'failed' } as const

/** GuideLLM's `benchmarks.json`: a run a benchmark; the requests are read one by one. */
export const guidellm: Importer = {
  format: 'guidellm',
  tool: 'GuideLLM',
  detects: ({ roots }) => {
    const root = roots[0]
    if (asList(member(root, 'benchmarks')) !== null) return true
    const lists = asRecord(member(root, 'requests'))
    return lists !== null && ('successful' in lists || 'errored' in lists || 'incomplete' in lists)
  },
  begin,
}

interface Gathered {
  readonly rows: RowStore
  /** How long after its planned moment each was sent, ms; null where the file does not say. */
  readonly delaysMs: (number | null)[]
  /** Some request has a latency from its schedule: the loop was open, and the delays count. */
  scheduled: boolean
  /** The start of the first request that was read, seconds since 1970: times count from it while the file is read. */
  baseS: number | null
  readonly forms: TpotForms
  readonly doubled: DoubledCount
}

function begin(file: string, options: RowStoreOptions): ImportSession {
  const gathered = new Map<number, Gathered>()
  let root: JsonRecord = {}
  const of = (index: number): Gathered => {
    const known = gathered.get(index) ?? {
      rows: rowStore(options),
      delaysMs: [],
      scheduled: false,
      baseS: null,
      forms: { withTtft: 0, perToken: 0, ours: 0, other: 0 },
      doubled: doubledCount(),
    }
    gathered.set(index, known)
    return known
  }
  return {
    plan,
    item(value, path, place) {
      const inBenchmarks = path[0] === 'benchmarks'
      const bench = of(inBenchmarks ? Number(path[1]) : 0)
      const list = String(path[inBenchmarks ? 3 : 1])
      const outcome = outcomes[list as keyof typeof outcomes]
      const record = asRecord(value)
      if (record === null || outcome === undefined) return
      bench.baseS ??= guidellmStart(record)
      bench.rows.push(guidellmRow(record, outcome, bench.rows.length, bench.forms, bench.baseS))
      const delayS = numberOf(record['request_dispatch_delay'])
      bench.delaysMs.push(delayS === null ? null : Math.round(delayS * 1e6) / 1e3)
      if (numberOf(record['request_scheduled_latency']) !== null) bench.scheduled = true
      countDoubled(bench.doubled, place.doubled)
    },
    root(value: JsonValue, _place, cut: JsonFault | null) {
      if (cut === null || Object.keys(root).length === 0) root = asRecord(value) ?? {}
    },
    end() {
      const list = asList(root['benchmarks'])
      if (list === null) return [benchmarkRun(file, root, of(0), null)]
      const count = Math.max(list.length, ...[...gathered.keys()].map((index) => index + 1))
      return Array.from({ length: count }, (_, index) =>
        benchmarkRun(file, asRecord(list[index]) ?? {}, of(index), count > 1 ? `${index + 1}` : null),
      )
    },
  }
}

/** Counts the rows of an open loop from their intended sends, as far as those are known. */
function countFromPlan({ rows, delaysMs }: Gathered): void {
  for (const [at, row] of rows.rows().entries()) {
    const delayMs = delaysMs[at] ?? null
    if (delayMs !== null && row.sent_ms !== null) rows.change(at, fromPlan(row, Math.max(0, delayMs)))
  }
}

function benchmarkRun(
  file: string,
  benchmark: JsonRecord,
  found: Gathered,
  number: string | null,
): ImportedRun {
  const { forms, baseS } = found
  if (found.scheduled) countFromPlan(found)
  const { rows, earliestMs } = fromEarliest(found.rows)
  const rowsKnown = rows.length > 0
  const totals =
    asRecord(member(benchmark, 'metrics', 'request_totals')) ??
    asRecord(member(benchmark, 'scheduler_metrics', 'requests_made'))
  const total = countOf(totals?.['total'])
  const sampled = rowsKnown && total !== null && total > rows.length
  const strategy = member(benchmark, 'config', 'strategy')
  const kind = textOf(member(strategy, 'type_'))
  const rate = numberOf(member(strategy, 'rate'))
  const durationS = numberOf(benchmark['duration'])
  return {
    ...noFacts,
    format: 'guidellm',
    tool: 'GuideLLM',
    file,
    formulas,
    label:
      number === null
        ? null
        : `${number}${kind === null ? '' : `-${kind}`}${rate === null ? '' : `-${rate}`}`,
    rows,
    originWallMs: baseS !== null && baseS > 1e8 ? baseS * 1000 + earliestMs : null,
    pacer:
      rate !== null && rate > 0 && kind === 'constant'
        ? { kind: 'constant', ratePerSecond: rate }
        : rate !== null && rate > 0 && kind === 'poisson'
          ? { kind: 'poisson', ratePerSecond: rate }
          : null,
    durationMs: durationS === null ? null : durationS * 1000,
    startsKnown: rowsKnown && rows.every((row) => row.sent_ms !== null),
    rowsKnown,
    published: publishedOf(benchmark),
    facts: factsOf(benchmark, kind, rate, totals),
    unrecoverable: [
      {
        figure: 'gaps_ms',
        why: 'GuideLLM keeps the first and the last token of a request, not the ones between',
      },
      ...(found.scheduled ? [] : [{ figure: 'lag_ms', why: 'latencies count from the actual send' }]),
      ...(sampled
        ? [
            {
              figure: 'requests',
              why: `${rows.length} of ${total} ${noun(total, 'request')} are in the file (sample_size)`,
            },
          ]
        : []),
    ],
    warnings: [formsNote(forms), doubledNote(file, found.doubled, 'the last value was taken')].filter(
      (one) => one !== null,
    ),
  }
}

/** One name, several formulas: which of them the file's own `time_per_output_token_ms` follows. */
function formsNote(forms: TpotForms): ReturnType<typeof note> | null {
  const parts = [
    forms.withTtft > 0 ? `(last token − start) ÷ N in ${forms.withTtft}: TTFT is in it` : null,
    forms.perToken > 0 ? `(last − first) ÷ N in ${forms.perToken}` : null,
    forms.other > 0 ? `no formula known here in ${forms.other}` : null,
  ].filter((part) => part !== null)
  if (parts.length === 0) return null
  return note(
    'number_disagrees',
    `time_per_output_token_ms is ${parts.join('; ')}`,
    'recomputed from the times as (last − first) ÷ (N − 1)',
    { with_ttft: forms.withTtft, per_token: forms.perToken, other: forms.other },
  )
}

const named: readonly (readonly [name: string, metric: Published['metric'], scale: number])[] = [
  ['time_to_first_token_ms', 'ttft_ms', 1],
  ['time_per_output_token_ms', 'tpot_ms', 1],
  ['inter_token_latency_ms', 'tpot_ms', 1],
  ['request_latency', 'e2e_ms', 1000],
]
const levels: Readonly<Record<string, string>> = {
  p001: '0.1',
  p01: '1',
  p05: '5',
  p10: '10',
  p25: '25',
  p50: '50',
  p75: '75',
  p90: '90',
  p95: '95',
  p99: '99',
  p999: '99.9',
}

function publishedOf(benchmark: JsonRecord): Published[] {
  const metrics = asRecord(benchmark['metrics'])
  const found: Published[] = []
  for (const [name, metric, scale] of named) {
    const successful = asRecord(member(metrics?.[name], 'successful'))
    if (successful === null || countOf(successful['count']) === 0) continue
    for (const [key, statistic] of [
      ['mean', 'mean'],
      ['median', '50'],
      ['std_dev', 'std'],
      ['min', 'min'],
      ['max', 'max'],
    ] as const)
      if (key in successful)
        found.push(publish(`${name}.${key}`, successful[key], metric, statistic, { scale }))
    for (const [key, value] of Object.entries(asRecord(successful['percentiles']) ?? {})) {
      const level = levels[key]
      if (level !== undefined) found.push(publish(`${name}.${key}`, value, metric, level, { scale }))
    }
  }
  const rates = [
    ['requests_per_second', 'requests_per_s', 'req/s'],
    ['output_tokens_per_second', 'output_tokens_per_s', 'tok/s'],
  ] as const
  for (const [name, metric, unit] of rates) {
    const mean = member(metrics?.[name], 'successful', 'mean')
    if (mean !== undefined) found.push(publish(`${name}.mean`, mean, metric, 'rate', { unit }))
  }
  return found
}

function factsOf(
  benchmark: JsonRecord,
  kind: string | null,
  rate: number | null,
  totals: JsonRecord | null,
): JsonObject {
  const facts: Record<string, Json> = { strategy: kind, rate }
  for (const key of ['successful', 'incomplete', 'errored', 'total'])
    if (totals?.[key] !== undefined) facts[`requests_${key}`] = countOf(totals[key])
  const dispatch = numberOf(member(benchmark, 'scheduler_metrics', 'request_targeted_start_delay_avg'))
  if (dispatch !== null) facts['send_delay_mean_ms'] = dispatch * 1000
  return facts
}
