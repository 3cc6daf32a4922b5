import type { LengthConfig } from './run-config.ts'

/** What a run does unless told otherwise. */
export const defaults = {
  api: 'chat',
  keyEnv: 'OPENAI_API_KEY',
  /** A gentle load that few servers cannot carry. */
  ratePerSecond: 5,
  /** With 5/s this makes 300 requests: the fewest from which a P99 can be shown to be within a limit is 299 (Wilks 1941). */
  durationMs: 60_000,
  /** Requests of a burst that says no number. */
  count: 300,
  warmupMs: 0,
  drainMs: 60_000,
  prompt: { kind: 'fixed', tokens: 512 } as LengthConfig,
  output: { kind: 'fixed', tokens: 128 } as LengthConfig,
  percentiles: ['50', '90', '95', '99', '99.9'],
  seed: '1',
  connectTimeoutMs: 10_000,
  firstTokenTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  totalTimeoutMs: null as number | null,
  runsDir: 'runs',
} as const

/** What a sweep does unless told otherwise: short answers and a P90, so that it is decided within two minutes and still honest. */
export const sweepDefaults = {
  lengths: {
    prompt: { kind: 'fixed', tokens: 256 } as LengthConfig,
    output: { kind: 'fixed', tokens: 32 } as LengthConfig,
  },
  objective: 'p90 tpot <= 10ms',
  maxPoints: 12,
} as const

/** What a search for a rate does unless told otherwise. */
export const findDefaults = {
  /**
   * Of the embedded engine: answers so short that a second holds many of them after another, for requests that run together are no
   * independent samples.
   */
  lengths: {
    prompt: { kind: 'fixed', tokens: 128 } as LengthConfig,
    output: { kind: 'fixed', tokens: 8 } as LengthConfig,
  },
  /** The failing rate at most so much above the holding one. */
  resolution: 0.05,
  /** How often either end of the answer may be wrong. */
  error: '5%',
  /** The most looks at a point. */
  looks: 5,
} as const
