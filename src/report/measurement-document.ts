import type { PredictedDocument } from './model-document.ts'

/** What `plimsoll model measure --json` prints: the measurements that it chose, and what they tell of the asked wall. */
export interface MeasurementDocument {
  readonly schema: 'plimsoll.measurement/1'
  readonly plimsoll: string
  /** Folder with a run folder for each point, and `model.json`. */
  readonly folder: string
  readonly target: { readonly url: string; readonly model: string | null; readonly embedded: boolean }
  readonly asked: {
    readonly wall: 'capacity' | 'slo' | 'memory' | 'saturation'
    readonly prompt: string
    readonly output: string
    readonly tpot_limit_ms: number | null
    /** Half width of the interval ÷ its value at which it ends. */
    readonly target: number
  }
  readonly points: readonly MeasurementPoint[]
  /** Requests a second at the wall, with the interval that the fit leaves open; null where nothing could be fitted. */
  readonly wall_per_s: PredictedDocument | null
  /** Half width ÷ value. */
  readonly half_width: number | null
  readonly ended: 'target' | 'points' | 'time' | 'interrupted' | 'nothing left' | 'not stored'
  readonly seconds: number
  /** Coefficients that these measurements do not tell, in words. */
  readonly not_known: readonly string[]
  /** File of the model; null: it could not be written. */
  readonly model: string | null
}

export interface MeasurementPoint {
  /** Its run folder, inside `folder`. */
  readonly run: string
  readonly prompt_tokens: number
  readonly output_tokens: number
  readonly users: number
  readonly answered: number
  readonly seconds: number
  readonly ttft_ms: number | null
  readonly tpot_ms: number | null
  /** Half width of the wall's interval before it, and as the design foretold it after it; null in the first design. */
  readonly foretold: { readonly before: number; readonly after: number } | null
  /** As the fit with it has it; null before there is a fit. */
  readonly half_width: number | null
}
