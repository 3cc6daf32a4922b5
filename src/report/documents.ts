import type { Warning } from '../base/warnings.ts'
import type { Verdict } from '../judge/verdict.ts'
import type { ClientHealth } from '../measure/load/client-health.ts'
import type {
  Counts,
  Goodput,
  LittleCheck,
  MetricName,
  MetricSummary,
  Stutter,
  Throughput,
  Weighting,
} from '../measure/metrics/run-summary.ts'
import type { ServerUse } from '../measure/metrics/server-use.ts'

/**
 * The documents that `--json` prints, `run.json` and `sweep.json` carry, and the report renders. Their JSON Schemas are
 * `schema/run.schema.json` and `schema/sweep.schema.json`. Names are public, hence snake case; times say their unit.
 */

/** When requests were sent. `text` is the pacer's own description of itself ("Poisson, 6/s"). */
export interface LoadFacts {
  readonly kind: 'constant' | 'poisson' | 'gamma' | 'ramp' | 'steps' | 'burst' | 'schedule' | 'concurrency'
  readonly text: string
  readonly open_loop: boolean
  /** Requests per second asked for; null where it varies or the loop is closed. */
  readonly rate_per_s: number | null
  /** Users of a closed loop. */
  readonly users: number | null
  /** At most this many connections, or null: no limit. In an open loop, waiting for one counts as lag. */
  readonly connection_limit: number | null
}

export interface TargetFacts {
  /** Without credentials. */
  readonly url: string
  readonly api: string
  readonly model: string | null
  /** Engine and version as far as the server tells, "vLLM 0.19.1". */
  readonly engine: string | null
  readonly embedded: boolean
  /** Requests by replica, where a header names it. */
  readonly replicas: Readonly<Record<string, number>> | null
  readonly kv_tokens: number | null
}

export interface WindowFacts {
  readonly warmup_s: number
  readonly measure_s: number
  readonly drain_s: number
  /** Ms after the clock's origin; intended sends in [start, end) belong to the window. */
  readonly start_ms: number
  readonly end_ms: number
  /** How the ends were chosen: given, or found by detection. */
  readonly how: 'given' | 'detected' | 'count'
}

/** An objective and what became of it. */
export interface ObjectiveOutcome {
  /** As it was written. */
  readonly text: string
  /** `each`: a share of requests must be good; `over_run`: a percentile of the run is limited. */
  readonly kind: 'each' | 'over_run'
  /** Whether missing it fails the run (exit code 3); not with vLLM's `--goodput`. */
  readonly judged: boolean
  readonly met: 'yes' | 'no' | 'inconclusive' | null
  /** The figure that was compared: the share of good requests, or the percentile in ms. */
  readonly estimate: number | null
  /** The end of the one-sided 95 % interval that decides. */
  readonly bound: number | null
  readonly limit: number | null
  /** The evidence in a sentence. */
  readonly reason: string
}

/** One request of the run, to show a formula with its numbers. */
export interface WorkedRequest {
  readonly id: string
  readonly ttft_ms: number
  readonly e2e_ms: number
  readonly completion_tokens: number
  readonly tpot_ms: number
}

/** One load test. */
export interface RunDocument {
  readonly schema: 'plimsoll.run/1'
  readonly plimsoll: string
  /** The run folder. */
  readonly run: string
  readonly name: string
  /** False: the run was killed or interrupted and rows may be missing; the warnings say what. */
  readonly complete: boolean
  /** Why it ended before its plan did, or null. */
  readonly stopped: { readonly kind: 'interrupted' | 'early' | 'killed'; readonly why: string } | null
  readonly clock: {
    /** CLOCK_MONOTONIC at the run's zero, ns: what truth files and rows are joined by. */
    readonly origin_monotonic_ns: number
    /** Wall clock at the run's zero, ISO 8601; for people only. */
    readonly started_at: string | null
  }
  readonly seed: string
  readonly salt: string | null
  /** The pairs of `--tag`. */
  readonly tags: Readonly<Record<string, string>>
  readonly target: TargetFacts
  readonly load: LoadFacts
  /** What was asked, in words. */
  readonly workload: string
  /** The flags that ask for the same again; null: no flags can say it. Absent in documents of versions that did not know. */
  readonly repeat?: RepeatFlags | null
  readonly window: WindowFacts
  readonly verdict: Verdict
  /** All phases; planned = ok + failed + shed + censored + unsent (+ lost, of a run that was killed). */
  readonly counts: Counts
  /** The measurement window alone. */
  readonly window_counts: Counts
  readonly metrics: Readonly<Partial<Record<MetricName, MetricSummary>>>
  readonly weighting: Weighting
  readonly throughput: Throughput
  readonly goodput: Goodput | null
  readonly objectives: readonly ObjectiveOutcome[]
  readonly stutter: Stutter
  readonly little: LittleCheck | null
  /** Requests by `error_kind`. */
  readonly errors: Readonly<Record<string, number>>
  /** What was said most often of each `error_kind`. Absent in documents of versions that did not tell. */
  readonly error_messages?: Readonly<Record<string, string>>
  readonly tokens_source: Readonly<Record<string, number>>
  readonly cache: {
    readonly prompt_tokens: number
    readonly cached_tokens: number
    readonly hit_rate: number
  } | null
  /** What the server's own metrics said inside the window; null where it shows none. */
  readonly server: ServerUse | null
  readonly client: ClientHealth
  /** The request whose TPOT is the median, for `--explain`. */
  readonly worked: WorkedRequest | null
  readonly warnings: readonly Warning[]
}

