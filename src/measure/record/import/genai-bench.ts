import type { RequestRow } from '../request-row.ts'
import { noFacts, type Published, type ToolFormulas } from './imported-run.ts'
import type { Importer } from './importer.ts'
import { countedRows, failure, importedRow, requestId } from './imported-row.ts'
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
  begin(file) {
    const drafts: ((msPer: number) => RequestRow)[] = []
    let root: JsonRecord = {}
    return {
      plan: { members: { individual_request_metrics: { each: { emit: true } } } },
      item(value) {
        const record = asRecord(value)
        const index = drafts.length
        if (record !== null) drafts.push((msPer) => rowOf(record, index, msPer))
      },
      root: (value) => void (root = asRecord(value) ?? root),
      end() {
        const summary = asRecord(root['aggregated_metrics']) ?? {}
        const msPer = msPerUnit(textOf(root['_time_unit']) ?? 's') ?? 1000
        const ok = countOf(summary['num_completed_requests']) ?? drafts.length
        const failed = countOf(summary['num_error_requests']) ?? 0
        const rows = drafts.map((make) => make(msPer))
        // Its list has the answered requests; failures are only counted.
        const missing = Math.max(0, failed - rows.filter((row) => !row.ok).length)
        const seconds = numberOf(summary['run_duration'])
        const codes = asRecord(summary['error_codes_frequency']) ?? {}
        const unlisted = Object.entries(codes)
          .flatMap(([code, count]) => Array.from({ length: countOf(count) ?? 0 }, () => code))
          .slice(0, missing)
        const failures = Array.from({ length: missing }, (_, index) =>
          importedRow({
            id: requestId(rows.length + index),
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
        const rowsKnown = rows.length > 0
        return [
          {
            ...noFacts,
            format: 'genai-bench',
            tool: 'genai-bench',
            file,
            formulas,
            rows: rowsKnown ? [...rows, ...failures] : countedRows({ ok, failed }),
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

function rowOf(record: JsonRecord, index: number, msPer: number): RequestRow {
  const ms = (name: string): number | null => {
    const value = numberOf(record[name])
    return value === null || value <= 0 ? null : value * msPer
  }
  const code = record['error_code'] ?? null
  const error = textOf(record['error_message']) ?? textOf(member(record, 'error', 'message'))
  const failed = (code !== null && code !== 200) || (error !== null && ms('e2e_latency') === null)
  const base = { id: requestId(index), plannedMs: 0, promptTokens: countOf(record['num_input_tokens']) }
  if (failed)
    return importedRow({ ...base, ...failure(typeof code === 'number' ? String(code) : textOf(code), error) })
  return importedRow({
    ...base,
    outcome: 'ok',
    ttftMs: ms('ttft'),
    e2eMs: ms('e2e_latency'),
    doneMs: ms('e2e_latency'),
    tpotMs: ms('tpot'),
    completionTokens: countOf(record['num_output_tokens']),
    tokensSource: 'server',
  })
}
