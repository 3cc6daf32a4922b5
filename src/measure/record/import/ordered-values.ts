import { mean, meanOf, standardDeviation, standardDeviationOf } from '../../../stats/describe.ts'
import { percentile, sortAscending, type PercentileType } from '../../../stats/percentile.ts'
import { createOrderIndex } from '../../metrics/order-index.ts'
import { percentileAt } from '../../metrics/percentile-levels.ts'
import { pool, type Many } from '../../metrics/pooled-values.ts'

/** The figures of some values in their order, few or many. */
export interface OrderedValues {
  readonly length: number
  readonly mean: number | null
  readonly standardDeviation: number | null
  /** `level` in percent; at 0 it is the least. */
  percentile(level: string, type: PercentileType): number | null
}

/** Values that are held and sorted, 32 MB. Of more the ranks that are asked for are looked up, in memory that does not grow with them. */
const sortedValues = 1 << 22

/** The values of each of these, which may have one, several or none. */
export function orderedValues<Of>(
  all: Many<Of>,
  valuesOf: (one: Of) => number | null | ArrayLike<number>,
  limit: number = sortedValues,
): OrderedValues {
  const pooled = pool(
    all,
    (one) => {
      const found = valuesOf(one)
      return typeof found === 'number' ? [found] : found
    },
    limit,
  )
  if (pooled.length <= limit) {
    let sorted: Float64Array = new Float64Array(0)
    pooled.each((values) => (sorted = sortAscending(values)))
    return {
      length: sorted.length,
      mean: mean(sorted),
      standardDeviation: standardDeviation(sorted),
      percentile: (level, type) =>
        Number(level) === 0 ? (sorted[0] ?? null) : percentile(sorted, level, type),
    }
  }
  const index = createOrderIndex(pooled)
  return {
    length: pooled.length,
    mean: meanOf(pooled),
    standardDeviation: standardDeviationOf(pooled),
    percentile: (level, type) =>
      Number(level) === 0
        ? (index.at([1])[0] ?? null)
        : percentileAt(pooled.length, level, type, (ranks) => index.at(ranks)),
  }
}
