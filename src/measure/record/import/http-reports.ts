import type { JsonObject } from '../manifest.ts'
import { httpFormulas, httpUnrecoverable } from './http-tools.ts'
import { noFacts, type FormatName, type ImportedRun, type Published } from './imported-run.ts'
import type { Importer } from './importer.ts'
import { countedRows } from './imported-row.ts'
import { asRecord, countOf, member, numberOf, type JsonRecord, type JsonValue } from './json-value.ts'
import { publish, publishAll, standIn } from './published.ts'

interface Report {
  readonly ok: number
  readonly failed: number
  readonly shed?: number
  readonly unsent?: number
  readonly durationMs?: number | null
  readonly published: readonly Published[]
  readonly facts?: JsonObject
}

/** An importer of a report that has counts and figures only. */
function reportImporter(
  format: FormatName,
  tool: string,
  detects: (root: JsonRecord) => boolean,
  read: (root: JsonRecord) => Report,
): Importer {
  return {
    format,
    tool,
    detects: ({ roots }) => {
      const root = asRecord(roots[0])
      return root !== null && detects(root)
    },
    begin(file) {
      let root: JsonRecord = {}
      return {
        plan: null,
        root: (value: JsonValue) => void (root = asRecord(value) ?? root),
        end: (): readonly ImportedRun[] => {
          const { ok, failed, shed = 0, durationMs = null, published, facts = {} } = read(root)
          return [
            {
              ...noFacts,
              format,
              tool,
              file,
              formulas: httpFormulas,
              rows: countedRows({ ok, failed, shed }),
              durationMs,
              startsKnown: false,
              rowsKnown: false,
              published,
              facts: {
                ...facts,
                ok_per_s:
                  ok === 0 ? 0 : durationMs === null || durationMs <= 0 ? null : (ok * 1000) / durationMs,
              },
              unrecoverable: [
                { figure: 'every distribution', why: 'the file has only summaries' },
                ...httpUnrecoverable,
              ],
            },
          ]
        },
      }
    },
  }
}

/** Answers by status, as tools count them: under 400 well, 429, 503 and 529 refused, the rest failed. */
function byStatus(codes: JsonRecord | null): { ok: number; failed: number; shed: number } {
  const counts = { ok: 0, failed: 0, shed: 0 }
  for (const [code, value] of Object.entries(codes ?? {})) {
    const count = countOf(value) ?? 0
    if (/^[123]/.test(code)) counts.ok += count
    else if (/^(429|503|529)$/.test(code)) counts.shed += count
    else counts.failed += count
  }
  return counts
}

/** `vegeta report -type=json`, in ns. */
export const vegetaReport: Importer = reportImporter(
  'vegeta-report',
  'vegeta',
  (root) => asRecord(root['latencies']) !== null && 'status_codes' in root,
  (root) => {
    const counts = byStatus(asRecord(root['status_codes']))
    const durationNs = numberOf(root['duration'])
    return {
      ...counts,
      durationMs: durationNs === null ? null : (durationNs + (numberOf(root['wait']) ?? 0)) / 1e6,
      published: [
        ...publishAll('latencies', asRecord(root['latencies']), 'e2e_ms', { scale: 1e-6, ok: counts.ok }),
        publish('throughput', root['throughput'], 'requests_per_s', 'rate', { unit: 'req/s' }),
      ],
    }
  },
)

/** oha's `--output-format json` (and older spellings of its keys), in seconds. */
export const ohaReport: Importer = reportImporter(
  'oha-report',
  'oha',
  (root) => {
    const summary = asRecord(root['summary']) ?? root
    return (
      ('successRate' in summary || 'success_rate' in summary) && 'slowest' in summary && 'fastest' in summary
    )
  },
  (root) => {
    const summary = asRecord(root['summary']) ?? root
    const statuses = byStatus(asRecord(root['statusCodeDistribution']))
    const errors = Object.values(asRecord(root['errorDistribution']) ?? {}).reduce(
      (sum: number, one) => sum + (countOf(one) ?? 0),
      0,
    )
    const share = numberOf(summary['successRate'] ?? summary['success_rate'])
    const loneErrors = countOf(root['errors'] ?? summary['errors'])
    const ok =
      statuses.ok > 0
        ? statuses.ok
        : share === null || share === 0
          ? 0
          : Math.round(((loneErrors ?? errors) * share) / Math.max(1e-9, 1 - share))
    const failed = (loneErrors ?? errors) + statuses.failed
    const totalS = numberOf(summary['total'])
    const published: Published[] = (
      [
        ['slowest', 'max'],
        ['fastest', 'min'],
        ['average', 'mean'],
      ] as const
    ).map(([name, statistic]) => publish(name, summary[name], 'e2e_ms', statistic, { scale: 1000, ok }))
    return {
      ok,
      failed,
      shed: statuses.shed,
      durationMs: totalS === null ? null : totalS * 1000,
      published: [
        ...published,
        ...publishAll('latencyPercentiles', asRecord(root['latencyPercentiles']), 'e2e_ms', {
          scale: 1000,
          ok,
        }),
        // It counts refused connections too: with no success there is no rate of answers.
        publish(
          'requestsPerSec',
          summary['requestsPerSec'] ?? summary['requests_per_sec'],
          ok === 0 ? 'other' : 'requests_per_s',
          'rate',
          { unit: 'req/s', ok },
        ),
      ],
    }
  },
)

