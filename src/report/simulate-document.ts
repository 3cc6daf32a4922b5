/** What `plimsoll simulate --json` prints. Times say their unit; shares are of 1. */
export interface SimulationDocument {
  readonly schema: 'plimsoll.simulation/1'
  readonly plimsoll: string
  readonly file: string
  readonly name: string
  readonly seed: string
  readonly duration_s: number
  readonly objective: string | null
  /** In the order of the file. */
  readonly policies: readonly SimulatedPolicy[]
  /** Replica-hours that the traffic of the first policy takes when it is known before; null where it cannot be reckoned. */
  readonly floor: SimulationFloor | null
}

export interface SimulatedPolicy {
  readonly policy: string
  /** Its folder under `--out`, where there are several policies. */
  readonly folder: string
  readonly counts: {
    readonly arrived: number
    readonly answered: number
    readonly good: number
    readonly censored: number
    readonly attempts: number
    /** By kind; they add up with `answered` and `censored` to `arrived`. */
    readonly lost: Readonly<Record<string, number>>
  }
  /** Good ÷ arrived; null without traffic. */
  readonly good_share: number | null
  readonly goodput_per_s: number
  readonly output_tokens_per_s: number
  /** Null without an objective. */
  readonly objective_met: boolean | null
  /** Bad ÷ allowed bad; above 1 it is overspent. Null without an objective, or where none is allowed. */
  readonly budget_spent: number | null
  /** Requests that were not good, by their likeliest cause. */
  readonly hurt: Readonly<Record<string, number>>
  readonly ttft_ms: LatencyDocument
  readonly tpot_ms: LatencyDocument
  readonly e2e_ms: LatencyDocument
  readonly queue_ms: LatencyDocument
  readonly worst_queue: { readonly requests: number; readonly at_s: number }
  readonly preemptions: number
  readonly replicas: {
    readonly first: number
    readonly most: number
    readonly changes: readonly ScaleChange[]
  }
  /** One for each group where there are several: what the figures over all of them hide. */
  readonly groups: readonly GroupDocument[]
  readonly replica_hours: number
  readonly cost: number | null
  readonly windows: readonly WindowDocument[]
}

export interface GroupDocument {
  readonly name: string
  readonly ttft_ms: LatencyDocument
}

export interface LatencyDocument {
  readonly n: number
  readonly mean: number | null
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
  readonly max: number | null
}

export interface ScaleChange {
  readonly at_s: number
  readonly from: number
  readonly to: number
}

export interface WindowDocument {
  readonly start_s: number
  readonly arrived: number
  readonly good: number
  readonly bad: number
  readonly ready_replicas: number
  readonly most_waiting: number
}

export interface SimulationFloor {
  readonly replica_hours: number
  readonly cost: number | null
  /** Requests a second that one replica carries at the limit that binds. */
  readonly capacity_per_s: number
  readonly binding: string
}