/** The load of a sweep's point. */
export interface SweepLoad {
  readonly kind: 'concurrency' | 'rate'
  readonly value: number
}

export type WallKind = 'saturation' | 'slo' | 'memory'

export interface SweepPoint {
  readonly load: SweepLoad
  /** Mean requests in flight over the window. */
  readonly in_flight: number | null
  /** The point's own run folder, relative to the sweep's; null for a point that was not run. */
  readonly run: string | null
  readonly verdict: Verdict
  /** All phases, as of a run. Absent in documents of versions that did not tell. */
  readonly counts?: Counts
  /** Requests by `error_kind`, all phases. Absent as `counts`. */
  readonly errors?: Readonly<Record<string, number>>
  /** What was said most often of each. Absent as `counts`. */
  readonly error_messages?: Readonly<Record<string, string>>
  readonly throughput: Throughput
  readonly metrics: Readonly<Partial<Record<MetricName, MetricSummary>>>
  readonly goodput: Goodput | null
  readonly objectives: readonly ObjectiveOutcome[]
  /** Whether it passes the objective: by the interval's end, by the estimate alone, or not. */
  readonly passes: 'yes' | 'indicative' | 'no' | null
  /** Why its numbers are not used, in words: client-bound, not steady, too few samples. Empty: not suspect. */
  readonly suspect: readonly string[]
  /** Why the point ended before its time, or null. */
  readonly stopped: string | null
}

export interface SaturationWall {
  readonly load: number
  readonly output_tokens_per_s: number | null
  /** Its throughput ÷ the best of the sweep. */
  readonly share_of_best: number
}

export interface SloWall {
  readonly load: number
  /** Only the estimate is within the limit; there are too few samples to show it. */
  readonly indicative: boolean
  /** The objective in words. */
  readonly objective: string
}

export interface MemoryWall {
  /** Requests that fit at the mean of the lengths. */
  readonly load: number
  /** At the 99th percentile of the lengths. */
  readonly load_p99: number | null
  readonly kv_tokens: number
  readonly tokens_per_request: number
}

/** The load, and what it does, that plans are made of. */
export interface OperatingPoint {
  readonly load: SweepLoad
  readonly in_flight: number | null
  readonly requests_per_s: number
  readonly output_tokens_per_s: number | null
  readonly ttft_ms: { readonly p50: number | null; readonly p99: number | null }
  readonly tpot_ms: { readonly p50: number | null; readonly p99: number | null }
  /** By a Poisson run at its requests per second. Null: not tried. */
  readonly confirmed: boolean | null
  readonly confirmation: {
    readonly run: string | null
    readonly text: string
    readonly requests_per_s: number
    readonly verdict: Verdict
    readonly objectives: readonly ObjectiveOutcome[]
    readonly goodput_share: number | null
  } | null
}

/** Rising load, and the walls that it met. */
/** The words of a command line that ask for the same again. */
export interface RepeatFlags {
  /** The server's part but its address, what is asked of it, and what is good: of `run` and `sweep` alike. */
  readonly asked: readonly string[]
  /** How long a `run` goes on. */
  readonly ends: readonly string[]
  /** When a `run` sends; null: no flags can say it. Absent of what is more than one run, and in documents that did not know. */
  readonly load?: readonly string[] | null
}

export interface SweepDocument {
  readonly schema: 'plimsoll.sweep/1'
  readonly plimsoll: string
  /** The sweep's folder: a folder of runs. */
  readonly sweep: string
  readonly name: string
  readonly complete: boolean
  readonly stopped: { readonly kind: 'interrupted' | 'early' | 'killed'; readonly why: string } | null
  readonly started_at: string | null
  readonly seed: string
  /** The pairs of `--tag`. */
  readonly tags: Readonly<Record<string, string>>
  readonly target: TargetFacts
  readonly workload: string
  readonly repeat?: RepeatFlags | null
  readonly objective: string | null
  /** In rising order of load. */
  readonly points: readonly SweepPoint[]
  readonly walls: {
    readonly saturation: SaturationWall | null
    readonly slo: SloWall | null
    readonly memory: MemoryWall | null
    /** How each was found, or why there is none. */
    readonly why: Readonly<Record<WallKind, string>>
  }
  readonly capacity: {
    readonly load: number | null
    readonly binding: WallKind | null
    /** No wall was reached: capacity is at least this. */
    readonly censored: boolean
    readonly indicative: boolean
    readonly why: string
  }
  readonly operating_point: OperatingPoint | null
  /** The best throughput of the sweep, whether or not it may be used. */
  readonly peak: { readonly load: number; readonly output_tokens_per_s: number } | null
  readonly warnings: readonly Warning[]
}
