import { describe, expect, it } from 'vitest'
import { randomStream, standardNormal, type Random } from '../base/random.ts'
import { binomialCdf } from '../stats/binomial.ts'
import { sampleOf, welch, type Sample } from '../stats/two-means.ts'
import { compareMetric, defaultRules } from './compare-metric.ts'

// A against A: both arms are the same system. The larger calibration, with intervals inside runs, is bench/calibration.mjs.

const trials = 2000
const requests = 60

interface MadeRun {
  readonly mean: number
  readonly values: readonly number[]
}

/** A run of autocorrelated requests (lag 1: 0.9) whose level is its own. */
function makeRun(random: Random, level: number): MadeRun {
  const correlation = 0.9
  let error = standardNormal(random)
  const own = level * Math.exp(0.03 * standardNormal(random))
  const values = Array.from({ length: requests }, () => {
    error = correlation * error + Math.sqrt(1 - correlation ** 2) * standardNormal(random)
    return own * Math.exp(0.3 * error)
  })
  return { mean: values.reduce((sum, value) => sum + value, 0) / requests, values }
}

/** The band that a count of `trials` at 5 % leaves once in a thousand. */
const band = ((): readonly [number, number] => {
  const at = (p: number): number => {
    let count = 0
    while (binomialCdf(count, trials, 0.05) < p) count++
    return count
  }
  return [at(0.0005), at(0.9995)]
})()

describe('2,000 comparisons of A with A', () => {
  it.each([
    ['5 + 5 runs', 5, false, band[0]],
    ['10 + 10 runs', 10, false, band[0]],
    ['6 pairs whose seeds move both arms', 6, true, band[0]],
    // Welch's degrees of freedom are cautious where there are so few: fewer false alarms than 5 %, never more.
    ['3 + 3 runs', 3, false, 40],
  ] as const)(
    '%s: the share called different lies in the binomial band around 5 %%',
    (name, runs, paired, least) => {
      let different = 0
      let pooled = 0
      for (let trial = 0; trial < trials; trial++) {
        const random = randomStream(trial, name)
        const levels = Array.from(
          { length: runs },
          () => 20 * (paired ? Math.exp(0.1 * standardNormal(random)) : 1),
        )
        const [a = [], b = []] = [0, 1].map(() => levels.map((level) => makeRun(random, level)))
        const means = { a: a.map(({ mean }) => mean), b: b.map(({ mean }) => mean) }
        const { verdict } = compareMetric(
          { ...means, paired, better: 'lower', scale: 'log' },
          defaultRules,
          false,
        )
        if (verdict === 'better' || verdict === 'worse') different++
        const all = [a, b].map((arm) => sampleOf(arm.flatMap(({ values }) => values)) as Sample)
        if ((welch(all[0]!, all[1]!).p ?? 1) < 0.05) pooled++
      }
      expect(different).toBeGreaterThanOrEqual(least)
      expect(different).toBeLessThanOrEqual(band[1])
      // What pooling the requests of runs would have said, most of the time.
      expect(pooled).toBeGreaterThan(trials / 4)
    },
  )
})
