import {
  coefficientInterval,
  ols,
  parabola,
  theilSen,
  type Line,
  type Parabola,
} from '../../stats/regression.ts'

/** Prompt length and the time to the first token. */
export interface PrefillPoint {
  readonly promptTokens: number
  readonly ttftMs: number
}

/** A prefill rate with what every request pays besides. */
export interface PrefillRate {
  /** Null where TTFT does not grow with the prompt. */
  readonly tokensPerSecond: number | null
  readonly fixedMs: number
}

/** Slope and intercept through two points: rate = ΔL ÷ ΔTTFT, fixed = TTFT₁ − L₁ ÷ rate. Null for equal lengths. */
export function twoPointPrefill(first: PrefillPoint, second: PrefillPoint): PrefillRate | null {
  const tokens = second.promptTokens - first.promptTokens
  if (tokens === 0) return null
  const slope = (second.ttftMs - first.ttftMs) / tokens
  return rateOf(slope, first.ttftMs - slope * first.promptTokens)
}

/** Errors of the two-point answer when each TTFT has standard error `seMs`. */
export interface TwoPointError {
  readonly slopeSeMsPerToken: number
  /** Relative to the rate; null where TTFT does not grow. */
  readonly rateRelativeSe: number | null
  readonly fixedSeMs: number
}

/** Propagation: slope s√2 ÷ ΔL; rate s√2 ÷ ΔTTFT; fixed s·√((1 + L₁/ΔL)² + (L₁/ΔL)²). */
export function twoPointError(first: PrefillPoint, second: PrefillPoint, seMs: number): TwoPointError | null {
  const tokens = second.promptTokens - first.promptTokens
  if (tokens === 0) return null
  const rise = second.ttftMs - first.ttftMs
  const lever = first.promptTokens / tokens
  return {
    slopeSeMsPerToken: (seMs * Math.SQRT2) / Math.abs(tokens),
    rateRelativeSe: rise > 0 ? (seMs * Math.SQRT2) / rise : null,
    fixedSeMs: seMs * Math.hypot(1 + lever, lever),
  }
}

/** Milliseconds that a prompt takes at a prefill rate. */
export function prefillMs(promptTokens: number, tokensPerSecond: number): number {
  return (1000 * promptTokens) / tokensPerSecond
}

/** A line through a sweep of prompt lengths, three ways. */
export interface PrefillFit {
  /** Theil–Sen: the headline, a wild point does not bend it. */
  readonly robust: PrefillRate
  readonly leastSquares: PrefillRate & {
    readonly line: Line
    /** 95 % t interval of the fixed cost; null with two points. */
    readonly fixedIntervalMs: readonly [low: number, high: number] | null
    /** Relative standard error of the rate; null with two points. */
    readonly rateRelativeSe: number | null
  }
  /** TTFT = a + bL + cL²; null below three lengths. Attention makes c > 0 and biases the fixed cost low. */
  readonly curve: Parabola | null
}

/** Fits a prefill line; null for fewer than two different lengths. */
export function fitPrefill(points: readonly PrefillPoint[]): PrefillFit | null {
  const lengths = points.map((point) => point.promptTokens)
  const times = points.map((point) => point.ttftMs)
  const line = ols(lengths, times)
  const robust = theilSen(lengths, times)
  if (line === null || robust === null) return null
  return {
    robust: rateOf(robust.slope, robust.intercept),
    leastSquares: {
      ...rateOf(line.slope, line.intercept),
      line,
      fixedIntervalMs: coefficientInterval(line.intercept, line.interceptSe, line.n),
      rateRelativeSe: line.slopeSe === null || line.slope <= 0 ? null : line.slopeSe / line.slope,
    },
    curve: parabola(lengths, times),
  }
}

/** Prefill rate at one length of a curved TTFT: 1000 ÷ (b + 2cL) tokens a second; null where it does not grow. */
export function marginalPrefillRate(
  curve: Pick<Parabola, 'linear' | 'quadratic'>,
  promptTokens: number,
): number | null {
  const slope = curve.linear + 2 * curve.quadratic * promptTokens
  return slope > 0 ? 1000 / slope : null
}

function rateOf(slopeMsPerToken: number, fixedMs: number): PrefillRate {
  return { tokensPerSecond: slopeMsPerToken > 0 ? 1000 / slopeMsPerToken : null, fixedMs }
}
