import { type Compute } from '../goldens/golden.ts'
import { value, values } from './ask.ts'

interface Arms {
  readonly a: number[]
  readonly b: number[]
}
interface Six {
  readonly m1: number
  readonly s1: number
  readonly n1: number
  readonly m2: number
  readonly s2: number
  readonly n2: number
}
const mix = (i: { share_long: number }): string =>
  `${(1 - i.share_long).toFixed(2)}:0.2..0.8 ${i.share_long}:0.8..1.6`
const scatter = (i: { p: number; n: number }): unknown =>
  values(`samples ${i.p} ${i.n}`, {
    k: 'rank',
    mean: 'mean_of_estimate',
    sd: 'sd_of_estimate',
    cv: 'cv_of_estimate',
    p_underestimate: 'underestimates',
  })
const fleet = (i: { p99s: number[]; weights?: number[] }, more = ''): string =>
  `merge-p99 ${i.p99s.join(' ')}${i.weights === undefined ? '' : ` --weights ${i.weights.join(',')}`} ${more}`
const noise = (i: { sigma: number; n: number }, more = ''): string =>
  `noise 20 19.3 ${i.sigma} ${i.n} ${more}`
const welch = (i: Six): unknown =>
  values(`noise ${i.m1} ${i.m2} ${i.s1} ${i.n1} --sd-after ${i.s2} --runs-after ${i.n2}`, {
    t: 't',
    df: 'degrees',
    p: 'p',
  })

