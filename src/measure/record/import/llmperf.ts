import { noun } from '../../../base/noun.ts'
import { rowStore, type RowStoreOptions } from '../row-store.ts'
import {
  noFacts,
  type ImportedRun,
  type Published,
  type PublishedMetric,
  type ToolFormulas,
} from './imported-run.ts'
import { note } from './import-notes.ts'
import type { Importer, ImportSession } from './importer.ts'
import { requestId } from '../request-id.ts'
import { countedRows, failure, importedRow } from './imported-row.ts'
import { asList, asRecord, countOf, numberOf, textOf, type JsonRecord, type JsonValue } from './json-value.ts'
import { publish } from './published.ts'

const formulas: ToolFormulas = {
  ttft: 'first chunk with content; from the actual send',
  tpot: 'it has none: inter_token_latency_s is Σ of its gaps, the first token wait among them, ÷ tokens',
  gaps: 'inter_token_latency_s: E2E ÷ N, with the wait for the first token in it',
  e2e: 'to the end of the answer',
  percentiles: 'linear between ranks (pandas), std of a sample',
  rate: 'completed requests a minute over its whole duration',
}

/** LLMPerf's `*_individual_responses.json`: a list of requests in seconds, without their start times. */
export const llmperfResponses: Importer = {
  format: 'llmperf-responses',
  tool: 'LLMPerf',
  detects: ({ roots }) => {
    const first = asRecord(asList(roots[0])?.[0] ?? roots[0])
    return first !== null && 'end_to_end_latency_s' in first && 'ttft_s' in first
  },
  begin: responses,
}

/** LLMPerf's `*_summary.json`: `results_ttft_s_quantiles_p99` and so on. */
export const llmperfSummary: Importer = {
  format: 'llmperf-summary',
  tool: 'LLMPerf',
  detects: ({ roots }) =>
    Object.keys(asRecord(roots[0]) ?? {}).some(
      (key) => key.startsWith('results_ttft_s') || key === 'results_num_completed_requests',
    ),
  begin: summary,
}

function responses(file: string, options: RowStoreOptions): ImportSession {
  const rows = rowStore(options)
  let withFirst = 0
  let compared = 0
  const take = (record: JsonRecord): void => {
    const e2eS = numberOf(record['end_to_end_latency_s'])
    const ttftS = numberOf(record['ttft_s'])
    const tokens = countOf(record['number_output_tokens'])
    const itlS = numberOf(record['inter_token_latency_s'])
    const code = record['error_code'] ?? null
    const failed = code !== null && code !== 0 && code !== '' && !Number.isNaN(code)
    if (failed) {
      const { errorKind, ...rest } = failure(
        typeof code === 'number' ? String(code) : textOf(code),
        textOf(record['error_msg']),
      )
      rows.push(
        importedRow({
          id: requestId(rows.length),
          plannedMs: 0,
          promptTokens: countOf(record['number_input_tokens']),
          errorKind: errorKind ?? 'failed',
          ...rest,
        }),
      )
      return
    }
    if (e2eS !== null && itlS !== null && tokens !== null && tokens > 1) {
      compared++
      if (Math.abs(e2eS / tokens - itlS) <= 1e-4 * itlS) withFirst++
    }
    const ms = (seconds: number | null): number | null =>
      seconds === null || seconds <= 0 ? null : Math.round(seconds * 1e9) / 1e6
    rows.push(
      importedRow({
        id: requestId(rows.length),
        outcome: 'ok',
        plannedMs: 0,
        ttftMs: ms(ttftS),
        e2eMs: ms(e2eS),
        doneMs: ms(e2eS),
        promptTokens: countOf(record['number_input_tokens']),
        completionTokens: tokens,
        tokensSource: 'tokenizer',
      }),
    )
  }
  return {
    plan: { each: { emit: true } },
    item: (value) => void (asRecord(value) === null ? null : take(asRecord(value) as JsonRecord)),
    root: (value) => void (asRecord(value) === null ? null : take(asRecord(value) as JsonRecord)),
    end: () => [
      {
        ...noFacts,
        format: 'llmperf-responses',
        tool: 'LLMPerf',
        file,
        formulas,
        rows: rows.rows(),
        startsKnown: false,
        rowsKnown: true,
        facts: { reported_itl_is_e2e_over_n: compared > 0 && withFirst === compared },
        unrecoverable: [
          { figure: 'gaps_ms', why: 'only their mean is in the file' },
          {
            figure: 'planned_ms',
            why: 'the file has no start times: rates and what depends on order cannot be known',
          },
        ],
        warnings:
          withFirst > 0
            ? [
                note(
                  'number_disagrees',
                  `inter_token_latency_s is E2E ÷ N in ${withFirst} of ${compared} ${noun(compared, 'request')}: the wait for the first token is in it`,
                  'ours is (E2E − TTFT) ÷ (N − 1)',
                  { requests: withFirst, compared },
                ),
              ]
            : [],
      },
    ],
  }
}

const metrics: Readonly<Record<string, PublishedMetric>> = {
  ttft_s: 'ttft_ms',
  end_to_end_latency_s: 'e2e_ms',
  inter_token_latency_s: 'gaps_ms',
}

function summary(file: string): ImportSession {
  let root: JsonRecord = {}
  return {
    plan: null,
    root: (value: JsonValue) => void (root = asRecord(value) ?? root),
    end(): readonly ImportedRun[] {
      const ok = countOf(root['results_num_completed_requests']) ?? 0
      const started = countOf(root['results_num_requests_started'])
      const failed =
        countOf(root['results_number_errors']) ?? (started === null ? 0 : Math.max(0, started - ok))
      const published: Published[] = []
      for (const [key, value] of Object.entries(root)) {
        const found =
          /^results_(ttft_s|end_to_end_latency_s|inter_token_latency_s)_(?:quantiles_p([\d.]+)|(mean|min|max|stddev))$/.exec(
            key,
          )
        const metric = metrics[found?.[1] ?? '']
        if (found === null || metric === undefined) continue
        const statistic = found[2] ?? (found[3] === 'stddev' ? 'std' : (found[3] ?? ''))
        published.push(publish(key, value, metric, statistic, { scale: 1000, ok }))
      }
      return [
        {
          ...noFacts,
          format: 'llmperf-summary',
          tool: 'LLMPerf',
          file,
          formulas,
          rows: countedRows({ ok, failed }),
          target: { url: 'unknown', api: 'chat', model: textOf(root['model']) },
          startsKnown: false,
          rowsKnown: false,
          published,
          facts: { concurrent_requests: countOf(root['num_concurrent_requests']) },
          unrecoverable: [
            {
              figure: 'every distribution',
              why: 'the file has only summaries: give the *_individual_responses.json beside it too',
            },
          ],
        },
      ]
    },
  }
}
