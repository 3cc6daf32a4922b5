import type { Warning } from '../base/warnings.ts'

/** Mean parts of one side. */
export interface WhySide {
  readonly name: string
  /** The folder of its run; absent for figures that were typed. */
  readonly run?: string
  readonly n: number
  readonly ttft_ms: number
  /** Null: no answer has more than one token. */
  readonly tpot_ms: number | null
  readonly output_tokens: number
  readonly e2e_ms: number
  readonly ttft_parts: {
    readonly lag_ms: number
    readonly first_byte_ms: number
    readonly first_token_ms: number
  } | null
}

export interface WhySegment {
  readonly segment: string
  readonly n_a: number
  readonly n_b: number
  readonly share_a: number
  readonly share_b: number
  readonly a: number | null
  readonly b: number | null
  readonly change: number | null
}

/** A percentile that moved from B to A, by cause. */
export interface WhyPercentile {
  readonly metric: 'e2e_ms' | 'ttft_ms' | 'tpot_ms'
  readonly level: string
  readonly a: number
  readonly b: number
  readonly total: number
  readonly mix: number
  readonly within: number
  /** What the segments are: "prompt tokens". */
  readonly by: string
  readonly segments: readonly WhySegment[]
}

export interface WhyPause {
  readonly id: string
  readonly at_ms: number
  readonly gap_ms: number
  readonly median_gap_ms: number
  readonly prefill_id: string | null
  readonly prefill_tokens: number | null
}

export interface WhyStutter {
  readonly name: string
  readonly streams: number
  readonly paused_streams: number
  readonly pauses: number
  readonly with_prefill: number
  readonly by_chance: number
  readonly prefill_tokens: number | null
  readonly usual_tokens: number | null
  /** The longest ten. */
  readonly longest: readonly WhyPause[]
  readonly moments: readonly {
    readonly at_ms: number
    readonly streams: number
    readonly longest_ms: number
    readonly prefill: boolean
  }[]
}

/** Why A is slower than B: A minus B, exactly. */
export interface WhyDocument {
  readonly schema: 'plimsoll.why/1'
  readonly plimsoll: string
  readonly kind: 'runs' | 'requests' | 'run'
  readonly a: WhySide
  readonly b: WhySide
  readonly difference: {
    readonly total_ms: number
    readonly ttft_ms: number
    readonly tpot_ms: number
    readonly length_ms: number
  }
  readonly percentiles: readonly WhyPercentile[]
  readonly stutter: readonly WhyStutter[]
  readonly warnings: readonly Warning[]
}