/** autocannon's `--json`, latencies in ms. */
export const autocannon: Importer = reportImporter(
  'autocannon',
  'autocannon',
  (root) =>
    asRecord(root['requests']) !== null &&
    asRecord(root['latency']) !== null &&
    ('2xx' in root || 'non2xx' in root),
  (root) => {
    const ok = countOf(root['2xx']) ?? 0
    // Timeouts are among the errors.
    const failed = (countOf(root['errors']) ?? 0) + (countOf(root['non2xx']) ?? 0)
    const seconds = numberOf(root['duration'])
    return {
      ok,
      failed,
      durationMs: seconds === null ? null : seconds * 1000,
      published: [
        ...publishAll('latency', asRecord(root['latency']), 'e2e_ms', { ok }),
        ...(['min', 'average', 'max'] as const).map((name) =>
          publish(
            `requests.${name}`,
            member(root['requests'], name),
            name === 'average' && ok > 0 ? 'requests_per_s' : 'other',
            name === 'average' ? 'rate' : name,
            { unit: 'req/s', ok },
          ),
        ),
      ],
      facts: { timeouts: countOf(root['timeouts']) },
    }
  },
)

/** k6's `--summary-export` and `handleSummary`, in ms. */
export const k6Summary: Importer = reportImporter(
  'k6-summary',
  'k6',
  (root) => asRecord(member(root, 'metrics', 'http_req_duration')) !== null,
  (root) => {
    const value = (metric: string, key: string): JsonValue | undefined => {
      const found = member(root, 'metrics', metric)
      return member(found, 'values', key) ?? member(found, key)
    }
    const requests = countOf(value('http_reqs', 'count')) ?? 0
    const failedShare = numberOf(value('http_req_failed', 'rate') ?? value('http_req_failed', 'value')) ?? 0
    const failed = Math.round(requests * failedShare)
    const ok = requests - failed
    const duration = member(root, 'metrics', 'http_req_duration')
    return {
      ok,
      failed,
      published: [
        ...publishAll(
          'http_req_duration',
          asRecord(member(duration, 'values')) ?? asRecord(duration),
          'e2e_ms',
          { ok },
        ),
        publish(
          'http_reqs.rate',
          value('http_reqs', 'rate'),
          failed === 0 ? 'requests_per_s' : 'other',
          'rate',
          { unit: 'req/s' },
        ),
      ],
      facts: { dropped_iterations: countOf(value('dropped_iterations', 'count')) },
    }
  },
)

/** evalscope's performance report: seconds, −1 and 0 for "none". */
export const evalscope: Importer = reportImporter(
  'evalscope',
  'evalscope',
  (root) =>
    'succeeded' in root &&
    'failed' in root &&
    Object.keys(root).some((key) => /^mean_(ttft|tpot|latency)_s$/.test(key)),
  (root) => {
    const ok = countOf(root['succeeded']) ?? 0
    const named = [
      ['ttft', 'ttft_ms'],
      ['tpot', 'tpot_ms'],
      ['latency', 'e2e_ms'],
    ] as const
    return {
      ok,
      failed: countOf(root['failed']) ?? 0,
      published: named
        .filter(([name]) => `mean_${name}_s` in root)
        .map(([name, metric]) =>
          publish(`mean_${name}_s`, root[`mean_${name}_s`], metric, 'mean', { scale: 1000, ok }),
        ),
    }
  },
)

/** llm-load-test's output: `summary` with a distribution a metric, in ms. */
export const llmLoadTest: Importer = reportImporter(
  'llm-load-test',
  'llm-load-test',
  (root) => asRecord(root['summary']) !== null && member(root, 'summary', 'total_requests') !== undefined,
  (root) => {
    const summary = asRecord(root['summary']) ?? {}
    const total = countOf(summary['total_requests']) ?? 0
    const failed = countOf(summary['total_failures']) ?? 0
    const ok = Math.max(0, total - failed)
    const named = [
      ['ttft', 'ttft_ms'],
      ['tpot', 'tpot_ms'],
      ['itl', 'gaps_ms'],
      ['response_time', 'e2e_ms'],
    ] as const
    return {
      ok,
      failed,
      published: [
        ...named.flatMap(([name, metric]) => publishAll(name, asRecord(summary[name]), metric, { ok })),
        publish('throughput', summary['throughput'], 'output_tokens_per_s', 'rate', { unit: 'tok/s' }),
      ],
      facts: {
        total_requests: total,
        success_rate: total === 0 ? null : ok / total,
        throughput_why: standIn(summary['throughput']),
      },
    }
  },
)
