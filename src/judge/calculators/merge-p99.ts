import { formatPlain } from '../../base/units.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { none, plain, shareText, timeText, type Figure } from '../../stats/calculators/figures.ts'
import { assumed, optional, repeated, several, type Reading } from '../../stats/calculators/inputs.ts'
import { level, measured, share, type Measured } from '../../stats/calculators/quantities.ts'
import { mean } from '../../stats/describe.ts'
import {
  exponentialDistribution,
  lognormalDistribution,
  lognormalSigma,
} from '../../stats/latency-distributions.ts'
import { fleetPercentileBounds, mixtureQuantile, type Distribution } from '../../stats/mixture.ts'
import { percentileShare } from '../../stats/percentile.ts'
import { add, compare, rational, toNumber, type Rational } from '../../stats/rational.ts'
import { averagedPercentiles } from '../traps.ts'

type Knot = readonly [level: Rational, value: Measured]

/** Quantiles of one replica: `p50=150ms,p90=300ms`, or `0.5:0.15,0.9:0.3` with shares for levels. */
const knots: Reading<readonly Knot[]> = {
  placeholder: "'p50=T p99=T'",
  read(text, what) {
    return text
      .trim()
      .split(/[\s,]+/)
      .map((part): Knot => {
        const match = /^(p)?([\d.]+)%?\s*[=:]\s*(.+)$/i.exec(part)
        if (match === null) {
          throw impossible(
            `${what} cannot be read`,
            "quantiles such as 'p50=150ms p99=600ms'",
            part === '' ? 'nothing' : JSON.stringify(part),
          )
        }
        const isShare = match[1] === undefined && Number(match[2]) <= 1
        const at = isShare ? share.read(match[2]!, what).exact : percentileShare(level.read(match[2]!, what))
        return [at, measured.read(match[3]!, what)]
      })
  },
}

