import { httpFormulas } from './http-tools.ts'
import { noFacts } from './imported-run.ts'
import type { Importer } from './importer.ts'
import { countedRows } from './imported-row.ts'
import { asList, asRecord, countOf, numberOf, type JsonValue } from './json-value.ts'
import { isFinite } from './span-rates.ts'

/** `{"runs": [{"n", "first_send_s", "last_send_s"}]}`: how many requests were sent, and between which moments. */
export const requestSpans: Importer = {
  format: 'request-spans',
  tool: 'spans of requests',
  detects: ({ roots }) => {
    const first = asRecord(asList(asRecord(roots[0])?.['runs'])?.[0])
    return first !== null && 'n' in first && 'first_send_s' in first
  },
  begin(file) {
    let runs: readonly JsonValue[] = []
    return {
      plan: null,
      root: (value) => void (runs = asList(asRecord(value)?.['runs']) ?? runs),
      end: () =>
        runs.map((one, index) => {
          const record = asRecord(one) ?? {}
          const firstS = numberOf(record['first_send_s'])
          const lastS = numberOf(record['last_send_s'])
          return {
            ...noFacts,
            label: String(index + 1),
            format: 'request-spans' as const,
            tool: 'spans of requests',
            file,
            formulas: httpFormulas,
            rows: countedRows({ ok: countOf(record['n']) ?? 0, failed: 0 }),
            durationMs: isFinite(firstS) && isFinite(lastS) ? (lastS - firstS) * 1000 : null,
            startsKnown: false,
            rowsKnown: false,
            facts: {
              first_send_ms: isFinite(firstS) ? firstS * 1000 : null,
              last_send_ms: isFinite(lastS) ? lastS * 1000 : null,
            },
            unrecoverable: [{ figure: 'every distribution', why: 'the file has only the span of each run' }],
          }
        }),
    }
  },
}
