/** When something happens: once, or again and again, first one period after `fromMs`. `random`: periods are exponential with that mean. */
export type Recurrence =
  | { readonly kind: 'once'; readonly atMs: number }
  | {
      readonly kind: 'every'
      readonly everyMs: number
      readonly random: boolean
      readonly fromMs: number
      readonly untilMs: number | null
    }

/** Which requests are hit: each with `probability`, those that arrive from `fromMs` until before `untilMs`. */
export interface RequestScope {
  readonly probability: number
  readonly fromMs: number
  readonly untilMs: number | null
}

/**
 * Something that goes wrong with a server, on purpose. The same value drives the live server and the simulation. Times count
 * from the engine's start; `text` is what the user wrote.
 */
export type Fault = { readonly text: string } & (
  | { readonly kind: 'stall'; readonly durationMs: number; readonly recurs: Recurrence }
  | {
      readonly kind: 'slow'
      /** Steps take this many times as long. */
      readonly factor: number
      /** For so many steps, or for a time; both null: for good. */
      readonly steps: number | null
      readonly durationMs: number | null
      readonly recurs: Recurrence
    }
  | {
      readonly kind: 'kv'
      /** Share of the usable blocks that is lost, or blocks; the other is 0. */
      readonly lostShare: number
      readonly lostBlocks: number
      readonly atMs: number
      readonly untilMs: number | null
    }
  /** Metrics keep the values of `fromMs`, or cannot be had. */
  | {
      readonly kind: 'freeze_metrics' | 'drop_metrics'
      readonly fromMs: number
      readonly untilMs: number | null
    }
  /** The body ends early, the connection is reset, or an error object comes instead of the next token, after so many tokens. */
  | {
      readonly kind: 'cut' | 'reset' | 'error_object'
      readonly afterTokens: number
      readonly scope: RequestScope
    }
  | {
      readonly kind: 'reject'
      readonly status: number
      /** Only while more than this many requests wait; null is always. */
      readonly waitingOver: number | null
      readonly retryAfterMs: number | null
      readonly scope: RequestScope
    }
  /** The body is held back until so many bytes are there, as a buffering proxy does. */
  | { readonly kind: 'buffer'; readonly bytes: number; readonly scope: RequestScope }
  | { readonly kind: 'no_usage'; readonly scope: RequestScope }
)
