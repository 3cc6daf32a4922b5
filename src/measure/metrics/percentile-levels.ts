import { percentile, percentileKey, type PercentileType } from '../../stats/percentile.ts'
import type { MetricSummary } from './run-summary.ts'

/** The percentiles that every summary has. */
export const headlinePercentiles: readonly string[] = ['50', '90', '95', '99', '99.9']

/** Which percentiles to give, and by which definition. */
export interface PercentileOptions {
  /** Further levels in percent, as text: "99.5". */
  readonly percentiles: readonly string[]
  /** 1 (nearest rank) unless another tool's figures are to be compared. */
  readonly percentileType: PercentileType
}

/** Headline and further levels, ascending, each once, without `p` and `%`. */
export function levelsOf(options: PercentileOptions): readonly string[] {
  const asked = options.percentiles.map((level) => level.trim().replace(/^p/i, '').replace(/%$/, ''))
  const seen = new Map<string, string>()
  for (const level of [...headlinePercentiles, ...asked]) seen.set(percentileKey(level), level)
  return [...seen.values()].sort((a, b) => Number(a) - Number(b))
}

/** A percentile of values whose order statistics are to be had by rank, whatever its definition. */
export function percentileAt(
  n: number,
  level: string,
  type: PercentileType,
  at: (ranks: readonly number[]) => readonly number[],
): number | null {
  const ranks = new Set<number>()
  percentile(
    sparse(n, (index) => void ranks.add(index + 1)),
    level,
    type,
  )
  const asked = [...ranks]
  const found = at(asked)
  return percentile(
    sparse(n, (index) => found[asked.indexOf(index + 1)] ?? 0),
    level,
    type,
  )
}

/** An array of `n` elements that are made when they are asked for. */
function sparse(n: number, element: (index: number) => number | void): ArrayLike<number> {
  return new Proxy([] as unknown as ArrayLike<number>, {
    get: (_, key) => (key === 'length' ? n : (element(Number(key)) ?? 0)),
  })
}

/** Puts the figures of each level where a summary has them: five by name, the rest under `more`. */
export function namedPercentiles(
  values: ReadonlyMap<string, number | null>,
): Pick<MetricSummary, 'p50' | 'p90' | 'p95' | 'p99' | 'p99_9' | 'more'> {
  const headline = new Set(headlinePercentiles)
  const more: Record<string, number | null> = {}
  for (const [level, value] of values) if (!headline.has(level)) more[percentileKey(level)] = value
  const of = (level: string): number | null => values.get(level) ?? null
  return { p50: of('50'), p90: of('90'), p95: of('95'), p99: of('99'), p99_9: of('99.9'), more }
}
