import type { RequestRow } from '../record/request-row.ts'

/**
 * TPOT = (E2E − TTFT) ÷ (N − 1), ms: the mean time between output tokens of one request (DESIGN §3). Null for one token or
 * none, for an unknown N, and where either time is unknown.
 *
 * @example
 * ```ts
 * tpotMs(300, 2300, 401) // 5
 * tpotMs(300, 300, 1) // null
 * ```
 */
export function tpotMs(
  ttftMs: number | null,
  e2eMs: number | null,
  completionTokens: number | null,
): number | null {
  if (ttftMs === null || e2eMs === null || completionTokens === null || completionTokens <= 1) return null
  return (e2eMs - ttftMs) / (completionTokens - 1)
}

/** (E2E − TTFT) ÷ (N − k), where the first event is known to have carried k > 1 tokens; else null. */
export function tpotAfterFirstEventMs(
  ttftMs: number | null,
  e2eMs: number | null,
  completionTokens: number | null,
  firstEventTokens: number | null,
): number | null {
  if (ttftMs === null || e2eMs === null || completionTokens === null || firstEventTokens === null) return null
  if (firstEventTokens <= 1 || completionTokens <= firstEventTokens) return null
  return (e2eMs - ttftMs) / (completionTokens - firstEventTokens)
}

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

/** Output events of a stream: one more than its gaps. */
export function outputEvents(row: RequestRow): number {
  return row.ttft_ms === null ? 0 : row.gaps_ms.length + 1
}

/** From the actual send, ms: what a client that does not know its schedule would have measured. */
export function fromActualSend(latencyMs: number | null, lagMs: number | null): number | null {
  return latencyMs === null || lagMs === null ? null : latencyMs - lagMs
}
