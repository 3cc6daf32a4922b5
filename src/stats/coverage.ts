/** How often nominal 95 % within-run intervals were measured to hold, 0..1. */
export interface MeasuredCoverage {
  /** Of all of them. */
  readonly share: number
  /** Of the regime (system, load, length of run, percentile) that they held least in, among those whose runs typically have so many. */
  readonly worst: number
}

/** From so many independent tail events on, up to the next entry. */
export interface CoverageStep extends MeasuredCoverage {
  readonly fromTailEvents: number
}

/**
 * Coverage of `effectiveInterval` by independent tail events, over M/M/1 queues and the demo engine at 50, 80 and 90 % load and with 8,
 * 32 and 64 users, 500 to 10,000 requests: measured by `bench/calibration.mjs`, which writes docs/calibration.md and this table.
 */
export const measuredCoverage: readonly CoverageStep[] = [
  { fromTailEvents: 10, share: 0.96, worst: 0.81 },
  { fromTailEvents: 15, share: 0.97, worst: 0.87 },
  { fromTailEvents: 20, share: 0.96, worst: 0.89 },
  { fromTailEvents: 30, share: 0.96, worst: 0.86 },
  { fromTailEvents: 50, share: 0.96, worst: 0.91 },
  { fromTailEvents: 100, share: 0.96, worst: 0.85 },
]

/** An interval that was measured to hold less often than this is not shown. */
export const leastCoverage = 0.8

/** What was measured for a run with so many independent tail events; null where nothing was. */
export function coverageAt(tailEvents: number): MeasuredCoverage | null {
  const step = measuredCoverage.findLast(({ fromTailEvents }) => tailEvents >= fromTailEvents)
  return step === undefined ? null : { share: step.share, worst: step.worst }
}
