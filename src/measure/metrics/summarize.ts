import type { PercentileType } from '../../stats/percentile.ts'
import { percentileShare } from '../../stats/percentile.ts'
import { compare } from '../../stats/rational.ts'
import { finiteRows } from '../record/finite-row.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { Rows } from '../record/rows.ts'
import { passingList } from '../record/row-table.ts'
import { rowValues } from '../record/row-values.ts'
import { cacheUse, warmHitRate } from './cache-use.ts'
import { fromActualSend, itlPerTokenMs } from './derive.ts'
import { goodput } from './goodput.ts'
import type { RunEnds } from './lengthening.ts'
import { littleCheck } from './little.ts'
import type { Objective } from './objective.ts'
import type { PercentileOptions } from './percentile-levels.ts'
import { pool, summarizePooled, type PooledValues } from './pooled-values.ts'
import type { MetricName, MetricSummary, RunSummary, Weighting } from './run-summary.ts'
import { runSwings } from './run-swings.ts'
import {
  countErrors,
  countOutcomes,
  inOrder,
  isCancelled,
  isInWindow,
  wholeWindow,
  type RunWindow,
} from './run-window.ts'
import { stutter } from './stutter.ts'
import { summarizeValues } from './summarize-values.ts'
import { summaryWarnings } from './summary-warnings.ts'
import { throughput } from './throughput.ts'

export interface SummarizeOptions {
  /** The measurement window; unless given, the one that holds every request whole. */
  readonly window?: RunWindow | null
  readonly objective?: Objective | null
  /** Percentiles beside p50, p90, p95, p99 and p99.9, in percent as text: "99.5". */
  readonly percentiles?: readonly string[]
  /** The definition of a percentile: 1, nearest rank, unless another tool's figures are to be compared. */
  readonly percentileType?: PercentileType
  /** Tokens with which every prompt begins alike, the chat template's: cached or not, they say nothing of warmth. */
  readonly leadTokens?: number
  /** What ended the run; unless given, its count. */
  readonly ends?: RunEnds
}

/**
 * Everything that the rows of a run say: a pure function of them, the window and the objective (law 9). Latencies are over the
 * window's ok requests, drained; `all_attempts` has the same percentiles with failures as infinite waits. Rows may come in any
 * order; they are taken by intended send, which effective sample sizes depend on.
 */
export function summarize(rows: Rows, options: SummarizeOptions = {}): RunSummary {
  const all = inOrder(finiteRows(rows))
  const window = options.window ?? wholeWindow(all) ?? { startMs: 0, endMs: 0 }
  const objective = options.objective ?? null
  const percentiles: PercentileOptions = {
    percentiles: [
      ...(options.percentiles ?? []),
      ...(objective?.run ?? []).map(({ percentile }) => percentile),
    ],
    percentileType: options.percentileType ?? '1',
  }
  const inside = all.filter((row) => isInWindow(row, window))
  const ok = inside.filter((row) => row.ok)
  const counts = countOutcomes(inside)
  const answerable = inside.filter((row) => !isCancelled(row))
  const failures = answerable.length - ok.length - counts.unsent
  const swings = runSwings(all, window)
  const metrics: Partial<Record<MetricName, MetricSummary>> = {}
  for (const [name, value] of Object.entries(perRequest) as [MetricName, PerRequest][]) {
    const values = rowValues(ok, value.of)
    if (values.length === 0 && !value.always) continue
    metrics[name] = summarizeValues(
      value.waits ? { values, failures, swings } : { values, failures: null },
      percentiles,
    )
  }
  metrics.lag_ms = summarizeValues(
    {
      values: rowValues(inside, (row) => row.lag_ms),
      failures: null,
    },
    percentiles,
  )
  const gaps = pool(ok, (row) => (row.ttft_ms === null ? null : passingList(row, 'gaps_ms')))
  metrics.gaps_ms = summarizePooled(gaps, percentiles, swings)
  const shortGaps = {
    share: (metrics.gaps_ms.min ?? 1) < 1 ? shareBelow(gaps, 1) : 0,
    gaps: gaps.length,
    meanMs: metrics.gaps_ms.mean,
  }
  const perToken = pool(
    ok,
    (row) =>
      row.itl_per_token_ms ??
      (row.event_tokens === null ? null : itlPerTokenMs(row.gaps_ms, row.event_tokens)),
  )
  if (perToken.ends.length > 0) metrics.itl_per_token_ms = summarizePooled(perToken, percentiles, swings)

  const weighting = weightings(ok)
  const pauses = stutter(ok)
  const little = littleCheck(all, window)
  const cache = cacheUse(ok)
  return {
    counts: countOutcomes(rows),
    window_counts: counts,
    metrics,
    weighting,
    throughput: throughput(all, window),
    goodput:
      objective === null || objective.each.length === 0 ? null : goodput(answerable, window, objective),
    stutter: pauses,
    little,
    errors: countErrors(rows),
    tokens_source: countSources(ok),
    cache,
    warnings: summaryWarnings({
      rows: inside,
      percentile: highestAsked(objective),
      ttft: metrics.ttft_ms ?? metrics.lag_ms,
      windowMs: window.endMs - window.startMs,
      ends: options.ends ?? { count: true, duration: false },
      weighting,
      stutter: pauses,
      little,
      cacheHitRate: warmHitRate(ok, options.leadTokens ?? 0),
      shortGaps,
    }),
  }
}

