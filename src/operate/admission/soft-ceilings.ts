/** How full the pool may be for each priority band, first the highest; and every how many windows a band over its ceiling is probed. */
export interface SoftCeilings {
  readonly ceilings: readonly number[]
  /** Null at a saturation of 1: the lowest band is not let in at all. */
  readonly period: number | null
}

/**
 * Soft reflective ceilings (llm-d-router's flow control): from 1 for the first band down to 1 − saturation for the last, in equal steps;
 * the period is saturation ÷ (1 − saturation), rounded half up. `saturation` within 0 to 1.
 */
export function softCeilings(bands: number, saturation: number): SoftCeilings {
  const ceilings = Array.from({ length: bands }, (_, band) =>
    bands === 1 ? 1 : 1 - (saturation * band) / (bands - 1),
  )
  if (saturation >= 1) return { ceilings, period: null }
  // 0.6 ÷ 0.4 is 1.4999999999999998 in doubles; the half is meant.
  return { ceilings, period: Math.round(Number((saturation / (1 - saturation)).toPrecision(12))) }
}
