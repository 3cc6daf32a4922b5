import { formatPercent } from '../base/units.ts'
import type { IntervalCoverage, MetricSummary } from '../measure/metrics/run-summary.ts'

/**
 * What the shown within-run intervals are worth: "nominal 95 %, measured 93 % (82 % in the worst regime)", a range where their samples
 * differ. Null where none is shown, or where the summaries were written before it was kept.
 */
export function coverageNote(
  summaries: readonly (MetricSummary | undefined)[],
  keys: readonly string[],
): string | null {
  const known = summaries.flatMap((summary) =>
    keys.flatMap((key): readonly IntervalCoverage[] => {
      const coverage = summary?.ci[key] === undefined ? undefined : summary.ci_coverage?.[key]
      return coverage === undefined ? [] : [coverage]
    }),
  )
  return known.length === 0 ? null : `intervals of one run: ${coverageWords(known)}; docs/calibration.md`
}

/** The same of intervals that are at hand. */
export function coverageWords(known: readonly IntervalCoverage[]): string {
  const measured = known.map((one) => one.measured)
  const [least, most] = [Math.min(...measured), Math.max(...measured)]
  const whole = (share: number): string => formatPercent(share, 0)
  const share = whole(least) === whole(most) ? whole(least) : `${whole(least)} to ${whole(most)}`
  const worst = Math.min(...known.map((one) => one.worst))
  return `nominal ${whole(known[0]!.nominal)}, measured ${share} where as many independent tail events stand behind them (${whole(worst)} in the worst regime)`
}
