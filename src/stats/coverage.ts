/** How often a nominal 95 % within-run interval was measured to hold. */
export interface MeasuredCoverage {
  /** Independent tail events from which on it holds so. */
  readonly fromTailEvents: number
  readonly share: number
}

/**
 * Coverage of `effectiveInterval` by independent tail events, over M/M/1 queues and the demo engine at 50, 80 and 90 % load, 500 to
 * 10,000 requests: measured by `bench/calibration.mjs`, which writes docs/calibration.md (a test holds the two together).
 */
export const measuredCoverage: readonly MeasuredCoverage[] = [
  { fromTailEvents: 3, share: 0.76 },
  { fromTailEvents: 5, share: 0.83 },
  { fromTailEvents: 10, share: 0.89 },
  { fromTailEvents: 15, share: 0.85 },
  { fromTailEvents: 20, share: 0.83 },
  { fromTailEvents: 30, share: 0.9 },
  { fromTailEvents: 50, share: 0.92 },
  { fromTailEvents: 100, share: 0.91 },
]

/** An interval that was measured to hold less often than this is not shown. */
export const leastCoverage = 0.8

/** What was measured for a run with so many independent tail events; null where nothing was. */
export function coverageAt(tailEvents: number): number | null {
  return measuredCoverage.findLast(({ fromTailEvents }) => tailEvents >= fromTailEvents)?.share ?? null
}
