import { noun } from '../../base/noun.ts'
import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  numberFigure,
  plain,
  shareFigure,
  shareText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, optional } from '../../stats/calculators/inputs.ts'
import { count, level, number, share } from '../../stats/calculators/quantities.ts'
import { paretoDistribution } from '../../stats/latency-distributions.ts'
import { normalDensity, normalQuantile } from '../../stats/normal.ts'
import { percentileShare } from '../../stats/percentile.ts'
import { oneSidedUpperRank, orderStatisticInterval, samplesNeeded } from '../../stats/percentile-interval.ts'
import { toNumber } from '../../stats/rational.ts'
import {
  exponentialPercentileScatter,
  quantileValueError,
  tailCountError,
} from '../../stats/tail-at-scale.ts'
import { fewSamples } from '../traps.ts'

export const samplesCalculator: Calculator = calculator({
  name: 'samples',
  group: 'Percentiles',
  brief: 'How many requests does a percentile need, and what are n worth?',
  formula: '100 beyond: n = 100 ÷ (1 − p); an upper end exists: pⁿ ≤ α; tail count ± √(p ÷ (n(1 − p)))',
  inputs: {
    percentile: assumed(level, '99', 'the percentile', { bare: true, also: ['p'] }),
    samples: optional(count(1), 'independent values that there are', {
      bare: true,
      also: ['n', 'requests', 'count'],
    }),
    confidence: assumed(share, '95%', 'of the bounds', { also: ['conf', 'level'] }),
    iact: assumed(number, '1', 'autocorrelation time: one request in a loaded run is worth 1/iact', {
      also: ['tau'],
    }),
  },
  examples: [
    ['99', 'what a P99 needs'],
    ['99.9', 'and a P99.9'],
    ['99 10000', 'how well 10,000 values know it'],
    ['99 100', 'how badly 100 do'],
    ['99 10000 --iact 20', 'in a run where requests are alike'],
  ],
  work({ percentile: p, samples: said, confidence, iact }) {
    const needs = samplesNeeded(p, confidence.exact)
    const factor = Math.max(1, iact.value)
    const rest = 1 - toNumber(percentileShare(p))
    const results: Record<string, Figure> = {
      hundred_beyond: countFigure(needs.hundredBeyond, 'values'),
      ten_beyond: countFigure(needs.tenBeyond, 'values'),
      ten_percent: countFigure(needs.tenPercent, 'values'),
      upper_bound: countFigure(needs.oneSidedUpper, 'values'),
      two_sided: countFigure(needs.twoSided, 'values'),
    }
    const sure = shareText(confidence.exact)
    const working = [
      `100 beyond it: 100 ÷ (1 − ${plain(1 - rest)}) = ${plain(needs.hundredBeyond)}; 10 beyond, to show it at all: ${plain(needs.tenBeyond)}`,
      `an upper end at ${sure} exists from ${plain(needs.oneSidedUpper)} on (${plain(1 - rest)}ⁿ ≤ ${shareText(1 - confidence.value)}), a two-sided interval from ${plain(needs.twoSided)}`,
    ]
    if (factor > 1) {
      results['requests'] = countFigure(Math.ceil(needs.hundredBeyond * factor), 'requests')
      working.push(
        `each value is worth 1/${plain(factor)} here: ${plain(Math.ceil(needs.hundredBeyond * factor))} requests for ${plain(needs.hundredBeyond)} independent ones`,
      )
    }
    const n = said === null ? null : Math.floor(said / factor)
    if (n !== null && n >= 1) Object.assign(results, worth(n, p, confidence.exact, rest, working))
    return {
      answer:
        n === null
          ? `${plain(needs.hundredBeyond)} independent requests know a P${p} well; ${plain(needs.oneSidedUpper)} are the least that bound it`
          : n < 1
            ? `no independent value is left: P${p} is unknown`
            : `${plain(n)} ${noun(n, 'value leaves', 'values leave')} ${plain(n * rest)} beyond P${p}: ${n * rest < 10 ? 'too few to show it' : n * rest < 100 ? 'enough to show it, with its interval' : 'it is known well'}`,
      results,
      working,
      assumptions: [
        'independent values: under load neighbouring requests are alike, and n counts for less (--iact)',
        'exponential, lognormal and Pareto are shapes to compare with, not your data',
      ],
      mistake: `the count beyond is known to ${n === null ? '10 %' : shareText(tailCountError(p, Math.max(n, 1)) ?? 1)}; that is not the error of the value, which depends on how heavy the tail is`,
      warnings: [n === null ? null : fewSamples(n, p).warning],
      next: ['plimsoll lab tail', `plimsoll run --num-prompts ${Math.ceil(needs.hundredBeyond * factor)}`],
    }
  },
})

function worth(
  n: number,
  p: string,
  confidence: Parameters<typeof orderStatisticInterval>[2],
  rest: number,
  working: string[],
): Record<string, Figure> {
  const interval = orderStatisticInterval(n, p, confidence)
  const upper = oneSidedUpperRank(n, p, confidence)
  const countError = tailCountError(p, n)
  const scatter = exponentialPercentileScatter(n, p)
  const share = 1 - rest
  const z = normalQuantile(share)
  const pareto = paretoDistribution(1, 1.5).quantile(share)
  const shapes = {
    exponential: quantileValueError(share, n, rest, -Math.log(rest)),
    lognormal: quantileValueError(share, n, normalDensity(z) / Math.exp(z), Math.exp(z)),
    pareto: quantileValueError(share, n, (1.5 * rest) / pareto, pareto),
  }
  const results: Record<string, Figure> = {
    n_eff: countFigure(n, 'values'),
    beyond: countFigure(n * rest, 'values'),
    count_error: shareFigure(countError),
    low_rank: numberFigure(interval.lowRank, 'none: too few values'),
    high_rank: numberFigure(interval.highRank, 'none: too few values'),
    upper_rank: numberFigure(upper, 'none: too few values'),
    coverage: shareFigure(interval.coverage),
    value_error_exponential: shareFigure(shapes.exponential),
    value_error_lognormal: shareFigure(shapes.lognormal),
    value_error_pareto: shareFigure(shapes.pareto),
  }
  working.push(
    `interval of ${plain(n)} ${noun(n, 'value')}: from value no. ${interval.lowRank === null ? 'none' : plain(interval.lowRank)} to no. ${interval.highRank === null ? 'none (the sample has no upper end)' : plain(interval.highRank)}, counted from below`,
    `its count beyond ± ${countError === null ? 'unknown' : shareText(countError)}; its value ± ${shareText(shapes.exponential)} if exponential, ± ${shareText(shapes.lognormal)} if lognormal (σ 1), ± ${shareText(shapes.pareto)} if Pareto (α 1.5)`,
  )
  if (scatter !== null) {
    Object.assign(results, {
      rank: numberFigure(scatter.rank),
      mean_of_estimate: numberFigure(scatter.mean),
      sd_of_estimate: numberFigure(scatter.sd),
      cv_of_estimate: shareFigure(scatter.cv),
      underestimates: shareFigure(scatter.underestimates),
    })
    working.push(
      `drawn again and again, the estimate is too low ${shareText(scatter.underestimates)} of the time, whatever the shape; exponential: mean ${plain(scatter.mean, 4)} ± ${plain(scatter.sd, 3)} around the true ${plain(-Math.log(rest), 4)}`,
    )
  }
  return results
}
