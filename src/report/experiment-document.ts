import type { ObjectiveOutcome } from './documents.ts'
import type { Verdict } from '../judge/verdict.ts'

/** The headline figures of a run, by name; the unit is in the name. */
export type ExperimentFigure =
  | 'ttft_ms_p50'
  | 'ttft_ms_p99'
  | 'tpot_ms_p50'
  | 'tpot_ms_p99'
  | 'e2e_ms_p50'
  | 'requests_per_s'
  | 'output_tokens_per_s'
  | 'goodput_share'

/** One run of a cell. */
export interface ExperimentRun {
  /** Its folder, relative to the experiment's. */
  readonly run: string
  readonly seed: string
  readonly verdict: Verdict
  readonly objectives: readonly ObjectiveOutcome[]
  /** Null: the run does not tell it. */
  readonly figures: Readonly<Record<ExperimentFigure, number | null>>
}

/**
 * A figure over the runs of a cell: the mean, and Student's interval mean ± t(0.975; n − 1) · s ÷ √n with the run as the unit, since
 * requests of one run share its queue and its hour.
 */
export interface FigureOverRuns {
  /** Runs that count: those that are not INVALID and tell the figure. */
  readonly n: number
  readonly mean: number | null
  /** Standard deviation between runs. */
  readonly sd: number | null
  readonly low: number | null
  readonly high: number | null
  /** Why there is no interval, or null. */
  readonly why: string | null
}

/** The runs with one combination of the matrix's settings. */
export interface ExperimentCell {
  /** Flag by its name, and the value it had; empty without a matrix. */
  readonly settings: Readonly<Record<string, string>>
  readonly runs: readonly ExperimentRun[]
  readonly figures: Readonly<Record<ExperimentFigure, FigureOverRuns>>
}

/** Several runs as one experiment: repeated, or over a matrix of settings, or both. */
export interface ExperimentDocument {
  readonly schema: 'plimsoll.experiment/1'
  readonly plimsoll: string
  /** Folder of the experiment: a folder of runs. */
  readonly experiment: string
  readonly name: string
  /** False: it was interrupted, and runs are missing. */
  readonly complete: boolean
  readonly repeat: number
  readonly cells: readonly ExperimentCell[]
}
