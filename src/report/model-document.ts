/** `low` and `high`: 5th and 95th percentile of what the fit cannot rule out. */
export interface PredictedDocument {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** What `plimsoll model fit` writes and `predict` and `score` read. */
export interface ModelDocument {
  readonly schema: 'plimsoll.model/1'
  readonly plimsoll: string
  readonly runs: readonly string[]
  /** The engine's settings, by vLLM's names. */
  readonly settings: Readonly<Record<string, number | boolean | null>>
  /** ms. */
  readonly coefficients: Readonly<Record<string, number>>
  /** One standard deviation of each coefficient as a factor: 1.1 is about ±10 %; above 1.65 it is not known. */
  readonly uncertainty: Readonly<Record<string, number>>
  readonly log_covariance: readonly (readonly number[])[]
  /** Twenty sets of coefficients that the runs cannot rule out; predictions are made for each. */
  readonly ensemble: readonly Readonly<Record<string, number>>[]
  readonly bounded_by: 'physics' | 'not negative'
  readonly rms_error: number
  /** Standard deviation of the relative error of a figure that its own requests know to 1 %. */
  readonly noise: number
  readonly points: readonly ModelPoint[]
  readonly collinear: readonly { readonly a: string; readonly b: string; readonly correlation: number }[]
  /** The measurement that would tell most of what is open, or null where nothing is. */
  readonly next_measurement: string | null
  readonly hull: {
    readonly prompt_tokens: readonly [number, number]
    readonly output_tokens: readonly [number, number]
  }
}

/** The root mean square error above which a fit describes nothing: a 90 % interval of it would be as wide as the figure. */
export const unfitAbove = 0.3

/** Whether a model describes the runs that it was fitted to well enough to foretell anything. */
export function fits({ rms_error: error }: Pick<ModelDocument, 'rms_error'>): boolean {
  return error <= unfitAbove
}

export interface ModelPoint {
  readonly run: string
  readonly n: number
  readonly prompt_tokens: number
  readonly ttft_ms: { readonly measured: number; readonly fitted: number }
  readonly tpot_ms: { readonly measured: number; readonly fitted: number } | null
}

export interface PredictionDocument {
  readonly schema: 'plimsoll.prediction/1'
  readonly plimsoll: string
  readonly model: string
  readonly asked: {
    readonly rate_per_s: number
    readonly prompt: string
    readonly output: string
    readonly tpot_limit_ms: number | null
  }
  readonly capacity_per_s: PredictedDocument
  /** Requests a second at each wall; null: never met. */
  readonly walls_per_s: Readonly<Record<string, number | null>>
  readonly binding: string
  readonly load: PredictedDocument
  /** Null near the wall. */
  readonly latency: Readonly<
    Record<'ttft_mean_ms' | 'ttft_p99_ms' | 'tpot_mean_ms' | 'tpot_p99_ms' | 'e2e_mean_ms', PredictedDocument>
  > | null
  /** What of the question lies outside what the fit has seen. */
  readonly outside: readonly string[]
}

export interface ScoreDocument {
  readonly schema: 'plimsoll.score/1'
  readonly plimsoll: string
  readonly model: string
  readonly points: readonly ScorePoint[]
  readonly mean_error: { readonly ttft: number | null; readonly tpot: number | null }
  /** Mean of the absolute errors. */
  readonly mape: { readonly ttft: number | null; readonly tpot: number | null }
  /** Closed loops: what came out of them in all, by Little's law. */
  readonly closed_loops: readonly ScoredLoop[]
  /** Measured figures inside their interval, of all. */
  readonly coverage: { readonly inside: number; readonly of: number; readonly claimed: 0.9 }
  /** Of these figures, those whose interval is wider than what was foretold: it would have held nearly anything. */
  readonly wide: number
}

export interface ScorePoint {
  readonly run: string
  readonly n: number
  readonly prompt_tokens: number
  readonly ttft_ms: ScoredFigure
  readonly tpot_ms: ScoredFigure | null
}

export interface ScoredLoop {
  readonly run: string
  readonly users: number
  readonly requests_per_s: ScoredFigure
}

export interface ScoredFigure extends PredictedDocument {
  readonly measured: number
  readonly error: number
  readonly inside: boolean
}
