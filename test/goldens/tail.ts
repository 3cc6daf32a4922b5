import { sfc32 } from '../../src/base/random.ts'
import { mean } from '../../src/stats/describe.ts'
import {
  exponentialDistribution,
  lognormalDistribution,
  lognormalSigma,
  paretoDistribution,
  uniformDistribution,
} from '../../src/stats/latency-distributions.ts'
import {
  decomposeMix,
  fleetPercentileBounds,
  mixtureQuantile,
  populationStability,
  type Distribution,
  type MixturePart,
} from '../../src/stats/mixture.ts'
import { normalDensity, normalQuantile } from '../../src/stats/normal.ts'
import { percentile, sortAscending } from '../../src/stats/percentile.ts'
import { samplesNeeded } from '../../src/stats/percentile-interval.ts'
import { rational } from '../../src/stats/rational.ts'
import {
  anySlow,
  anySlowBounds,
  anySlowCorrelated,
  exponentialPercentileScatter,
  neededPerCall,
  quantileValueError,
  tailCountError,
} from '../../src/stats/tail-at-scale.ts'
import { series, type Compute } from './golden.ts'

interface Mix {
  readonly share_long: number
  readonly short: readonly [number, number]
  readonly long: readonly [number, number]
}
const mix = ({ share_long, short, long }: Mix): MixturePart[] => [
  { weight: 1 - share_long, distribution: uniformDistribution(...short) },
  { weight: share_long, distribution: uniformDistribution(...long) },
]
const seedMix = (i: { share_long: number }): number =>
  mixtureQuantile(mix({ share_long: i.share_long, short: [0.2, 0.8], long: [0.8, 1.6] }), 0.99)

interface Fleet {
  readonly p99s: readonly number[]
  readonly weights: readonly number[]
}
const exponentialOf = (p99: number): Distribution => exponentialDistribution(p99 / Math.log(100))
const lognormalOf = (p99: number): Distribution => lognormalDistribution(0.3, lognormalSigma(0.3, p99, 0.99))
const fleetP99 = ({ p99s, weights }: Fleet, of: (p99: number) => Distribution): number =>
  mixtureQuantile(
    p99s.map((p99, i) => ({ weight: weights[i] as number, distribution: of(p99) })),
    0.99,
  )
const scatter = (i: { p: number; n: number }): unknown => {
  const found = exponentialPercentileScatter(i.n, String(i.p))
  return {
    k: found?.rank,
    mean: found?.mean,
    sd: found?.sd,
    cv: found?.cv,
    p_underestimate: found?.underestimates,
  }
}

export const tailGoldens: Readonly<Record<string, Compute>> = {
  'q5.mix.before': seedMix,
  'q5.mix.after': seedMix,
  'q5.mix.psi': (i: { before: number[]; after: number[] }) => populationStability(i.before, i.after),
  'q5.mix.decompose': (i: { before: Mix; after: Mix }) => decomposeMix(mix(i.before), mix(i.after), 0.99),
  'q5.avg_p99': (i: { p99s: number[] }) => mean(i.p99s),
  'q5.bounds': (i: { p99s: number[] }) => {
    const found = fleetPercentileBounds(
      i.p99s.map((value) => ({ knots: [['0.99', value]] })),
      '99',
    )
    return { lo: found.low, hi: found.high }
  },
  'q5.merged.exponential': (i: Fleet) => ({
    fleet_p99: fleetP99(i, exponentialOf),
    bad_p96: exponentialOf(3).quantile(0.96),
  }),
  'q5.merged.lognormal': (i: Fleet) => ({
    fleet_p99: fleetP99(i, lognormalOf),
    bad_p96: lognormalOf(3).quantile(0.96),
  }),
  'q5.merged.samples': () => {
    const replicas = [0.6, 0.7, 0.6, 3.0].map((p99) =>
      series(1000, (i) => -(p99 / Math.log(100)) * Math.log(1 - (i + 0.5) / 1000)),
    )
    return {
      fleet_p99: percentile(sortAscending(replicas.flat()), '99'),
      avg_of_p99s: mean(replicas.map((values) => percentile(values, '99') as number)),
    }
  },
  'q5.merged.weighted': (i: Fleet) => fleetP99(i, exponentialOf),
  'q5.tail20': (i: { q: number; k: number }) => anySlow(i.q, i.k),
  'q5.tail20.approx': (i: { q: number; k: number }) => anySlowBounds(i.q, i.k).high,
  'q5.needed_q': (i: { task_q: number; k: number }) => {
    const q = neededPerCall(i.task_q, i.k)
    return { call_q: q, percentile: 100 * (1 - q) }
  },
  'q5.at_p9995': (i: { q: number; k: number }) => anySlow(i.q, i.k),
  'q5.samples.p99': () => samplesNeeded('99', '0.95').hundredBeyond,
  'q5.samples.rel_se_count': (i: { n: number }) => tailCountError('99', i.n),
  'q5.extra.fanout100': (i: { q: number; k: number }) => anySlow(i.q, i.k),
  'q5.extra.corr_bounds': (i: { q: number; k: number }) => {
    const found = anySlowBounds(i.q, i.k)
    return { lo: found.low, hi: found.high }
  },
  'q5.extra.corr_betabinom': (i: { q: number; k: number; icc: number }) => anySlowCorrelated(i.q, i.k, i.icc),
  'q5.tailsim.n100': scatter,
  'q5.tailsim.n1000': scatter,
  'q5.tailsim.n10000': scatter,
  'q5.value_precision.n10000': (i: { p: number; n: number }) => {
    const rest = 1 - i.p
    const z = normalQuantile(i.p)
    const pareto = paretoDistribution(1, 1.5).quantile(i.p)
    return {
      exponential: quantileValueError(i.p, i.n, rest, -Math.log(rest)),
      lognormal_sigma1: quantileValueError(i.p, i.n, normalDensity(z) / Math.exp(z), Math.exp(z)),
      'pareto_alpha1.5': quantileValueError(i.p, i.n, (1.5 * rest) / pareto, pareto),
    }
  },
  'q5.tailsim.agent_bruteforce': (i: { calls: number; q: number; tasks: number }) => {
    const random = sfc32(1, 2, 3)
    let slow = 0
    for (let task = 0; task < i.tasks; task++) {
      let hit = false
      for (let call = 0; call < i.calls; call++) hit = random.next() < i.q || hit
      if (hit) slow++
    }
    return slow / i.tasks
  },
  'q5.bounds.knots': (i: { replicas: readonly Record<string, string>[]; p: string }) => {
    const found = fleetPercentileBounds(
      i.replicas.map((knots) => ({ knots: Object.entries(knots) })),
      rational(99n, 100n),
    )
    return { lo: found.low, hi: found.high }
  },
}
