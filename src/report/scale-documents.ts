import type { PlanBasis } from './plan-document.ts'
/** Recorded signals by how long before the objective's breach they moved: `plimsoll scale signals --json`. Public names. */
export interface SignalsDocument {
  readonly schema: 'plimsoll.signals/1'
  readonly plimsoll: string
  readonly run: string
  /** The server that was recorded; absent where its address is not that of one. */
  readonly url?: string
  /** The limit that was missed: `ttft < 500ms`. */
  readonly limit: string
  /** After the run's start, s; null: it was never missed for good. */
  readonly breach_at_s: number | null
  readonly signals: readonly SignalFacts[]
  /** The earliest that may be used; null: none. */
  readonly best: string | null
  /** Whether a policy on the named signal is refused, and why. */
  readonly policy: { readonly on: string; readonly refused: string | null } | null
}

export interface SignalFacts {
  readonly name: string
  readonly unit: string
  readonly kind: 'early' | 'late' | 'flat' | 'unknown'
  readonly lead_s: number | null
  readonly quiet: number | null
  readonly extreme: number | null
  readonly correlation: number | null
  readonly why: string
}

/** What a scaler is told, and how it was reckoned. */
export interface PolicyFacts {
  readonly trigger_per_s: number
  readonly target_per_s: number
  readonly target_in_flight: number
  readonly warm_pool: number
  readonly reserve_in_flight: number
  readonly min_replicas: number
  readonly max_replicas: number
  readonly scale_down_stabilization_s: number
  readonly scale_down_period_s: number
  readonly working: readonly string[]
}

/** `plimsoll scale policy --json`. */
export interface PolicyDocument extends PolicyFacts {
  readonly schema: 'plimsoll.policy/1'
  readonly plimsoll: string
  readonly sweep: string
  readonly basis: Pick<PlanBasis, 'requests_per_s' | 'kind'>
  readonly cold_start_s: readonly [min: number, max: number] | null
  readonly ramp_per_s2: string | null
  /** What waits behind one replica that is asked for half as much again while the next one starts; null without a cold start. */
  readonly backlog: { readonly waiting: number; readonly wait_s: number } | null
  /** By format: hpa, keda, keda-external, wva. */
  readonly manifests: Readonly<Record<string, string>>
}
