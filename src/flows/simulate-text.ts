import type { SchedulingPolicy } from '../simulate/engine/engine-config.ts'

type Quantity = string | number

/** An engine: the name of a preset, or one with single values changed. Names are vLLM's, times in ms. */
export type EngineText = string | EngineChanges

export interface EngineChanges {
  readonly preset?: string
  /** Instead of a preset: a file of `plimsoll model fit` or `model measure`, beside the fleet's. */
  readonly model?: string
  readonly max_num_seqs?: number
  readonly max_num_batched_tokens?: number
  readonly long_prefill_token_threshold?: number
  readonly max_model_len?: number
  readonly block_size?: number
  readonly num_gpu_blocks?: number
  readonly max_num_waiting?: number
  readonly policy?: SchedulingPolicy
  /** Tokens of a draft, and the chance of each given those before it; the last holds for the rest. */
  readonly speculative?: number
  readonly accept?: number | readonly number[]
  readonly async_scheduling?: boolean
  readonly mixed_chunk?: boolean
  readonly host_ms?: number
  readonly enable_prefix_caching?: boolean
  readonly enable_chunked_prefill?: boolean
  readonly front_end_ms?: number
  readonly jitter_sigma?: number
  readonly base_ms?: number
  readonly knee_tokens?: number
  readonly per_token_ms?: number
  readonly per_context_token_ms?: number
  readonly per_pair_ms?: number
  readonly per_sequence_ms?: number
}

export interface ScalerText {
  readonly metric?: string
  readonly target?: Quantity
  readonly min?: number
  readonly max?: number
  readonly tolerance?: Quantity
  readonly sync?: Quantity
  readonly scrape?: Quantity
  readonly delay?: Quantity
  readonly up_stabilization?: Quantity
  readonly down_stabilization?: Quantity
  readonly cold_start?: Quantity | { readonly median: Quantity; readonly p99: Quantity }
  readonly warm_pool?: { readonly replicas?: number; readonly ready?: Quantity } | null
}

/** A fleet as it is written in YAML. Everything has a default. */
export interface PolicyText {
  readonly name?: string
  readonly seed?: Quantity
  readonly duration?: Quantity
  readonly drain?: Quantity
  readonly window?: Quantity
  readonly replicas?: number
  readonly engine?: EngineText
  readonly cost_per_hour?: number
  /** Instead of `replicas`, `engine` and `cost_per_hour`. */
  readonly groups?: readonly {
    readonly name?: string
    readonly replicas: number
    readonly engine: EngineText
    readonly cost_per_hour?: number
  }[]
  readonly traffic?: {
    readonly arrivals?: string | number
    readonly prompt?: Quantity
    readonly output?: Quantity
    readonly sharing?: { readonly groups: number; readonly tokens: number }
    readonly trace?: string
    readonly speed?: number
    readonly repeat?: boolean
  }
  readonly router?: string | { readonly kind: string; readonly signal_every?: Quantity }
  readonly scaler?: ScalerText | null
  readonly admission?: {
    readonly in_flight_per_replica?: number
    readonly queue?: number
    readonly queue_timeout?: Quantity
  }
  readonly clients?: { readonly timeout?: Quantity; readonly retries?: number; readonly backoff?: Quantity }
  readonly faults?: readonly string[]
  readonly objective?: string
}

export interface FleetText extends PolicyText {
  /** Fleets side by side: what each changes of the rest of the file. */
  readonly policies?: Readonly<Record<string, PolicyText>>
}