export const mergePercentilesCalculator: Calculator = calculator({
  name: 'merge-p99',
  group: 'Percentiles',
  brief: "A fleet's P99 from its replicas' P99s: what can be said, and what cannot?",
  formula: 'F(x) = Σ w F_i(x); from quantiles alone the fleet lies between bounds, never at their average',
  inputs: {
    values: several(measured, 0, 'the percentile of each replica', { bare: true, also: ['value', 'p99s'] }),
    weights: several(share, 0, 'share of the traffic of each; equal unless said', { also: ['weight'] }),
    percentile: assumed(level, '99', 'which percentile they are', { also: ['p'] }),
    median: optional(measured, 'the median of every replica, for a lognormal guess'),
    replica: repeated(knots, 'several quantiles of one replica; once for each replica', {
      also: ['knots', 'quantiles'],
    }),
  },
  examples: [
    ['0.6s 0.7s 0.6s 3.0s', 'one of four replicas is slow'],
    ['0.6s 0.7s 0.6s 3.0s --weights 30%,30%,30%,10%', 'least-loaded routing sends it less'],
    ['0.6s 0.7s 0.6s 3.0s --median 0.3s', 'with a guess at the shape'],
    [
      "--replica 'p50=0.15s p90=0.3s p95=0.4s p99=0.6s' --replica 'p50=0.45s p90=1.5s p95=1.95s p99=3s'",
      'more quantiles, tighter bounds',
    ],
  ],
  work({ values: said, weights, percentile: p, median, replica }) {
    const target = percentileShare(p)
    const replicas: readonly (readonly Knot[])[] =
      replica.length > 0 ? replica : said.map((value) => [[target, value]])
    if (replicas.length === 0)
      throw impossible('no values to merge', `the P${p} of each replica, such as 0.6s 0.7s 3s`)
    const all = replicas.flatMap((one) => one.map(([, value]) => value))
    const { unit } = all[0]!
    if (all.some((value) => value.unit !== unit) || (median !== null && median.unit !== unit)) {
      throw impossible(
        'some values have a unit and some have none',
        'all with a unit of time, or all without',
      )
    }
    if (weights.length > 0 && weights.length !== replicas.length) {
      throw impossible(
        'a weight for each replica is needed',
        `${replicas.length} weights`,
        String(weights.length),
      )
    }
    const sum = weights.reduce<Rational>((total, { exact }) => add(total, exact), rational(0n))
    if (weights.length > 0 && sum.num === 0n)
      throw impossible('the weights are all 0', 'shares of the traffic')
    const text = (value: number): string => (unit === 'ms' ? timeText(value) : plain(value))
    const figure = (value: number | null, why: string): Figure =>
      value === null
        ? none(unit === '' ? null : 's', why)
        : { value: unit === 'ms' ? value / 1000 : value, unit: unit === '' ? null : 's', text: text(value) }
    const bounds = fleetPercentileBounds(
      replicas.map((quantiles, index) => ({
        knots: quantiles.map(([at, value]) => [at, value.exact] as const),
        ...(weights.length === 0 ? {} : { weight: weights[index]!.exact }),
      })),
      target,
    )
    const own = replicas.map((one) => one.find(([at]) => compare(at, target) === 0)?.[1].value ?? null)
    const results: Record<string, Figure> = {
      fleet: none(unit === '' ? null : 's', 'unknown: percentiles cannot be averaged'),
      low: figure(bounds.low, 'unbounded: no quantile that low is known'),
      high: figure(bounds.high, 'unbounded: no quantile that high is known'),
    }
    const range = `[${bounds.low === null ? '0' : text(bounds.low)}, ${bounds.high === null ? '∞' : text(bounds.high)}]`
    const working = [
      `F(x) of the fleet is the weighted mean of the replicas' F(x), not of their percentiles`,
      `from what is known it reaches ${shareText(target)} somewhere in ${range}`,
    ]
    const known = own.flatMap((value) => (value === null ? [] : [value]))
    if (known.length === replicas.length && known.every((value) => value > 0)) {
      guesses(
        known,
        weights.map(({ value }) => value),
        toNumber(target),
        median?.value ?? null,
        text,
        figure,
        results,
        working,
      )
    }
    const average = mean(known)
    return {
      answer: `P${p} of the fleet: between ${bounds.low === null ? '0' : text(bounds.low)} and ${bounds.high === null ? 'any value' : text(bounds.high)}. More cannot be said from these figures.`,
      results,
      working,
      assumptions: [
        weights.length === 0
          ? 'the same traffic to each replica'
          : `traffic ${weights.map(({ value }) => shareText(value)).join(', ')}`,
        'a guess at the shape is a guess; the bounds are not',
      ],
      mistake:
        average === null
          ? null
          : `the average ${text(average)} is no percentile of anything; in histograms the buckets are added first and the quantile taken after`,
      warnings: [averagedPercentiles(known.map((value) => (unit === 'ms' ? value / 1000 : value))).warning],
      next: [
        'plimsoll show RUN RUN --as-fleet',
        'histogram_quantile(0.99, sum by (le) (rate(…_bucket[5m])))',
      ],
    }
  },
})

function guesses(
  values: readonly number[],
  weights: readonly number[],
  p: number,
  median: number | null,
  text: (value: number) => string,
  figure: (value: number | null, why: string) => Figure,
  results: Record<string, Figure>,
  working: string[],
): void {
  const families: (readonly [string, (value: number) => Distribution])[] = [
    ['exponential', (value) => exponentialDistribution(value / -Math.log1p(-p))],
  ]
  // A lognormal has no median of 0.
  if (median !== null && median > 0 && values.every((value) => value > median) && p > 0.5) {
    families.push(['lognormal', (value) => lognormalDistribution(median, lognormalSigma(median, value, p))])
  }
  const worst = Math.max(...values)
  for (const [name, of] of families) {
    const merged = mixtureQuantile(
      values.map((value, index) => ({ weight: weights[index] ?? 1, distribution: of(value) })),
      p,
    )
    const inWorst = of(worst).cdf(merged)
    results[`if_${name}`] = figure(merged, 'none')
    results[`if_${name}_percentile_of_worst`] = { value: inWorst, unit: 'share', text: shareText(inWorst) }
    working.push(
      `if all were ${name}: ${text(merged)}, the P${formatPlain(100 * inWorst)} of the slowest replica`,
    )
  }
}
