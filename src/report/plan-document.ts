import type { Warning } from '../base/warnings.ts'
import type { PlanSimulation } from './plan-simulation.ts'
import type { OperatingPoint, SweepDocument, SweepLoad, WallKind } from './documents.ts'

/** Replicas for a demand, from measured operating points: what `plimsoll plan --json` prints and `plan.json` keeps. Public names. */
export interface PlanDocument {
  readonly schema: 'plimsoll.plan/1'
  readonly plimsoll: string
  readonly made_at: string
  readonly demand: PlanDemand
  /** Ranked by the throughput that keeps the objective; the first is the plan. */
  readonly candidates: readonly PlanCandidate[]
  /** Demand by class, each in a pool of its own. Empty: one class. */
  readonly classes: readonly PlanClass[]
  /** Replicas if all classes share one pool: the sum of their needs, which takes a linear mix. Null: one class, or undecided. */
  readonly shared_replicas: number | null
  /** The reading of the margin that holds, or null: the two differ and none was chosen. */
  readonly chosen: 'derate' | 'uplift' | null
  readonly availability: PlanAvailability | null
  /** Poisson peaks inside the busiest minute. */
  readonly bursts: readonly {
    readonly window_s: number
    readonly peak_to_mean: number
    readonly covered_share: number
  }[]
  /** Limits of one replica; null for typed numbers and for a sweep without a capacity. */
  readonly limits: PlanLimits | null
  /** Where the numbers are from, and until when they hold; null for typed numbers. */
  readonly provenance: PlanProvenance | null
  /** A day that the plan was tried on (`--simulate`); null: it was not. */
  readonly simulation: PlanSimulation | null
  /** What speaks against the plan as a whole: a sweep that was ended before its end. */
  readonly warnings: readonly Warning[]
  /** What was not measured, and what to do about it. */
  readonly not_measured: readonly string[]
  /** Files that were written, relative to the folder. */
  readonly files: readonly string[]
  readonly out: string | null
}

export interface PlanDemand {
  /** Requests per second, mean of the busiest minute, as exact text. */
  readonly peak_per_s: string
  readonly margin: string
  readonly margin_kind: 'derate' | 'uplift' | 'unsaid'
  readonly imbalance: string
  readonly failures: number
  readonly zones: { readonly count: number; readonly lost: number } | null
  readonly gpus_per_replica: number
  readonly burst_window_s: number | null
  readonly price_per_gpu_hour: string | null
}

export interface PlanReading {
  readonly margin_kind: 'derate' | 'uplift'
  readonly usable_per_s: number
  readonly need: number
  readonly serving: number
  readonly replicas: number
  readonly gpus: number
  readonly cost_per_hour: number | null
  /** At the peak; a quieter hour costs more a token. */
  readonly cost_per_million_output_tokens: number | null
  readonly working: readonly string[]
}

export interface PlanBasis {
  /** A replica's requests per second, and whether a Poisson run showed it: `refuted`, one at this rate missed the objective. */
  readonly requests_per_s: number
  readonly kind: 'confirmed' | 'indicative' | 'refuted' | 'typed'
  /** Nothing broke: the capacity is at least this. */
  readonly at_least: boolean
  readonly why: string
}

export interface PlanCandidate {
  /** The sweep's folder, or what was typed. */
  readonly name: string
  /** Null: no tested load keeps the objective. */
  readonly basis: PlanBasis | null
  readonly output_tokens_per_s: number | null
  readonly capacity: SweepLoad | null
  readonly binding: WallKind | null
  /** The limit that the first failing load broke, or null. */
  readonly broke_first: string | null
  readonly peak_output_tokens_per_s: number | null
  readonly readings: readonly PlanReading[]
  readonly chosen: 'derate' | 'uplift' | null
  /** Load of each replica after the planned losses, as a share of what it was measured to carry. */
  readonly survivor_share: number | null
}

export interface PlanClass {
  readonly name: string
  readonly peak_per_s: string
  readonly sweep: string
  readonly basis: PlanBasis | null
  readonly readings: readonly PlanReading[]
  readonly chosen: 'derate' | 'uplift' | null
}

export interface PlanAvailability {
  readonly of_replica: number
  readonly enough_up: readonly { readonly replicas: number; readonly chance: number }[]
  /** Asked for, and the replicas that it takes; null: not asked. */
  readonly wanted: { readonly chance: number; readonly replicas: number } | null
}

export interface PlanLimits {
  readonly max_running: number
  readonly max_wait_ms: number | null
  readonly max_queued: number | null
  readonly max_in_flight: number | null
  readonly max_queued_tokens: number | null
  readonly retry_after_s: number | null
  readonly why: Readonly<Record<string, string>>
  /** By engine. */
  readonly flags: Readonly<Record<string, readonly string[]>>
}

export interface PlanProvenance {
  readonly sweep: string
  readonly objective: string | null
  readonly workload: string
  readonly engine: string | null
  readonly embedded: boolean
  /** The words that ask the sweep's server for the same; null: no flags can say it. Absent in plans of versions that did not know. */
  readonly again?: readonly string[] | null
  readonly model: string | null
  readonly gpu: string | null
  readonly engine_args: string | null
  readonly plimsoll: string
  readonly measured_at: string | null
  readonly expires_at: string | null
  readonly runs: readonly string[]
  readonly walls: SweepDocument['walls']
  readonly capacity: SweepDocument['capacity']
  readonly operating_point: OperatingPoint | null
  /** TPOT and TTFT of the capacity's point with the 95 % interval of their P99, ms. */
  readonly tail: readonly {
    readonly metric: 'ttft_ms' | 'tpot_ms'
    readonly p99: number | null
    readonly interval: readonly [number | null, number | null] | null
    readonly why: string | null
  }[]
  readonly tested: { readonly kind: SweepLoad['kind']; readonly first: number; readonly last: number } | null
}