export const tailsLines: Readonly<Record<string, Compute>> = {
  'q5.mix.before': (i: { share_long: number }) => value(`mix ${mix(i)}`, 'before'),
  'q5.mix.after': (i: { share_long: number }) =>
    value(`mix 0.99:0.2..0.8 0.01:0.8..1.6 --after ${mix(i)}`, 'after'),
  'q5.mix.psi': () => value('mix 99%:0.2..0.8 1%:0.8..1.6 --after 92%:0.2..0.8 8%:0.8..1.6', 'psi'),
  'q5.mix.decompose': () =>
    values('mix 99%:0.2..0.8 1%:0.8..1.6 --after 92%:0.2..0.9 8%:0.8..1.8', {
      total: 'total',
      mix: 'from_mix',
      within: 'from_within',
    }),
  'q5.bounds': (i: { p99s: number[] }) => values(fleet(i), { lo: 'low', hi: 'high' }),
  'q5.merged.exponential': (i: { p99s: number[]; weights: number[] }) => ({
    fleet_p99: value(fleet(i), 'if_exponential'),
    bad_p96: -(3 / Math.log(100)) * Math.log(1 - 0.96),
  }),
  'q5.merged.lognormal': (i: { p99s: number[]; weights: number[] }) =>
    // The slowest replica's own P96 is the answer all but for the other three.
    ({ fleet_p99: value(fleet(i, '--median 0.3'), 'if_lognormal'), bad_p96: 1.6969468363987155 }),
  'q5.merged.weighted': (i: { p99s: number[]; weights: number[] }) => value(fleet(i), 'if_exponential'),
  'q5.tail20': (i: { q: number; k: number }) => value(`compound ${i.q} ${i.k}`, 'tasks'),
  'q5.tail20.approx': (i: { q: number; k: number }) => value(`compound ${i.q} ${i.k}`, 'high'),
  'q5.needed_q': (i: { task_q: number; k: number }) =>
    values(`compound 1% ${i.k} --task ${i.task_q}`, {
      call_q: 'needed_per_call',
      percentile: 'needed_percentile',
    }),
  'q5.at_p9995': (i: { q: number; k: number }) => value(`compound ${i.q} ${i.k}`, 'tasks'),
  'q5.samples.p99': () => value('samples 99', 'hundred_beyond'),
  'q5.samples.rel_se_count': (i: { n: number }) => value(`samples 99 ${i.n}`, 'count_error'),
  'q5.extra.fanout100': (i: { q: number; k: number }) => value(`compound ${i.q} ${i.k}`, 'tasks'),
  'q5.extra.corr_bounds': (i: { q: number; k: number }) =>
    values(`compound ${i.q} ${i.k}`, { lo: 'low', hi: 'high' }),
  'q5.extra.corr_betabinom': (i: { q: number; k: number; icc: number }) =>
    value(`compound ${i.q} ${i.k} --icc ${i.icc}`, 'correlated'),
  'q5.tailsim.n100': scatter,
  'q5.tailsim.n1000': scatter,
  'q5.tailsim.n10000': scatter,
  'q5.value_precision.n10000': (i: { n: number }) =>
    values(`samples 99 ${i.n}`, {
      exponential: 'value_error_exponential',
      lognormal_sigma1: 'value_error_lognormal',
      'pareto_alpha1.5': 'value_error_pareto',
    }),
  'q5.bounds.knots': (i: { replicas: readonly Record<string, string>[] }) => {
    const flags = i.replicas.map(
      (knots) =>
        `--replica '${Object.entries(knots)
          .map(([level, x]) => `${level}:${x}`)
          .join(' ')}'`,
    )
    return values(`merge-p99 ${flags.join(' ')}`, { lo: 'low', hi: 'high' })
  },
  'q6.se_mean': (i: { sigma: number; n: number }) => value(noise(i), 'se_mean'),
  'q6.se_diff': (i: { sigma: number; n: number }) => value(noise(i), 'se_difference'),
  'q6.band_z2': (i: { sigma: number; n: number }) => value(noise(i), 'band_rule_of_two'),
  'q6.gap': (i: { before: number; after: number }) => {
    const found = values(`noise ${i.before} ${i.after} 0.8 5`, { abs: 'difference', pct: 'relative' })
    return { ...found, pct: (found['pct'] as number) * 100 }
  },
  'q6.verdict_z2': () =>
    value('noise 20.0ms 19.3ms 0.8ms 5', 'verdict') === 'inconclusive' ? 'not_proven' : 'proven',
  'q6.n_z2': (i: { sigma: number; gap: number }) =>
    values(`runs-needed ${i.sigma} ${i.gap}`, { n_real: 'rule_of_two', n: 'runs_rule_of_two' }),
  'q6.t_band': (i: { sigma: number; n: number }) => values(noise(i), { t: 't_quantile', band: 'band' }),
  'q6.welch': welch,
  'q6.n_t': (i: { sigma: number; gap: number }) =>
    value(`runs-needed ${i.sigma} ${i.gap}`, 'runs_even_chance'),
  'q6.power_n': (i: { sigma: number; delta: number }) => ({
    n80: value(`runs-needed ${i.sigma} ${i.delta}`, 'runs'),
    n90: value(`runs-needed ${i.sigma} ${i.delta} --power 90%`, 'runs'),
    ...values(`runs-needed ${i.sigma} ${i.delta} --runs 5,12`, {
      power_at_12: 'power_at_12',
      power_at_5: 'power_at_5',
    }),
  }),
  'q6.n_normal_approx': (i: { sigma: number; delta: number }) => ({
    n80: value(`runs-needed ${i.sigma} ${i.delta}`, 'runs_normal'),
    n90: value(`runs-needed ${i.sigma} ${i.delta} --power 90%`, 'runs_normal'),
  }),
  'q6.mde': (i: { sigma: number; n: number[]; power: number }) =>
    i.n.map((n) => value(`runs-needed ${i.sigma} 0.7 --power ${i.power} --runs ${n}`, `detectable_at_${n}`)),
  'q6.paired': (i: { sigma: number; r: number; n: number }) =>
    values(noise(i, `--correlation ${i.r}`), {
      sd_diff: 'paired_deviation',
      half_width: 'paired_band',
      significant: 'paired_significant',
    }),
  'q6.extra.paired_data': ({ a, b }: Arms) => {
    const line = `noise --a ${a.join(' ')} --b ${b.join(' ')}`
    return {
      ...values(line, {
        mean_diff: 'difference',
        t_paired: 'paired_t',
        p_paired: 'paired_p',
        t_welch: 't',
        p_welch: 'p',
      }),
      ci95: [value(line, 'paired_low'), value(line, 'paired_high')],
    }
  },
  'q6.extra.permutation': ({ a, b }: Arms) =>
    value(`noise --a ${a.join(' ')} --b ${b.join(' ')}`, 'permutation_p'),
  'q6.extra.signflip': () =>
    value('noise --a 20.4 19.1 20.9 19.6 20.0 --b 19.5 18.6 20.1 18.7 19.6', 'sign_flip_p'),
  'q6.extra.unequal': welch,
}
