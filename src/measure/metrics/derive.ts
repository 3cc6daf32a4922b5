/**
 * Gap ÷ tokens of the later event, once per token; null where the tokens of each event are not known. `eventTokens` has one
 * entry more than `gapsMs`. An event without tokens of its own adds its gap to nobody.
 */
export function itlPerTokenMs(
  gapsMs: readonly number[],
  eventTokens: readonly number[] | null,
): readonly number[] | null {
  if (eventTokens === null || eventTokens.length !== gapsMs.length + 1) return null
  const perToken: number[] = []
  for (let gap = 0; gap < gapsMs.length; gap++) {
    const tokens = eventTokens[gap + 1] ?? 0
    for (let token = 0; token < tokens; token++) perToken.push((gapsMs[gap] ?? 0) / tokens)
  }
  return perToken
}

/** From the actual send, ms: what a client that does not know its schedule would have measured. */
export function fromActualSend(latencyMs: number | null, lagMs: number | null): number | null {
  return latencyMs === null || lagMs === null ? null : latencyMs - lagMs
}
