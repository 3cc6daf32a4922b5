import { wilson, clopperPearson } from '../../src/stats/binomial.ts'
import { bestChangePoint } from '../../src/stats/change-point.ts'
import { mean } from '../../src/stats/describe.ts'
import { testEquivalence } from '../../src/stats/equivalence.ts'
import { benjaminiHochberg, familyWiseError, holm } from '../../src/stats/multiplicity.ts'
import { hodgesLehmann, mannWhitney } from '../../src/stats/ranks.ts'
import { ratioOfMeans } from '../../src/stats/ratio.ts'
import { orderBias, poolingError, requestsPerRun, runEffect } from '../../src/stats/replication.ts'
import { blockBootstrapSe } from '../../src/stats/resampling.ts'
import { cleanEventsForLimit, confidenceSequence, peekingError, pocockBoundary } from '../../src/stats/sequential.ts'
import { sampleOf, welch, type Sample } from '../../src/stats/two-means.ts'
import type { Compute } from './golden.ts'

interface Arms {
  readonly a: number[]
  readonly b: number[]
}

export const comparisonGoldens: Readonly<Record<string, Compute>> = {
  'ab.mw7': ({ a, b }: Arms) => {
    const found = mannWhitney(a, b)
    return { U: found?.u, p_exact: found?.p }
  },
  'ab.mw_minp': (i: { n: number[] }) =>
    i.n.map((n) => mannWhitney(Array.from({ length: n }, (_, k) => k), Array.from({ length: n }, (_, k) => n + k))?.p),
  'ab.hodges_lehmann': (i: Arms & { conf: number }) => {
    const found = hodgesLehmann(i.a, i.b, i.conf)
    return { hl: found?.estimate, ci: [found?.low, found?.high], k: found?.k, coverage: found?.coverage }
  },
  'ab.holm': (i: { p: number[] }) => holm(i.p),
  'ab.bh': (i: { p: number[] }) => benjaminiHochberg(i.p),
  'ab.fwer': (i: { metrics: number; alpha: number }) => familyWiseError(i.metrics, i.alpha),
  'ab.noninferior': (i: { base: number; new: number; sd: number; n: number; margin_pct: number; alpha: number }) => {
    const test = welch({ mean: i.new, sd: i.sd, n: i.n }, { mean: i.base, sd: i.sd, n: i.n })
    const found = testEquivalence(test, (i.base * i.margin_pct) / 100, { alpha: i.alpha, worse: 'higher' })
    return { ci90: [...found.interval], no_regression: found.noRegression, equivalent: found.equivalent }
  },
  'ab.not_significant_is_not_equal': (i: { diff: number; sd: number; n: number; margin: number }) => {
    const test = welch({ mean: i.diff, sd: i.sd, n: i.n }, { mean: 0, sd: i.sd, n: i.n })
    const { significant, equivalent, verdict } = testEquivalence(test, i.margin, { worse: 'higher' })
    return { significant, equivalent, verdict }
  },
  'ab.order_drift': (i: { drift_per_run: number; orders: string[] }) =>
    i.orders.map((order) => orderBias(order, i.drift_per_run)),
  'ab.run_vs_request': (i: { sigma_run: number; sigma_req: number; requests_per_run: number; runs: number }) => {
    const found = poolingError(i.sigma_run, i.sigma_req, i.requests_per_run, i.runs)
    return { se_naive_pooled: found.naiveSe, se_true: found.trueSe, icc: found.icc, deff: found.designEffect }
  },
  'ab.kalibera_jones': (i: { cost_run_s: number; cost_request_s: number; var_req: number; var_run: number }) =>
    requestsPerRun(i.cost_run_s, i.cost_request_s, i.var_req, i.var_run),
  'ab.icc_anova': (i: { runs: number[][] }) => {
    const found = runEffect(i.runs)
    return { msb: found?.betweenMeanSquare, msw: found?.withinMeanSquare, icc: found?.icc, deff: found?.designEffect }
  },
  'ab.cbb_se_mean': (i: { xs: number[]; block: number }) => ({
    se_block: blockBootstrapSe(i.xs, i.block),
    se_iid: blockBootstrapSe(i.xs, 1),
  }),
  'ab.wilson0': (i: { bad: number; total: number }) => ({
    wilson_hi: wilson(i.bad, i.total)?.high,
    cp_hi: clopperPearson(i.bad, i.total)?.high,
    rule_of_three: 3 / i.total,
  }),
  'ab.ratio_ci_log': (i: { a_mean: number; a_se: number; b_mean: number; b_se: number }) => {
    const found = ratioOfMeans({ mean: i.a_mean, se: i.a_se }, { mean: i.b_mean, se: i.b_se })
    return { ratio: found?.ratio, lo: found?.low, hi: found?.high }
  },
  'ab.pocock': (i: { looks: number[]; alpha: number }) => i.looks.map((looks) => pocockBoundary(looks, i.alpha)),
  'ab.peeking': (i: { looks: number[]; z: number }) => i.looks.map((looks) => peekingError(looks, i.z)),
  'ab.confseq': (i: { S: number; n: number; alpha: number }) => ({
    upper_anytime: confidenceSequence(i.S, i.n, i.alpha).high,
    upper_fixed_n_two_sided: clopperPearson(i.S, i.n, 1 - i.alpha)?.high,
    closed_form: 1 - (i.alpha / (i.n + 1)) ** (1 / i.n),
  }),
  'ab.confseq_n': (i: { alpha: number; limit: number }) => ({
    anytime: cleanEventsForLimit(i.limit, i.alpha),
    fixed_one_sided: Math.ceil(Math.log(i.alpha) / Math.log(1 - i.limit)),
  }),
  'ab.edivisive': (i: { xs: number[] }) => {
    const found = bestChangePoint(i.xs)
    return { tau: found?.tau, kappa: found?.kappa, qhat: found?.statistic }
  },
  'ab.otava_ddof': (i: { left: number[]; right: number[] }) => {
    const population = (values: number[]): Sample => {
      const centre = mean(values) as number
      return { n: values.length, mean: centre, sd: Math.sqrt(mean(values.map((x) => (x - centre) ** 2)) as number) }
    }
    return {
      p_correct: welch(sampleOf(i.left) as Sample, sampleOf(i.right) as Sample).p,
      p_with_ddof0: welch(population(i.left), population(i.right)).p,
    }
  },
}
