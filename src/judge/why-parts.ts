import {
  decomposeLatency,
  endToEndMs,
  type LatencyDifference,
  type LatencyParts,
} from '../measure/metrics/decompose-latency.ts'
import type { Rows } from '../measure/record/rows.ts'

/** Mean parts of the end-to-end time of some answers; they multiply and add up to its mean exactly. */
export interface MeanParts extends LatencyParts {
  readonly n: number
  readonly e2eMs: number
  /** The parts of TTFT: the client's own lag, then to the first byte, then to the first token. Null where one is not known. */
  readonly ttftParts: {
    readonly lagMs: number
    readonly firstByteMs: number
    readonly firstTokenMs: number
  } | null
}

/**
 * Means over answers with a TTFT, an E2E and a number of tokens: TTFT and N by request, TPOT as Σ(E2E − TTFT) ÷ Σ(N − 1), so that
 * mean E2E = mean TTFT + TPOT·(mean N − 1) holds to the last bit but rounding. Answers of one token pay only TTFT. Null for none.
 */
export function meanParts(rows: Rows): MeanParts | null {
  let [n, ttft, e2e, gaps, time] = [0, 0, 0, 0, 0]
  let [lag, firstByte] = [0, 0]
  let known = true
  for (const row of rows) {
    if (!row.ok || row.ttft_ms === null || row.e2e_ms === null || row.completion_tokens === null) continue
    n++
    ttft += row.ttft_ms
    e2e += row.e2e_ms
    gaps += Math.max(0, row.completion_tokens - 1)
    time += row.e2e_ms - row.ttft_ms
    known &&= row.ttfb_ms !== null && row.lag_ms !== null
    lag += row.lag_ms ?? 0
    firstByte += row.ttfb_ms ?? 0
  }
  if (n === 0) return null
  return {
    n,
    ttftMs: ttft / n,
    tpotMs: gaps === 0 ? null : time / gaps,
    outputTokens: gaps / n + 1,
    e2eMs: e2e / n,
    ttftParts: known
      ? {
          lagMs: lag / n,
          firstByteMs: (firstByte - lag) / n,
          firstTokenMs: (ttft - firstByte) / n,
        }
      : null,
  }
}

/** The parts of one answer, or of figures given by hand. */
export function partsOf(parts: LatencyParts): MeanParts {
  return { n: 1, ...parts, e2eMs: endToEndMs(parts), ttftParts: null }
}

/** What the slower one owes to each part: first minus second, exact. */
export function whyDifferent(first: MeanParts, second: MeanParts): LatencyDifference {
  return decomposeLatency(first, second)
}
