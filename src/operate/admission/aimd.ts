/** Additive increase, multiplicative decrease (Netflix/concurrency-limits `AIMDLimit.java`); the defaults are the library's. */
export interface AimdConfig {
  /** What a drop leaves of the limit. */
  readonly backoffRatio: number
  /** An RTT over this counts as a drop, ms. */
  readonly timeoutMs: number
  readonly minLimit: number
  readonly maxLimit: number
}

export const aimdDefaults: AimdConfig = { backoffRatio: 0.9, timeoutMs: 5000, minLimit: 20, maxLimit: 200 }

/** The limit after one answer: ⌊limit · ratio⌋ after a drop or a time-out, one more while at least half of it is used, else unchanged. */
export function aimd(
  limit: number,
  sample: { readonly rttMs: number; readonly dropped: boolean; readonly inFlight: number },
  config: AimdConfig = aimdDefaults,
): number {
  const isDrop = sample.dropped || sample.rttMs > config.timeoutMs
  const next = isDrop
    ? Math.trunc(limit * config.backoffRatio)
    : sample.inFlight * 2 >= limit
      ? limit + 1
      : limit
  return Math.max(config.minLimit, Math.min(config.maxLimit, next))
}
