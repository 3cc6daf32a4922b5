import type { Warning } from '../base/warnings.ts'
import type { RepeatFlags, SweepPoint, TargetFacts } from './documents.ts'

/** A rate that was tried: a Poisson run in its own folder. */
export interface FindPoint extends Omit<SweepPoint, 'passes'> {
  /** Invalid: the client set the numbers, so nothing is decided by them. */
  readonly decision: 'holds' | 'fails' | 'undecided' | 'invalid'
  /** The evidence in a sentence. */
  readonly why: string
  /** Looks that were taken, of so many planned, and requests at the last of them. */
  readonly looks: { readonly taken: number; readonly planned: number; readonly requests: number }
}

/** How a search was done: fixed before its first point. */
export interface FindPlan {
  /** The first rate, requests per second, and how it was chosen. */
  readonly from_per_s: number
  readonly from: 'given' | 'probe'
  readonly resolution: number
  readonly most_points: number
  readonly most_looks: number
  /** Requests at the looks of the first point, as planned. */
  readonly looks: readonly number[]
  /** No rate is said to hold after less than this. */
  readonly holds_from_s: number
  /** The chance that an end of the answer is wrong, for each end, over all points and looks; and that of one look. */
  readonly error: { readonly each_end: number; readonly look: number }
}

/** The highest Poisson rate at which the objective holds, as an interval. */
export interface FindDocument {
  readonly schema: 'plimsoll.find/1'
  readonly plimsoll: string
  /** The folder: one of runs. */
  readonly find: string
  readonly name: string
  readonly complete: boolean
  readonly stopped: { readonly kind: 'interrupted' | 'early' | 'killed'; readonly why: string } | null
  readonly started_at: string | null
  readonly seed: string
  /** The pairs of `--tag`. */
  readonly tags: Readonly<Record<string, string>>
  readonly target: TargetFacts
  readonly workload: string
  /** The flags that ask for the same again; null: no flags can say it. */
  readonly repeat: RepeatFlags | null
  readonly objective: string
  readonly plan: FindPlan
  /** Short closed loops that told where to begin; null where that was given. */
  readonly probe: {
    readonly runs: readonly string[]
    readonly users: number
    readonly requests_per_s: number | null
  } | null
  /** In rising order of rate. */
  readonly points: readonly FindPoint[]
  readonly answer: {
    /** The highest rate that was shown to hold, below every one that fails; null: none was. */
    readonly holds_at_per_s: number | null
    /** The lowest rate that was shown to fail; null: none was. */
    readonly fails_at_per_s: number | null
    /** Rates in between that could not be decided. */
    readonly open_per_s: readonly number[]
    /** The ends are within the resolution of each other. */
    readonly resolved: boolean
    /** How the interval came about, or why there is none. */
    readonly why: string
  }
  readonly warnings: readonly Warning[]
}
