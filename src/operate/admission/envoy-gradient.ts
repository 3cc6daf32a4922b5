/** Envoy's adaptive concurrency (`gradient_controller.cc`); the defaults are those of its API. */
export interface EnvoyGradientConfig {
  /** Share that is put on top of the least RTT. */
  readonly buffer: number
  readonly minLimit: number
  readonly maxLimit: number
}

export const envoyGradientDefaults: EnvoyGradientConfig = { buffer: 0.25, minLimit: 3, maxLimit: 1000 }

/**
 * The limit after a window, a whole number: g · limit + √(g · limit), with g = (minRTT + minRTT · buffer) ÷ sampleRTT held within 0.5
 * to 2. RTTs in any one unit. The least RTT is measured by letting `minLimit` requests in alone, with 503 for the others.
 */
export function envoyGradient(
  limit: number,
  { minRtt, sampleRtt }: { readonly minRtt: number; readonly sampleRtt: number },
  config: EnvoyGradientConfig = envoyGradientDefaults,
): number {
  const gradient = Math.max(0.5, Math.min(2, (minRtt + minRtt * config.buffer) / sampleRtt))
  const scaled = limit * gradient
  const next = Math.trunc(scaled + Math.sqrt(scaled))
  return Math.max(config.minLimit, Math.min(config.maxLimit, next))
}