interface PerRequest {
  readonly of: (row: RequestRow) => number | null
  /** A failure is an infinite wait. */
  readonly waits: boolean
  /** Given even where no request has it. */
  readonly always: boolean
}

const perRequest: Readonly<Partial<Record<MetricName, PerRequest>>> = {
  ttft_ms: { of: (row) => row.ttft_ms, waits: true, always: true },
  ttfc_ms: { of: (row) => row.ttfc_ms, waits: true, always: false },
  ttfb_ms: { of: (row) => row.ttfb_ms, waits: true, always: false },
  tpot_ms: { of: (row) => row.tpot_ms, waits: true, always: true },
  e2e_ms: { of: (row) => row.e2e_ms, waits: true, always: true },
  done_ms: { of: (row) => row.done_ms, waits: true, always: false },
  service_ttft_ms: { of: (row) => fromActualSend(row.ttft_ms, row.lag_ms), waits: true, always: true },
  service_e2e_ms: { of: (row) => fromActualSend(row.e2e_ms, row.lag_ms), waits: true, always: true },
  prompt_tokens: { of: (row) => row.prompt_tokens, waits: false, always: false },
  completion_tokens: { of: (row) => row.completion_tokens, waits: false, always: false },
}

/**
 * TPOT per request, (1/R)·Σ TPOT_r, and per token, Σ(E2E − TTFT) ÷ Σ(N − 1): the ratio of sums, so that a request weighs as much
 * as it has gaps. Requests without a TPOT (one token) are in neither.
 */
function weightings(ok: Rows): Weighting {
  let requests = 0
  let sum = 0
  let time = 0
  let gaps = 0
  for (const row of ok) {
    if (row.tpot_ms === null || row.completion_tokens === null) continue
    requests++
    sum += row.tpot_ms
    time += row.tpot_ms * (row.completion_tokens - 1)
    gaps += row.completion_tokens - 1
  }
  return { per_request: requests === 0 ? null : sum / requests, per_token: gaps === 0 ? null : time / gaps }
}

function countSources(ok: Rows): Record<string, number> {
  const sources: Record<string, number> = {}
  for (const row of ok) {
    const source = row.tokens_source ?? 'unknown'
    sources[source] = (sources[source] ?? 0) + 1
  }
  return sources
}

function shareBelow(pooled: PooledValues, limit: number): number {
  let below = 0
  pooled.each((values) => {
    for (let index = 0; index < values.length; index++) if ((values[index] as number) < limit) below++
  })
  return pooled.length === 0 ? 0 : below / pooled.length
}

/** The percentile that the samples must carry: the objective's highest, else the P99. */
function highestAsked(objective: Objective | null): string {
  const asked = (objective?.run ?? []).map(({ percentile }) => percentile)
  return (
    asked.reduce<string | null>(
      (highest, level) =>
        highest === null || compare(percentileShare(level), percentileShare(highest)) > 0 ? level : highest,
      null,
    ) ?? '99'
  )
}
