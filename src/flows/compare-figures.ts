import type { Interval, IntervalCoverage, MetricName, MetricSummary } from '../measure/metrics/run-summary.ts'
import type { RunDocument } from '../report/documents.ts'

/** A figure by which runs are compared: one number a run. */
export interface ComparedFigure {
  readonly metric: string
  readonly label: string
  readonly unit: 'ms' | 'req/s' | 'tok/s' | 'share'
  readonly better: 'lower' | 'higher'
  readonly scale: 'log' | 'points'
  readonly of: (document: RunDocument) => number | null
  /** Why a run does not have it, or null. */
  readonly why: (document: RunDocument) => string | null
  readonly withinRun: (document: RunDocument) => Interval | null
  /** What that interval was measured to hold; absent where a figure has none. */
  readonly coverage?: (document: RunDocument) => IntervalCoverage | null
}

const latencies: readonly (readonly [metric: string, label: string, name: MetricName])[] = [
  ['tpot', 'TPOT', 'tpot_ms'],
  ['ttft', 'TTFT', 'ttft_ms'],
  ['e2e', 'E2E', 'e2e_ms'],
  ['gaps', 'gaps', 'gaps_ms'],
]

const levels = [
  ['mean', 'mean'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
] as const

/** Every figure that runs can be compared by, in the order in which they are printed. */
export const comparedFigures: readonly ComparedFigure[] = [
  ...latencies.flatMap(([metric, label, name]) =>
    levels
      .filter(([level]) => name !== 'gaps_ms' || level === 'p99')
      .map(([level, word]): ComparedFigure => {
        const summary = (document: RunDocument): MetricSummary | undefined => document.metrics[name]
        return {
          metric: `${metric}_${level}`,
          label: `${label} ${word}`,
          unit: 'ms',
          better: 'lower',
          scale: 'log',
          of: (document) => positive(summary(document)?.[level]),
          why: (document) => summary(document)?.why[level] ?? null,
          withinRun: (document) => summary(document)?.ci[level] ?? null,
          coverage: (document) => summary(document)?.ci_coverage?.[level] ?? null,
        }
      }),
  ),
  throughput('output_tokens', 'throughput', 'tok/s', ({ throughput: { output_tokens_per_s: rate } }) => rate),
  throughput('requests', 'requests', 'req/s', ({ throughput: { requests_per_s: rate } }) => rate),
  {
    metric: 'goodput',
    label: 'good requests',
    unit: 'share',
    better: 'higher',
    scale: 'points',
    of: (document) => document.goodput?.share ?? null,
    why: () => 'no objective for each request was given',
    withinRun: () => null,
  },
  {
    metric: 'failures',
    label: 'failed or refused',
    unit: 'share',
    better: 'lower',
    scale: 'points',
    of: ({ window_counts: { planned, ok, unsent } }) =>
      planned - unsent === 0 ? null : (planned - unsent - ok) / (planned - unsent),
    why: () => 'nothing was sent',
    withinRun: () => null,
  },
]

/** Printed and tested unless others are asked for; each more makes Holm's correction harder on the rest. */
export const defaultMetrics: readonly string[] = [
  'tpot_mean',
  'tpot_p99',
  'ttft_p50',
  'ttft_p99',
  'e2e_mean',
  'output_tokens',
  'goodput',
  'failures',
]

function throughput(
  metric: string,
  label: string,
  unit: 'tok/s' | 'req/s',
  of: ComparedFigure['of'],
): ComparedFigure {
  return {
    metric,
    label,
    unit,
    better: 'higher',
    scale: 'log',
    of: (document) => positive(of(document)),
    why: () => 'no throughput is known',
    withinRun: () => null,
  }
}

/** A logarithm needs a value above 0: a latency or rate of 0 is none. */
function positive(value: number | null | undefined): number | null {
  return value !== undefined && value !== null && value > 0 ? value : null
}
