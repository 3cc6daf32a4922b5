/** What the experiments of `plimsoll lab` found; printed by `--json` (`plimsoll.lab/1`). Times in ms, shares in 0..1. */
export type LabDocument = LabTail | LabOmission | LabWalls

/** How a percentile of n values scatters, by closed form and by drawing it again and again. */
export interface ScatterFigures {
  readonly mean: number
  readonly sd: number
  /** Share of the estimates below the truth. */
  readonly underestimates: number
}

export interface LabTail {
  readonly schema: 'plimsoll.lab/1'
  readonly kind: 'tail'
  readonly seed: string
  readonly shape: 'exponential' | 'lognormal' | 'pareto'
  readonly percentile: string
  /** The true percentile, in the unit of the distribution (exponential: multiples of the mean). */
  readonly truth: number
  readonly rows: readonly {
    readonly n: number
    readonly repeats: number
    /** Mean and sd null where no closed form is known: the chance to be too low holds for every shape. */
    readonly closed_form: {
      readonly mean: number | null
      readonly sd: number | null
      readonly underestimates: number
    }
    readonly simulated: ScatterFigures
    /** Estimates by value over `axis`, in equal steps; those outside are in the end bins. */
    readonly histogram: readonly number[]
  }[]
  readonly axis: readonly [low: number, high: number]
  readonly agent: {
    readonly calls: number
    readonly slow: number
    readonly tasks: number
    readonly closed_form: number
    readonly simulated: number
    /** Standard error of the simulated share. */
    readonly standard_error: number
    readonly needed_per_call: number
  }
}

/** What one kind of client wrote down. */
export interface ClientReading {
  readonly client: 'scheduled' | 'waiting' | 'catching_up'
  readonly sent: number
  readonly slow: number
  readonly mean_ms: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly max_ms: number
  /** Send and latency of each request around the stall. */
  readonly near_stall: readonly (readonly [sentMs: number, latencyMs: number])[]
}

export interface LabOmission {
  readonly schema: 'plimsoll.lab/1'
  readonly kind: 'omission'
  readonly rate_per_s: number
  readonly duration_ms: number
  readonly stall_start_ms: number
  readonly stall_ms: number
  readonly service_ms: number
  readonly server: 'parallel' | 'serial'
  readonly clients: readonly ClientReading[]
  /** P99 of the scheduled client in the limit of a dense schedule. */
  readonly closed_form_p99_ms: number
  /** The waiting client's values with the missing ones filled in. */
  readonly corrected: { readonly samples: number; readonly p99_ms: number }
}

export interface LabWallPoint {
  readonly load: number
  readonly tokens_per_s: number
  readonly p99_tpot_ms: number | null
  readonly p99_ttft_ms: number | null
  /** One-sided 95 % upper ends; null where too few values, or a table, do not give them. */
  readonly p99_tpot_upper_ms: number | null
  readonly p99_ttft_upper_ms: number | null
  /** Requests behind the percentiles; null where the table does not say. */
  readonly n: number | null
  readonly passes: boolean | null
  /** `passes` rests on the estimate alone: no upper end is known. */
  readonly indicative: boolean
}

export interface LabWalls {
  readonly schema: 'plimsoll.lab/1'
  readonly kind: 'walls'
  /** Where the points are from, in words. */
  readonly source: string
  readonly seed: string | null
  /** The limits in words; null: none. */
  readonly limit: string | null
  readonly points: readonly LabWallPoint[]
  readonly saturation: { readonly load: number; readonly reached: boolean } | null
  readonly peak: { readonly load: number; readonly tokens_per_s: number } | null
  readonly slo: {
    readonly load: number | null
    readonly reached: boolean
    readonly indicative: boolean
  } | null
  readonly memory: {
    readonly load: number
    readonly kv_tokens: number
    readonly tokens_per_request: number
  } | null
  readonly capacity: {
    readonly load: number | null
    readonly tokens_per_s: number | null
    readonly binding: 'slo' | 'saturation' | 'memory' | null
    readonly at_least: boolean
  }
  /** Passing loads above a failing one. */
  readonly passing_above: readonly number[]
  /** Gunther's law through the points, where one fits. */
  readonly law: {
    readonly lambda: number
    readonly sigma: number
    readonly kappa: number
    readonly peak_load: number | null
  } | null
}
