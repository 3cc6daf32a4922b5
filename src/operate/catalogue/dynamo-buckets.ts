/*
 * Dynamo's histogram bounds: log-spaced, rounded to two significant figures, set by a least, a largest and a count
 * (`DYN_METRICS_TTFT_{MIN,MAX,COUNT}` and its kin; ai-dynamo/dynamo `lib/llm/src/http/service/metrics.rs`).
 */

/** What the three environment variables say. */
export interface LogBuckets {
  /** Not itself a bound: the first one is 0. Above 0. */
  readonly min: number
  readonly max: number
  readonly count: number
}

/** The defaults: seconds. */
export const dynamoDefaults: Readonly<Record<'ttft' | 'gap' | 'e2e', LogBuckets>> = {
  ttft: { min: 0.001, max: 480, count: 18 },
  gap: { min: 0.001, max: 2, count: 13 },
  e2e: { min: 1, max: 512, count: 10 },
}

/** 0, then count − 1 bounds up to the largest, in steps of equal ratio, each rounded to two significant figures; doubles fall out. */
export function logBuckets({ min, max, count }: LogBuckets): readonly number[] {
  if (count < 1) return []
  const [low, high] = [Math.log(min), Math.log(max)]
  const bounds = [0]
  for (let step = 1; step < count; step++) {
    const bound = twoFigures(Math.exp(low + ((high - low) * step) / (count - 1)))
    if (bound !== bounds.at(-1)) bounds.push(bound)
  }
  return bounds
}

/** Bounds per factor of ten, and how far below and above the limit they reach, in factors of ten. */
const perDecade = 5
const decadesBelow = 2
const decadesAbove = 2

/**
 * Settings that put a bound exactly at `limit`, with a hundredth and a hundredfold of it as the ends: the limit is the middle of an even
 * spacing. Null for a limit of more than two significant figures: Dynamo rounds it away.
 */
export function logBucketsAt(limit: number): LogBuckets | null {
  if (!(limit > 0) || !Number.isFinite(limit) || twoFigures(limit) !== limit) return null
  const settings: LogBuckets = {
    min: Number((limit / 10 ** decadesBelow).toPrecision(2)),
    max: Number((limit * 10 ** decadesAbove).toPrecision(2)),
    count: perDecade * (decadesBelow + decadesAbove) + 1,
  }
  return logBuckets(settings).includes(limit) ? settings : null
}

function twoFigures(value: number): number {
  return Number(value.toPrecision(2))
}
