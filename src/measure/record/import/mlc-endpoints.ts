import { noFacts, type Published, type ToolFormulas } from './imported-run.ts'
import type { Importer } from './importer.ts'
import { countedRows } from './imported-row.ts'
import { asRecord, countOf, member, numberOf, textOf, type JsonRecord } from './json-value.ts'
import { publish, publishAll } from './published.ts'

export const mlcFormulas: ToolFormulas = {
  ttft: 'first chunk − issue, both in the main process: its own transport is inside',
  tpot: '(complete − first chunk) ÷ tokens after the first chunk',
  gaps: 'between chunks, where every chunk was kept',
  e2e: 'to the end of the request',
  percentiles: 'empirical, with a conservative early-stopping estimate beside',
  rate: 'completed ÷ duration, and (completed − 1) ÷ window',
}

/** Its `result_summary.json`, in ns. */
export const mlcSummary: Importer = {
  format: 'mlc-summary',
  tool: 'MLCommons endpoints',
  detects: ({ roots }) => member(roots[0], 'n_samples_issued') !== undefined,
  begin(file) {
    let root: JsonRecord = {}
    return {
      plan: null,
      root: (value) => void (root = asRecord(value) ?? root),
      end() {
        const ok = countOf(root['n_samples_completed']) ?? 0
        const failed = countOf(root['n_samples_failed']) ?? 0
        const issued = countOf(root['n_samples_issued']) ?? ok + failed
        const scale = 1e-6
        const published: Published[] = (
          [
            ['ttft', 'ttft_ms'],
            ['tpot', 'tpot_ms'],
            ['latency', 'e2e_ms'],
          ] as const
        ).flatMap(([name, metric]) => [
          ...publishAll(name, asRecord(root[name]), metric, { scale, ok }),
          ...publishAll(`${name}.percentiles`, asRecord(member(root[name], 'percentiles')), metric, {
            scale,
            ok,
          }),
        ])
        if ('qps' in root)
          published.push(publish('qps', root['qps'], 'requests_per_s', 'rate', { unit: 'req/s' }))
        if ('tps' in root)
          published.push(publish('tps', root['tps'], 'output_tokens_per_s', 'rate', { unit: 'tok/s' }))
        const durationNs = numberOf(root['duration_ns'])
        return [
          {
            ...noFacts,
            format: 'mlc-summary' as const,
            tool: 'MLCommons endpoints',
            file,
            formulas: mlcFormulas,
            rows: countedRows({ ok, failed, cancelled: Math.max(0, issued - ok - failed) }),
            durationMs: durationNs === null ? null : durationNs / 1e6,
            startsKnown: false,
            rowsKnown: false,
            published,
            facts: { state: textOf(root['state']), version: textOf(root['version']) },
            unrecoverable: [
              {
                figure: 'every distribution',
                why: 'the file has only summaries: give the events.jsonl beside it too',
              },
            ],
          },
        ]
      },
    }
  },
}
