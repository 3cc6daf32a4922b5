import type { LatencyDocument } from './simulate-document.ts'

/** A plan that was tried on a simulated day before it was printed. */
export interface PlanSimulation {
  /** The plan keeps its objective over the day and through the hour in which it has lost replicas. */
  readonly survives: boolean
  /** The engine that stood for a replica. */
  readonly engine: {
    readonly source: 'preset' | 'model' | 'sweep' | 'fit'
    readonly text: string
    /** Requests a second that one of it carries by the mean field, beside what the plan is made on. */
    readonly capacity_per_s: number
  }
  readonly traffic: {
    readonly text: string
    readonly duration_s: number
    /** Requests a second of the busiest minute. */
    readonly peak_per_s: number
    /** Prompts and answers: where their lengths are from. */
    readonly lengths: string
  }
  readonly router: string
  readonly seed: string
  /** Seconds of the day in which the lost replicas are missing. */
  readonly busiest: { readonly from_s: number; readonly until_s: number }
  /**
   * The plan through the whole day; through its busiest hour alone the plan with one replica fewer, and the plan on the slowest engine
   * that the fit does not rule out.
   */
  readonly cases: readonly PlanCase[]
  /** Limits of the objective that a simulation cannot judge. */
  readonly not_judged: readonly string[]
}

export interface PlanCase {
  readonly kind: 'plan' | 'one_fewer' | 'slowest_engine'
  readonly replicas: number
  readonly killed: number
  readonly survives: boolean
  readonly arrived: number
  /** Requests a second that met every limit. */
  readonly goodput_per_s: number
  readonly objectives: readonly PlanShare[]
  readonly ttft_ms: LatencyDocument
  readonly tpot_ms: LatencyDocument
  readonly worst_queue: { readonly requests: number; readonly at_s: number }
  /** Requests that did not meet everything, by their likeliest cause. */
  readonly hurt: Readonly<Record<string, number>>
  /** 24 equal parts of the day; none where only its busiest hour was simulated. */
  readonly hours: readonly PlanHour[]
}

/** A share of requests that has to meet limits. Shares of 1; null where no request came, and where the whole day was not simulated. */
export interface PlanShare {
  readonly text: string
  readonly wanted: number
  readonly day: number | null
  readonly busiest: number | null
  /** Bad requests ÷ those that may be bad; above 1 it is overspent. Null where none may be. */
  readonly budget_spent: number | null
  readonly budget_spent_busiest: number | null
  readonly met: boolean
}

export interface PlanHour {
  readonly start_s: number
  readonly arrived: number
  readonly good: number
  readonly ready_replicas: number
  readonly most_waiting: number
}
