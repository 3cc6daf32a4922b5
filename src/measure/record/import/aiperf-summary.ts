import { aiperfFormulas } from './aiperf-records.ts'
import type { Json } from '../manifest.ts'
import { noFacts, type ImportedRun, type Published, type PublishedMetric } from './imported-run.ts'
import { doubledCount, doubledNote } from './import-notes.ts'
import type { Importer } from './importer.ts'
import { countedRows } from './imported-row.ts'
import type { JsonPlace } from './json-stream.ts'
import { asList, asRecord, countOf, member, numberOf, textOf, type JsonRecord } from './json-value.ts'
import { msPerUnit, publishAll } from './published.ts'

const metrics: readonly (readonly [name: string, metric: PublishedMetric])[] = [
  ['time_to_first_token', 'ttft_ms'],
  ['inter_token_latency', 'tpot_ms'],
  ['inter_chunk_latency', 'gaps_ms'],
  ['request_latency', 'e2e_ms'],
]

/** AIPerf's `profile_export_aiperf.json`. What is absent there is not applicable or not finite. */
export const aiperfSummary: Importer = {
  format: 'aiperf-summary',
  tool: 'AIPerf',
  detects: ({ roots }) => {
    const root = asRecord(roots[0])
    if (root === null || asRecord(root['metadata']) !== null) return false
    return ['request_latency', 'time_to_first_token', 'request_throughput', 'request_count'].some(
      (name) => textOf(member(root[name], 'unit')) !== null,
    )
  },
  begin(file) {
    let root: JsonRecord = {}
    let doubled: JsonPlace['doubled'] = []
    return {
      plan: { members: { input_config: { skip: true }, telemetry_data: { skip: true } } },
      root(value, place) {
        root = asRecord(value) ?? root
        ;({ doubled } = place)
      },
      end: () => [summaryRun(file, root, doubled)],
    }
  },
}

function summaryRun(file: string, root: JsonRecord, doubled: JsonPlace['doubled']): ImportedRun {
  const average = (name: string): number | null => numberOf(member(root[name], 'avg'))
  const errors = (asList(root['error_summary']) ?? []).reduce(
    (sum: number, one) => sum + (countOf(member(one, 'count')) ?? 0),
    0,
  )
  const ok = Math.round(average('request_count') ?? numberOf(member(root['request_latency'], 'count')) ?? 0)
  const failed = Math.round(average('error_request_count') ?? errors)
  const seconds = average('benchmark_duration')
  const published: Published[] = metrics.flatMap(([name, metric]) => {
    const record = asRecord(root[name])
    const scale = msPerUnit(textOf(record?.['unit']) ?? 'ms')
    return scale === null ? [] : publishAll(name, record, metric, { scale, ok })
  })
  const rates = [
    ['request_throughput', 'requests_per_s', 'req/s'],
    ['output_token_throughput', 'output_tokens_per_s', 'tok/s'],
  ] as const
  for (const [name, metric, unit] of rates) {
    const value = average(name)
    if (value !== null)
      published.push({ name: `${name}.avg`, value, unit, metric, statistic: 'rate', why: null })
  }
  const started = Date.parse(textOf(root['start_time']) ?? '')
  const facts: Record<string, Json> = {}
  for (const key of ['schema_version', 'aiperf_version', 'benchmark_id', 'was_cancelled']) {
    const value = root[key]
    if (typeof value === 'string' || typeof value === 'boolean') facts[key] = value
  }
  return {
    ...noFacts,
    format: 'aiperf-summary',
    tool: 'AIPerf',
    file,
    formulas: aiperfFormulas,
    rows: countedRows({ ok, failed }),
    originWallMs: Number.isFinite(started) ? started : null,
    durationMs:
      seconds === null
        ? null
        : seconds * (msPerUnit(textOf(member(root['benchmark_duration'], 'unit')) ?? 'sec') ?? 1000),
    startsKnown: false,
    rowsKnown: false,
    published,
    facts,
    unrecoverable: [
      {
        figure: 'every distribution',
        why: 'the file has only summaries: give the profile_export.jsonl beside it too',
      },
    ],
    warnings: [doubledNote(file, doubledCount(doubled), 'the last value was taken')].filter(
      (one) => one !== null,
    ),
  }
}
