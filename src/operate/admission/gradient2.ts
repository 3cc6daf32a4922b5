/*
 * The Gradient2 limit of Netflix/concurrency-limits (`Gradient2Limit.java`), in its own doubles. To predict what a proxy does that uses
 * it, not to recommend it: the time of a generation depends on how long the answer is, so its gradient follows the mix of traffic.
 */

/** Its settings; the defaults are the library's. */
export interface Gradient2Config {
  /** How much longer the short RTT may be than the long one before the limit shrinks. */
  readonly tolerance: number
  /** Requests of queue that are allowed on top. */
  readonly queueSize: number
  /** Weight of the new limit against the old. */
  readonly smoothing: number
  readonly minLimit: number
  readonly maxLimit: number
}

export const gradient2Defaults: Gradient2Config = {
  tolerance: 1.5,
  queueSize: 4,
  smoothing: 0.2,
  minLimit: 20,
  maxLimit: 200,
}

/** What one window observed. RTTs in any one unit. */
export interface Gradient2Sample {
  /** Exponential mean over hundreds of windows. */
  readonly longRtt: number
  /** Of the last window. */
  readonly shortRtt: number
  readonly inFlight: number
}

/**
 * The limit after a window: limit · g + queue, smoothed, with g = tolerance · long ÷ short held within 0.5 to 1. Unchanged while fewer
 * than half the limit are in flight: too little load to learn from. In and out as a double; the gate lets ⌊limit⌋ in.
 */
export function gradient2(
  limit: number,
  { longRtt, shortRtt, inFlight }: Gradient2Sample,
  config: Gradient2Config = gradient2Defaults,
): number {
  if (inFlight < limit / 2) return limit
  const gradient = Math.max(0.5, Math.min(1, (config.tolerance * longRtt) / shortRtt))
  const next = limit * gradient + config.queueSize
  const smoothed = limit * (1 - config.smoothing) + next * config.smoothing
  return Math.max(config.minLimit, Math.min(config.maxLimit, smoothed))
}
