import { ceil, toRational, type RationalInput } from '../stats/rational.ts'

/** Seconds that a `Retry-After` may say: OpenAI's clients ignore more than 60 and come back at once. */
export const shortestRetryAfterSeconds = 1
export const longestRetryAfterSeconds = 60

/** Seconds to tell a refused client: ⌈waiting ÷ rate⌉, held within 1 to 60. */
export function retryAfterSeconds(waiting: number, requestsPerSecond: RationalInput): number {
  const rate = toRational(requestsPerSecond)
  if (rate.num <= 0n) return longestRetryAfterSeconds
  return clamped(Number(ceil({ num: BigInt(waiting) * rate.den, den: rate.num })))
}

/**
 * The same with jitter, so that those who were refused together do not come back together: up to `jitter` (a share) longer, whole
 * seconds, never over 60: near the cap the jitter shortens instead. `draw` within 0 and 1 is the chance.
 */
export function jitteredRetryAfter(seconds: number, jitter: number, draw: number): number {
  const { from, to } = retryAfterRange(seconds, jitter)
  return Math.min(to, from + Math.floor(draw * (to - from + 1)))
}

/** The least and the most that `jitteredRetryAfter` says. A spread of at least a second: a whole number cannot spread by less. */
export function retryAfterRange(
  seconds: number,
  jitter: number,
): { readonly from: number; readonly to: number } {
  const from = clamped(seconds)
  const spread = jitter > 0 ? Math.max(1, Math.ceil(from * jitter)) : 0
  const to = Math.min(longestRetryAfterSeconds, from + spread)
  return { from: Math.max(shortestRetryAfterSeconds, to - spread), to }
}

function clamped(seconds: number): number {
  return Math.min(longestRetryAfterSeconds, Math.max(shortestRetryAfterSeconds, seconds))
}
