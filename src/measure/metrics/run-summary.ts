import type { Warning } from '../../base/warnings.ts'

/** The figures of DESIGN §3 that are summarised as distributions. Times in ms. */
export type MetricName =
  | 'ttft_ms'
  | 'ttfc_ms'
  | 'ttfb_ms'
  | 'e2e_ms'
  | 'done_ms'
  | 'tpot_ms'
  | 'gaps_ms'
  | 'itl_per_token_ms'
  | 'lag_ms'
  | 'service_ttft_ms'
  | 'service_e2e_ms'
  | 'prompt_tokens'
  | 'completion_tokens'

/** A two-sided interval; an end that the sample cannot give is null, never the extreme value. */
export type Interval = readonly [low: number | null, high: number | null]

/** How often a nominal 95 % interval was measured to hold where as many independent tail events stood behind it (docs/calibration.md). */
export interface IntervalCoverage {
  readonly nominal: number
  readonly measured: number
  /** In the regime (system, load, length of run) that it held least in. */
  readonly worst: number
}

/** One distribution with its n, its effective n and its intervals. Null: not defined, or too few samples to say. */
export interface MetricSummary {
  readonly n: number
  /** n ÷ the integrated autocorrelation time of exceedance of the highest printed percentile with one (stats §2.5). */
  readonly n_eff: number | null
  readonly mean: number | null
  readonly min: number | null
  readonly p50: number | null
  readonly p90: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly p99_9: number | null
  readonly max: number | null
  /** Further percentiles that were asked for, keyed like `p99_5`. */
  readonly more: Readonly<Record<string, number | null>>
  /** 95 % within-run intervals, keyed by percentile. Absent where none can be given; `why` says so. */
  readonly ci: Readonly<Record<string, Interval>>
  /** What those intervals were measured to hold, keyed like `ci`. */
  readonly ci_coverage: Readonly<Record<string, IntervalCoverage>>
  /** One-sided 95 % upper ends, as objectives are decided by; they need fewer values than `ci` (a P99 299 effective ones). */
  readonly upper: Readonly<Record<string, number | null>>
  /** Why a percentile or its interval is not given, keyed by percentile. */
  readonly why: Readonly<Record<string, string>>
  /** The same percentiles over all attempts, a failure or refusal counting as an infinite wait; null: it is one. */
  readonly all_attempts: Readonly<Record<string, number | null>> | null
}

export interface Counts {
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failed: number
  readonly shed: number
  readonly censored: number
  readonly unsent: number
  /** Of `censored` those that the client hung up on; absent where there is none. */
  readonly cancelled_by_client?: number
  /** Planned requests of which nothing is recorded, for the run was killed or could not be stored; absent where there is none. */
  readonly lost?: number
  /** Of `lost` those that had been sent when that was last said; absent where nothing says it. */
  readonly lost_under_way?: number
}

export interface Weighting {
  /** TPOT averaged per request, ms: a typical user. */
  readonly per_request: number | null
  /** TPOT weighted by gaps, ms: a typical token. */
  readonly per_token: number | null
}

export interface Throughput {
  readonly window_s: number
  readonly requests_per_s: number | null
  readonly output_tokens_per_s: number | null
  readonly input_tokens_per_s: number | null
}

export interface Goodput {
  /** Good requests per second of the window; null where it cannot be known. */
  readonly per_s: number | null
  /** Good ÷ attempts in the window. */
  readonly share: number | null
  readonly good: number
  readonly attempts: number
  /** Requests whose goodness cannot be known (a limit on a figure that the row lacks). */
  readonly unknown: number
  /** Some goodness is unknown and counts as not good: `per_s` and `share` are lower ends. */
  readonly lower_bound: boolean
  /** How many failed by each reason (objective text, `failed`, `shed`, …); a request may have several. */
  readonly failed_by: Readonly<Record<string, number>>
  readonly failed_twice: number
  /** One-token answers, which pass a TPOT limit vacuously. */
  readonly vacuous_tpot: number
  readonly objective: string
  /** Share asked for (`good 99%`), and whether it was met; null where the objective sets none. */
  readonly asked_share: string | null
  readonly met: 'yes' | 'no' | 'inconclusive' | null
}

/** Pauses inside streams: over requests with at least two gaps. */
export interface Stutter {
  readonly streams: number
  readonly stuttering_streams: number
  readonly gap_p95_ms: number | null
  readonly gap_p99_ms: number | null
  readonly gap_max_ms: number | null
  /** The largest share of one stream's time that its worst gap took, and the median of that share. */
  readonly worst_gap_share_max: number | null
  readonly worst_gap_share_p50: number | null
}

/** L = λ·W over the window, as a check of clocks and joins. */
export interface LittleCheck {
  readonly in_flight_mean: number
  readonly arrival_per_s: number
  readonly time_in_system_s: number
  /** |L − λW| ÷ L. */
  readonly discrepancy: number | null
}

/** What the records alone say: a pure function of rows, window and objectives. */
export interface RunSummary {
  readonly counts: Counts
  /** Counts of the measurement window alone. */
  readonly window_counts: Counts
  readonly metrics: Readonly<Partial<Record<MetricName, MetricSummary>>>
  readonly weighting: Weighting
  readonly throughput: Throughput
  readonly goodput: Goodput | null
  readonly stutter: Stutter
  readonly little: LittleCheck | null
  readonly errors: Readonly<Record<string, number>>
  readonly tokens_source: Readonly<Record<string, number>>
  readonly cache: {
    readonly prompt_tokens: number
    readonly cached_tokens: number
    readonly hit_rate: number
  } | null
  readonly warnings: readonly Warning[]
}
