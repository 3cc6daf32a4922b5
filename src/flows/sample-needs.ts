import { percentileShare } from '../stats/percentile.ts'
import { samplesNeeded } from '../stats/percentile-interval.ts'
import { compare, rational, type RationalInput } from '../stats/rational.ts'
import type { JudgedObjective } from './judged-objectives.ts'

/** How many independent samples an objective's highest percentile needs. */
export interface SampleNeeds {
  /** The percentile, "99"; for a share of good requests that share. */
  readonly percentile: string
  /** From here on a one-sided upper end exists: pⁿ ≤ 1 − confidence (statistics reference §2.3; 299 for the P99 at 95 %). */
  readonly upperEnd: number
  /** From here on ten values lie beyond it and an interval is shown. */
  readonly interval: number
}

/** The needs of the most demanding objective; of the P90 where there is none. */
export function sampleNeeds(
  objectives: readonly JudgedObjective[],
  confidence: RationalInput = '0.95',
): SampleNeeds {
  const levels = objectives.flatMap(({ objective }) => [
    ...objective.run.map(({ percentile }) => percentile),
    ...(objective.good === null ? [] : [objective.good.replace('%', '').trim()]),
  ])
  const possible = levels.filter((level) => compare(percentileShare(level), rational(1n)) < 0)
  const highest = possible.reduce(
    (most, level) => (compare(percentileShare(level), percentileShare(most)) > 0 ? level : most),
    possible[0] ?? '90',
  )
  const { oneSidedUpper, tenBeyond } = samplesNeeded(highest, confidence)
  return { percentile: highest, upperEnd: oneSidedUpper, interval: tenBeyond }
}
