import { tpotMs } from '../../metrics/decompose-latency.ts'
import type { RequestRow } from '../request-row.ts'
import type { Rows } from '../rows.ts'
import { rowStore, type RowStore } from '../row-store.ts'
import { noFacts, type Published, type ToolFormulas } from './imported-run.ts'
import type { Importer } from './importer.ts'
import { requestId } from '../request-id.ts'
import { countedRows, failure, importedRow } from './imported-row.ts'
import { asRecord, countOf, member, numberOf, textOf, type JsonRecord } from './json-value.ts'
import { msPerUnit, publish, publishAll } from './published.ts'

const formulas: ToolFormulas = {
  ttft: 'first chunk with content, read after it was parsed',
  tpot: '(E2E − TTFT) ÷ (N − 1), left out where the answer took under 1 ms',
  gaps: 'it has none',
  e2e: 'to the last chunk',
  percentiles: 'linear between ranks (numpy)',
  rate: 'tokens of the requests it kept ÷ the whole run',
}

/** genai-bench's result of one scenario at one concurrency: requests in the unit that `_time_unit` says. */
export const genaiBench: Importer = {
  format: 'genai-bench',
  tool: 'genai-bench',
  detects: ({ roots }) => {
    const root = asRecord(roots[0])
    return (
      root !== null && (asRecord(root['aggregated_metrics']) !== null || 'individual_request_metrics' in root)
    )
  },
  begin(file, options) {
    // Times in the file's own unit until that is known: it stands behind the requests.
    const read = rowStore(options)
    let failedRows = 0
    let root: JsonRecord = {}
    return {
      plan: { members: { individual_request_metrics: { each: { emit: true } } } },
      item(value) {
        const record = asRecord(value)
        if (record === null) return
        const row = rowOf(record, read.length)
        if (!row.ok) failedRows++
        read.push(row)
      },
      root: (value) => void (root = asRecord(value) ?? root),
      end() {
        const summary = asRecord(root['aggregated_metrics']) ?? {}
        const msPer = msPerUnit(textOf(root['_time_unit']) ?? 's') ?? 1000
        const ok = countOf(summary['num_completed_requests']) ?? read.length
        const failed = countOf(summary['num_error_requests']) ?? 0
        const rowsKnown = read.length > 0
        // Its list has the answered requests; failures are only counted.
        const missing = Math.max(0, failed - failedRows)
        const seconds = numberOf(summary['run_duration'])
        const codes = asRecord(summary['error_codes_frequency']) ?? {}
        const unlisted = Object.entries(codes)
          .flatMap(([code, count]) => Array.from({ length: countOf(count) ?? 0 }, () => code))
          .slice(0, missing)
        for (let index = 0; index < (rowsKnown ? missing : 0); index++)
          read.push(
            importedRow({
              id: requestId(read.length),
              plannedMs: 0,
              ...failure(unlisted[index] ?? null, null),
            }),
          )
        const stats = asRecord(summary['stats']) ?? {}
        const published: Published[] = (
          [
            ['ttft', 'ttft_ms'],
            ['tpot', 'tpot_ms'],
            ['e2e_latency', 'e2e_ms'],
          ] as const
        ).flatMap(([name, metric]) =>
          publishAll(`stats.${name}`, asRecord(stats[name]), metric, { scale: msPer, ok }),
        )
        const rates = [
          ['requests_per_second', 'requests_per_s', 'req/s'],
          ['mean_output_throughput_tokens_per_s', 'output_tokens_per_s', 'tok/s'],
          ['mean_input_throughput_tokens_per_s', 'input_tokens_per_s', 'tok/s'],
        ] as const
        for (const [name, metric, unit] of rates)
          if (name in summary) published.push(publish(name, summary[name], metric, 'rate', { unit }))
        const users = countOf(summary['num_concurrency'])
        return [
          {
            ...noFacts,
            format: 'genai-bench',
            tool: 'genai-bench',
            file,
            formulas,
            rows: rowsKnown ? inMs(read, msPer) : countedRows({ ok, failed }),
            pacer: users !== null && users > 0 ? { kind: 'concurrency', users, thinkTimeMs: 0 } : null,
            durationMs: seconds === null ? null : seconds * 1000,
            startsKnown: false,
            rowsKnown,
            published,
            facts: { scenario: textOf(summary['scenario']), concurrency: users },
            unrecoverable: [
              { figure: 'gaps_ms', why: 'the file has none' },
              {
                figure: 'planned_ms',
                why: 'the file has no start times: nothing that depends on the order of requests can be known',
              },
            ],
          },
        ]
      },
    }
  },
}

function rowOf(record: JsonRecord, index: number): RequestRow {
  const time = (name: string): number | null => {
    const value = numberOf(record[name])
    return value === null || value <= 0 ? null : value
  }
  const code = record['error_code'] ?? null
  const error = textOf(record['error_message']) ?? textOf(member(record, 'error', 'message'))
  const failed = (code !== null && code !== 200) || (error !== null && time('e2e_latency') === null)
  const base = { id: requestId(index), plannedMs: 0, promptTokens: countOf(record['num_input_tokens']) }
  if (failed)
    return importedRow({ ...base, ...failure(typeof code === 'number' ? String(code) : textOf(code), error) })
  return importedRow({
    ...base,
    outcome: 'ok',
    ttftMs: time('ttft'),
    e2eMs: time('e2e_latency'),
    doneMs: time('e2e_latency'),
    tpotMs: time('tpot'),
    completionTokens: countOf(record['num_output_tokens']),
    tokensSource: 'server',
  })
}

/** The rows with their times, which are in units of `msPer` ms, in ms. */
function inMs(store: RowStore, msPer: number): Rows {
  const scaled = (value: number | null): number | null => (value === null ? null : value * msPer)
  for (const [at, row] of store.rows().entries()) {
    if (!row.ok) continue
    const [ttftMs, e2eMs, tokens] = [scaled(row.ttft_ms), scaled(row.e2e_ms), row.completion_tokens]
    const computed =
      ttftMs === null || e2eMs === null || tokens === null ? null : tpotMs(e2eMs, ttftMs, tokens)
    store.change(at, {
      ttft_ms: ttftMs,
      e2e_ms: e2eMs,
      done_ms: scaled(row.done_ms),
      tpot_ms: computed ?? scaled(row.tpot_ms),
    })
  }
  return store.rows()
}
