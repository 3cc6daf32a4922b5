import { describeLimit, type Limit } from '../../measure/metrics/objective.ts'
import { toDecimalText, type Rational } from '../../stats/rational.ts'
import type { Sli } from './sli.ts'

/** Why no promtool test is made for a share of a native histogram. */
export const nativeUntested =
  'promtool 2.42 has no notation for native histograms: this share has no tests here'

/**
 * A limit on a native histogram: the share under it times the observations, so that both sides are events. The share of nothing is NaN
 * in Prometheus, which a comparison drops: then nothing was under it, and nothing was observed either. A limit need not be a bound; inside
 * a bucket the share is interpolated, which is as exact as the bucket is narrow.
 */
export function nativeLatencySli(
  id: string,
  limit: Limit,
  seconds: Rational,
  selector: string,
  notes: readonly string[],
): Sli {
  const all = (window: string): string => `sum(increase(${selector}[${window}]))`
  const count = (window: string): string => `histogram_count(${all(window)})`
  const under = (window: string): string =>
    `(histogram_fraction(-Inf, ${toDecimalText(seconds, 12)}, ${all(window)}) * ${count(window)} >= 0 or 0 * ${count(window)})`
  return {
    id,
    part: limit.metric,
    what: describeLimit(limit),
    total: count,
    bad: (window) => `clamp_min(${count(window)} - ${under(window)}, 0)`,
    between: null,
    series: { good: [], bad: [] },
    lazyBad: false,
    notes: [
      ...notes,
      'a native histogram (Prometheus with --enable-feature=native-histograms, scraped as protobuf): between the bounds of a bucket the share is interpolated. At schema 3 they lie 9 % apart (a factor of 2^(1/8)), so what is within 9 % of a limit may count on either side; a converted classic histogram keeps its own, wider bounds',
      nativeUntested,
    ],
  }
}
