// How often A against A is called different.
import { randomStream, standardNormal } from '../../dist/base/random.js'
import { compareMetric, defaultRules } from '../../dist/judge/compare-metric.js'
import { sampleOf, welch } from '../../dist/stats/index.js'

/** A/A: both arms from the same place. Runs are means of autocorrelated requests around a level of their own. */
function aRun(random, correlation, requests, runSd, level) {
  let error = standardNormal(random)
  let sum = 0
  const values = []
  const noise = Math.sqrt(1 - correlation * correlation)
  for (let i = 0; i < requests; i++) {
    error = correlation * error + noise * standardNormal(random)
    const value = level * Math.exp(0.3 * error)
    values.push(value)
    sum += value
  }
  const own = Math.exp(runSd * standardNormal(random))
  return { mean: (own * sum) / requests, values: values.map((value) => own * value) }
}

/** Of each design, how many of 2,000 comparisons were called different, worse, or different by pooled requests. */
export function sameAgainstSame() {
  const aa = []
  for (const [name, runs, paired, correlation] of [
    ['3 + 3 runs', 3, false, 0.9],
    ['5 + 5 runs', 5, false, 0.9],
    ['10 + 10 runs', 10, false, 0.9],
    ['5 pairs', 5, true, 0.9],
    ['10 pairs', 10, true, 0.9],
  ]) {
    const trials = 2000
    let different = 0
    let regressions = 0
    let pooled = 0
    for (let trial = 0; trial < trials; trial++) {
      const random = randomStream(trial, `aa ${name}`)
      const levelsOf = Array.from({ length: runs }, () =>
        paired ? Math.exp(0.1 * standardNormal(random)) : 1,
      )
      const [a, b] = [0, 1].map(() =>
        levelsOf.map((level) => aRun(random, correlation, 200, 0.03, 20 * level)),
      )
      const { verdict } = compareMetric(
        { a: a.map(({ mean }) => mean), b: b.map(({ mean }) => mean), paired, better: 'lower', scale: 'log' },
        defaultRules,
        false,
      )
      if (verdict === 'better' || verdict === 'worse') different++
      if (verdict === 'worse') regressions++
      const test = welch(
        sampleOf(a.flatMap(({ values }) => values)),
        sampleOf(b.flatMap(({ values }) => values)),
      )
      if (test.p < 0.05) pooled++
    }
    aa.push({ name, trials, different, regressions, pooled })
  }
  return aa
}
