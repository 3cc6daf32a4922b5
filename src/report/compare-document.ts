import type { Warning } from '../base/warnings.ts'
import type { MetricChange } from '../judge/compare-metric.ts'
import type { OrderFindings } from '../judge/compare-order.ts'
import type { PilotPlan } from '../judge/compare-pilot.ts'
import type { ResidueItem } from '../judge/residue.ts'
import type { Interval, IntervalCoverage } from '../measure/metrics/run-summary.ts'

/** One run of an arm. */
export interface ComparedRun {
  readonly path: string
  readonly block: string | null
  readonly seed: string | null
  readonly started_at: string | null
  readonly verdict: 'VALID' | 'DEGRADED' | 'INVALID'
}

export interface ComparedArm {
  readonly name: string
  readonly runs: readonly ComparedRun[]
  /** Runs that were given and are not used, with the reason. */
  readonly left_out: readonly { readonly path: string; readonly why: string }[]
}

/** The verdict in the words of the metric: a latency or rate is faster, a score better. */
export type VerdictWord =
  | 'faster'
  | 'slower'
  | 'better'
  | 'worse'
  | 'equivalent'
  | 'no_regression'
  | 'inconclusive'

/** One metric of the comparison. */
export interface ComparedMetric extends Omit<MetricChange, 'verdict'> {
  /** `tpot_mean` */
  readonly metric: string
  /** "TPOT mean" */
  readonly label: string
  /** `ms`, `/s`, `tok/s`, `share`, or empty. */
  readonly unit: string
  readonly better: 'lower' | 'higher'
  readonly primary: boolean
  /** p over the metrics that are not primary, by Holm; the primary's own p. */
  readonly p_adjusted: number | null
  readonly verdict: VerdictWord | null
  /** Shown worse, and not shown to be within the margin. */
  readonly regression: boolean
  /** Within-run intervals of a single run an arm: they know nothing of how runs differ. */
  readonly within_run: {
    readonly a: Interval | null
    readonly b: Interval | null
    /** What those intervals were measured to hold. */
    readonly coverage: readonly IntervalCoverage[]
  } | null
  /** An exact test without the normal distribution, for few runs; null for more than ten. */
  readonly exact: {
    readonly test: 'sign_flip' | 'permutation'
    readonly p: number
    readonly smallest_p: number
  } | null
  /** Both values of each pair, in the order of the pairs; empty where nothing is paired. */
  readonly pairs: readonly { readonly key: string; readonly a: number; readonly b: number }[]
}

export interface CompareDocument {
  readonly schema: 'plimsoll.compare/1'
  readonly plimsoll: string
  readonly kind: 'runs' | 'interleaved' | 'csv'
  readonly arms: { readonly a: ComparedArm; readonly b: ComparedArm }
  readonly design: {
    readonly paired_by: 'block' | 'seed' | 'load' | 'row' | null
    readonly why: string
    readonly alpha: number
    readonly margin: number
    readonly power: number
    readonly primary: string
  }
  readonly metrics: readonly ComparedMetric[]
  /** Metrics that cannot be compared, with the reason. */
  readonly not_compared: readonly { readonly metric: string; readonly why: string }[]
  readonly order: OrderFindings | null
  readonly residue: readonly ResidueItem[]
  /** Of any metric: exit code 4. */
  readonly regression: boolean
  readonly warnings: readonly Warning[]
  /**
   * The words after `compare` that make such runs again, but how many; null: no flags can say it. Of runs that were there a word in
   * capitals stands for what they do not tell. Absent where they tell of no server.
   */
  readonly again?: readonly string[] | null
}

/** What a pilot says about the runs that an effect needs. */
export interface ComparePlanDocument {
  readonly schema: 'plimsoll.compare-plan/1'
  readonly plimsoll: string
  readonly runs: readonly string[]
  /** As of a comparison: the words after `compare` that make such runs, but how many. */
  readonly again?: readonly string[]
  readonly effect: number
  readonly power: number
  readonly alpha: number
  readonly metrics: readonly PlannedMetric[]
}

export interface PlannedMetric extends PilotPlan {
  readonly metric: string
  readonly label: string
  readonly unit: string
  /** Share of the variance of a request that lies between runs; null where the runs hold no requests. */
  readonly icc: number | null
  /** Requests a run that buy the smallest error for the time (Kalibera and Jones); null where runs do not differ. */
  readonly requests_per_run: number | null
}
