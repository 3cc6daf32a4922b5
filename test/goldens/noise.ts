import { sfc32 } from '../../src/base/random.ts'
import { mean } from '../../src/stats/describe.ts'
import {
  differenceSe,
  minimumDetectableEffect,
  pairedDeviation,
  runsByNormal,
  runsByRuleOfTwo,
  runsByT,
  runsForPower,
  tHalfWidth,
  tTestPower,
} from '../../src/stats/power.ts'
import { permutationTest, signFlip } from '../../src/stats/resampling.ts'
import { tQuantile } from '../../src/stats/student-t.ts'
import { pairedT, sampleOf, tInterval, welch, type Sample, type TTest } from '../../src/stats/two-means.ts'
import type { Compute } from './golden.ts'

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
const welchOf = (i: Six): unknown => {
  const { t, degrees, p } = welch({ mean: i.m1, sd: i.s1, n: i.n1 }, { mean: i.m2, sd: i.s2, n: i.n2 })
  return { t, df: degrees, p }
}
const random = (): ReturnType<typeof sfc32> => sfc32(1, 2, 3)

export const noiseGoldens: Readonly<Record<string, Compute>> = {
  'q6.se_mean': (i: { sigma: number; n: number }) => differenceSe(i.sigma, i.n) / Math.SQRT2,
  'q6.se_diff': (i: { sigma: number; n: number }) => differenceSe(i.sigma, i.n),
  'q6.band_z2': (i: { sigma: number; n: number }) => 2 * differenceSe(i.sigma, i.n),
  'q6.gap': (i: { before: number; after: number }) => ({
    abs: i.before - i.after,
    pct: (100 * (i.before - i.after)) / i.before,
  }),
  'q6.verdict_z2': (i: { gap: number; band: number }) => (i.gap > i.band ? 'proven' : 'not_proven'),
  'q6.n_z2': (i: { sigma: number; gap: number }) => {
    const found = runsByRuleOfTwo(i.sigma, i.gap)
    return { n_real: found?.real, n: found?.runs }
  },
  'q6.t_band': (i: { sigma: number; n: number; conf: number }) => ({
    t: tQuantile(1 - (1 - i.conf) / 2, 2 * i.n - 2),
    band: tHalfWidth(i.sigma, i.n, i.conf),
  }),
  'q6.welch': welchOf,
  'q6.n_t': (i: { sigma: number; gap: number; conf: number }) => runsByT(i.sigma, i.gap, i.conf),
  'q6.power_n': (i: { sigma: number; delta: number }) => ({
    n80: runsForPower(i.delta, 0.8, { sd: i.sigma }),
    n90: runsForPower(i.delta, 0.9, { sd: i.sigma }),
    power_at_12: tTestPower(12, i.delta, { sd: i.sigma }),
    power_at_5: tTestPower(5, i.delta, { sd: i.sigma }),
  }),
  'q6.n_normal_approx': (i: { sigma: number; delta: number }) => ({
    n80: runsByNormal(i.delta, 0.8, { sd: i.sigma }),
    n90: runsByNormal(i.delta, 0.9, { sd: i.sigma }),
  }),
  'q6.mde': (i: { sigma: number; n: number[]; power: number }) =>
    i.n.map((n) => minimumDetectableEffect(n, i.power, { sd: i.sigma })),
  'q6.paired': (i: { sigma: number; r: number; n: number; gap: number }) => {
    const sd = pairedDeviation(i.sigma, i.r)
    const half = (tQuantile(0.975, i.n - 1) * sd) / Math.sqrt(i.n)
    return { sd_diff: sd, half_width: half, significant: i.gap > half }
  },
  'q6.extra.paired_data': ({ a, b }: Arms) => {
    const paired = pairedT(a, b) as TTest
    const apart = welch(sampleOf(a) as Sample, sampleOf(b) as Sample)
    return {
      mean_diff: (mean(a) as number) - (mean(b) as number),
      t_paired: paired.t,
      p_paired: paired.p,
      ci95: [...tInterval(paired)],
      t_welch: apart.t,
      p_welch: apart.p,
    }
  },
  'q6.extra.permutation': ({ a, b }: Arms) => permutationTest(a, b, random())?.p,
  'q6.extra.signflip': (i: { diffs: number[] }) => signFlip(i.diffs, random())?.p,
  'q6.extra.unequal': welchOf,
}
