/** The parts of one request's latency, or the means of many. */
export interface LatencyParts {
  readonly ttftMs: number
  /** Null where there was one token at most. */
  readonly tpotMs: number | null
  readonly outputTokens: number
}

/** E2E = TTFT + TPOT·(N − 1). */
export function endToEndMs({ ttftMs, tpotMs, outputTokens }: LatencyParts): number {
  return ttftMs + (tpotMs ?? 0) * gaps(outputTokens)
}

/** TPOT = (E2E − TTFT) ÷ (N − 1); null for N ≤ 1: a single token has no pace. */
export function tpotMs(endToEnd: number, ttft: number, outputTokens: number): number | null {
  return outputTokens > 1 ? (endToEnd - ttft) / (outputTokens - 1) : null
}

/** (E2E − TTFT) ÷ (N − k) where the first event carried k tokens; null when nothing came after it. */
export function tpotAfterFirstEventMs(
  endToEnd: number,
  ttft: number,
  outputTokens: number,
  firstEventTokens: number,
): number | null {
  return outputTokens > firstEventTokens ? (endToEnd - ttft) / (outputTokens - firstEventTokens) : null
}

/** Half a step of an E2E that was printed rounded, as it comes out in TPOT; null for N ≤ 1. */
export function tpotResolutionMs(endToEndHalfStep: number, outputTokens: number): number | null {
  return outputTokens > 1 ? endToEndHalfStep / (outputTokens - 1) : null
}

/** A difference in E2E, first minus second, by cause. The parts add up to the total. */
export interface LatencyDifference {
  readonly ttftMs: number
  readonly tpotMs: number
  readonly lengthMs: number
  readonly totalMs: number
}

/**
 * Symmetric decomposition with g = N − 1: ΔE2E = ΔTTFT + ΔTPOT·mean(g) + mean(TPOT)·Δg. Exact, and independent of the
 * order in which the causes are taken. A side without a pace takes the other's: then all is length.
 */
export function decomposeLatency(first: LatencyParts, second: LatencyParts): LatencyDifference {
  const firstPace = first.tpotMs ?? second.tpotMs ?? 0
  const secondPace = second.tpotMs ?? first.tpotMs ?? 0
  const firstGaps = gaps(first.outputTokens)
  const secondGaps = gaps(second.outputTokens)
  return {
    ttftMs: first.ttftMs - second.ttftMs,
    tpotMs: ((firstPace - secondPace) * (firstGaps + secondGaps)) / 2,
    lengthMs: ((firstPace + secondPace) * (firstGaps - secondGaps)) / 2,
    totalMs: endToEndMs(first) - endToEndMs(second),
  }
}

/** How one stream paused. */
export interface StreamPauses {
  readonly meanMs: number
  readonly maxMs: number
  /** Share of the stream's time in its longest gap. */
  readonly worstShare: number
  /** The gap in which the stream's 95th percentile of time falls. */
  readonly timeWeightedP95Ms: number
}

/** Pauses of a stream; null without gaps or without time. */
export function streamPauses(gapsMs: ArrayLike<number>): StreamPauses | null {
  const sorted = Float64Array.from(gapsMs).sort()
  const total = sorted.reduce((sum, gap) => sum + gap, 0)
  if (sorted.length === 0 || total <= 0) return null
  let passed = 0
  const weighted = sorted.find((gap) => {
    passed += gap
    return passed >= 0.95 * total
  })
  const maxMs = sorted.at(-1) as number
  return {
    meanMs: total / sorted.length,
    maxMs,
    worstShare: maxMs / total,
    timeWeightedP95Ms: weighted ?? maxMs,
  }
}

function gaps(outputTokens: number): number {
  return Math.max(0, outputTokens - 1)
}
