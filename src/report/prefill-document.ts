import type { Warning } from '../base/warnings.ts'

/** One prompt length. Times are medians of the repeats, ms. */
export interface PrefillLength {
  readonly prompt_tokens: number
  readonly n: number
  readonly ttft_ms: number
  readonly fastest_ms: number
  readonly slowest_ms: number
  readonly ttfb_ms: number | null
  readonly cached_tokens: number | null
}

/** A part of the fixed cost; null where it cannot be told apart, with the reason. */
export interface FixedPart {
  readonly name: 'client_lag' | 'first_byte' | 'queue' | 'decode_step' | 'rest'
  readonly ms: number | null
  readonly why: string
}

/** TTFT against prompt length: a prefill rate, and what every request pays besides. */
export interface PrefillDocument {
  readonly schema: 'plimsoll.prefill/1'
  readonly plimsoll: string
  /** The folder of its runs; null for points from elsewhere. */
  readonly folder: string | null
  readonly source: string
  readonly model: string | null
  readonly embedded: boolean
  readonly interrupted: boolean
  readonly lengths: readonly PrefillLength[]
  /** The headline: Theil–Sen on the medians, which a wild point does not bend. */
  readonly rate: {
    readonly tokens_per_s: number | null
    readonly interval: readonly [low: number | null, high: number | null] | null
    readonly fixed_ms: number
    readonly fixed_interval: readonly [low: number, high: number] | null
    readonly why: string | null
  }
  readonly least_squares: {
    readonly tokens_per_s: number | null
    readonly rate_relative_se: number | null
    readonly fixed_ms: number
    readonly fixed_se_ms: number | null
    readonly r2: number | null
  }
  /** With two lengths: what an error of 1 ms in each TTFT does. */
  readonly two_points: {
    readonly rate_relative_per_ms: number | null
    readonly fixed_ms_per_ms: number
  } | null
  /** What dividing the shortest prompt by its TTFT would have said. */
  readonly one_point: {
    readonly prompt_tokens: number
    readonly ttft_ms: number
    readonly tokens_per_s: number
    /** The rate ÷ that. */
    readonly factor: number | null
  } | null
  readonly curve: {
    readonly ms_per_token2: number
    readonly p: number | null
    readonly significant: boolean
    /** Rates at the shortest and the longest length; null where TTFT does not grow there. */
    readonly tokens_per_s_at_shortest: number | null
    readonly tokens_per_s_at_longest: number | null
  } | null
  readonly staircase: {
    readonly chunk: number
    readonly ms_per_chunk: number
    readonly p: number
  } | null
  readonly worst_residual: { readonly share: number; readonly prompt_tokens: number } | null
  readonly fixed_parts: readonly FixedPart[]
  readonly warnings: readonly Warning[]
  /** The words that ask the same server for the same load as `sweep` would; null: no flags can say it. Absent where none was asked. */
  readonly again?: readonly string[] | null
}
