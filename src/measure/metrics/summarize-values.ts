import type { MeasuredCoverage } from '../../stats/coverage.ts'
import { mean } from '../../stats/describe.ts'
import { effectiveInterval } from '../../stats/effective-interval.ts'
import { percentile, percentileKey, sortAscending } from '../../stats/percentile.ts'
import { levelsOf, namedPercentiles, percentileAt, type PercentileOptions } from './percentile-levels.ts'
import type { Interval, IntervalCoverage, MetricSummary } from './run-summary.ts'

/**
 * One value a request, in order of intended send. `failures` is how many attempts of the same window have no value because they
 * did not succeed; null where a failure is no infinite wait (token counts, lag).
 */
export interface RequestValues {
  readonly values: Float64Array
  readonly failures: number | null
  /** Independent swings of the load (`runSwings`); undefined for a figure that does not depend on it. */
  readonly swings?: number | null | undefined
}

/**
 * The summary of a figure with one value a request. Percentiles by exact rank over all values; each with the 95 % interval that
 * its effective sample size allows (`effectiveInterval`), or the reason why it has none. Percentiles are given however few
 * values there are: `why` then says that the interval is missing and how little stands behind the estimate.
 */
export function summarizeValues(input: RequestValues, options: PercentileOptions): MetricSummary {
  const { values, failures, swings } = input
  const n = values.length
  const sorted = sortAscending(values)
  const levels = levelsOf(options)
  const found = new Map<string, number | null>()
  const ci: Record<string, Interval> = {}
  const coverage: Record<string, IntervalCoverage> = {}
  const upper: Record<string, number | null> = {}
  const why: Record<string, string> = {}
  let nEff: number | null = null
  for (const level of levels) {
    const key = percentileKey(level)
    found.set(level, percentile(sorted, level, options.percentileType))
    const interval = effectiveInterval(values, level, '0.95', sorted, swings)
    if (interval.low !== null || interval.high !== null) {
      ci[key] = [interval.low, interval.high]
      if (interval.measuredCoverage !== null) coverage[key] = intervalCoverage(interval.measuredCoverage)
    }
    upper[key] = interval.upper
    if (interval.why !== null) why[key] = interval.why
    if (interval.nEff !== null) nEff = interval.nEff
  }
  return {
    n,
    n_eff: nEff,
    mean: mean(values),
    min: sorted[0] ?? null,
    ...namedPercentiles(found),
    max: sorted[n - 1] ?? null,
    ci,
    ci_coverage: coverage,
    upper,
    why,
    all_attempts: failures === null ? null : overAllAttempts(sorted, failures, levels, options),
  }
}

/** What was measured of nominal 95 % intervals, as it stands in a summary. */
export function intervalCoverage({ share, worst }: MeasuredCoverage): IntervalCoverage {
  return { nominal: 0.95, measured: share, worst }
}

/** The same percentiles with every failed attempt as an infinite wait; null: the percentile is one. */
function overAllAttempts(
  sorted: Float64Array,
  failures: number,
  levels: readonly string[],
  options: PercentileOptions,
): Record<string, number | null> {
  const attempts = sorted.length + failures
  const at = (ranks: readonly number[]): number[] =>
    ranks.map((rank) => sorted[rank - 1] ?? Number.POSITIVE_INFINITY)
  const result: Record<string, number | null> = {}
  for (const level of levels) {
    const value = percentileAt(attempts, level, options.percentileType, at)
    result[percentileKey(level)] = value === null || !Number.isFinite(value) ? null : value
  }
  return result
}
