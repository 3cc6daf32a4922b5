// How often intervals hold what they say, and how often A against A is called different; writes docs/calibration.md.
//   node bench/calibration.mjs [replications=240]        needs `npm run build` first
// Everything is seeded: the same numbers on every machine.
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { exponential, randomStream, standardNormal } from '../dist/base/random.js'
import { compareMetric, defaultRules } from '../dist/judge/compare-metric.js'
import { createEngine } from '../dist/simulate/engine/engine.js'
import { enginePreset } from '../dist/simulate/engine/presets.js'
import { runVirtual } from '../dist/simulate/engine/run-virtual.js'
import {
  exceedanceMemory,
  nearestRank,
  orderStatisticInterval,
  percentile,
  sampleOf,
  sortAscending,
  tailClustersForInterval,
  welch,
} from '../dist/stats/index.js'

const replications = Number(process.argv[2] ?? 240)
const loads = [0.5, 0.8, 0.9]
const levels = ['50', '95', '99']
const bins = [0, 3, 5, 10, 15, 20, 30, 50, 100]

/** One run's answer to one question: did the interval hold the truth? */
function tryInterval(values, level, truth) {
  const n = values.length
  const sorted = sortAscending(values)
  const estimate = sorted[nearestRank(n, level) - 1]
  const { tau, nEff } = exceedanceMemory(values, estimate)
  if (tau === null) return null
  const share = Number(level) / 100
  const clusters = nEff * Math.min(share, 1 - share)
  const effective = Math.floor(nEff)
  return {
    clusters,
    tau,
    relative: estimate / truth - 1,
    corrected: holds(sorted, orderStatisticInterval(effective, level, '0.95'), n / effective, truth),
    naive: holds(sorted, orderStatisticInterval(n, level, '0.95'), 1, truth),
  }
}

/** Whether [x(low), x(high)] holds the truth; null where an end does not exist, so that nothing is shown. */
function holds(sorted, { lowRank, highRank }, scale, truth) {
  if (lowRank === null || highRank === null) return null
  const low = sorted[Math.max(1, Math.floor(lowRank * scale)) - 1]
  const high = sorted[Math.min(sorted.length, Math.ceil(highRank * scale)) - 1]
  return low <= truth && truth <= high
}

/** Times in an M/M/1 queue in equilibrium, mean service 1: Lindley's recursion after a start from its stationary wait. */
function mm1(load, n, seed) {
  const random = randomStream(seed, `mm1 ${load} ${n}`)
  let wait = random.next() < load ? exponential(random) / (1 - load) : 0
  return Float64Array.from({ length: n }, () => {
    const service = exponential(random)
    const time = wait + service
    wait = Math.max(0, time - exponential(random) / load)
    return time
  })
}

const demo = enginePreset('demo').config
const lengths = { prompt: [64, 448], output: [16, 112] }

function engineRequests(perSecond, n, seed) {
  const random = randomStream(seed, 'engine arrivals')
  const between = ([low, high]) => low + Math.floor(random.next() * (high - low + 1))
  let arrivalMs = 0
  return Array.from({ length: n }, (_, id) => {
    arrivalMs += (1000 * exponential(random)) / perSecond
    return {
      id,
      arrivalMs,
      promptTokenIds: { length: between(lengths.prompt), seed: id + 1 },
      outputTokens: between(lengths.output),
    }
  })
}

/** Requests a second that the engine finishes when everything comes at once. */
function engineCapacity() {
  const engine = createEngine(demo, randomStream('capacity', 'jitter'), { events: 'requests' })
  const count = 4000
  const results = runVirtual(engine, { arrivals: engineRequests(1e6, count, 'capacity') })
  return (1000 * count) / Math.max(...results.map((one) => one.endMs))
}

/** TTFT and E2E in order of arrival, the first 2,000 left out. */
function engineRun(perSecond, n, seed) {
  const warmup = 2000
  const engine = createEngine(demo, randomStream(seed, 'jitter'), { events: 'requests' })
  const results = runVirtual(engine, { arrivals: engineRequests(perSecond, n + warmup, seed) })
    .filter((one) => one.facts !== null)
    .sort((a, b) => a.arrivalMs - b.arrivalMs)
    .slice(warmup)
  return {
    ttft: Float64Array.from(results, (one) => one.facts.firstTokenMs - one.arrivalMs),
    e2e: Float64Array.from(results, (one) => one.facts.lastTokenMs - one.arrivalMs),
  }
}

const cells = []
function cell(system, load, n, level, tries) {
  const found = tries.filter((one) => one !== null)
  const shown = found.filter((one) => one.corrected !== null)
  const held = (list, key) => list.filter((one) => one[key]).length / list.length
  const middle = (list) => (list.length === 0 ? Number.NaN : percentile(sortAscending(list), '50'))
  cells.push({
    system,
    load,
    n,
    level,
    runs: tries.length,
    clusters: middle(found.map((one) => one.clusters)),
    tau: middle(found.map((one) => one.tau)),
    bias: found.reduce((sum, one) => sum + one.relative, 0) / Math.max(1, found.length),
    shown: shown.length / tries.length,
    corrected: held(shown, 'corrected'),
    given: shown.filter(({ clusters }) => clusters >= tailClustersForInterval).length / tries.length,
    gated: held(
      shown.filter(({ clusters }) => clusters >= tailClustersForInterval),
      'corrected',
    ),
    naive: held(
      found.filter((one) => one.naive !== null),
      'naive',
    ),
    tries: shown,
  })
  const last = cells.at(-1)
  console.log(
    `${system} ${load} n=${n} P${level}: clusters ${last.clusters.toFixed(1)}, shown ${pct(last.shown)}, holds ${pct(last.corrected)}, naive ${pct(last.naive)}`,
  )
}

for (const load of loads) {
  for (const n of [2000, 10_000]) {
    const runs = Array.from({ length: replications }, (_, seed) => mm1(load, n, seed))
    for (const level of levels) {
      // M/M/1 times are exponential with mean 1 ÷ (1 − load).
      const truth = -Math.log(1 - Number(level) / 100) / (1 - load)
      cell(
        'M/M/1',
        load,
        n,
        level,
        runs.map((values) => tryInterval(values, level, truth)),
      )
    }
  }
}

const capacity = engineCapacity()
console.log(`the engine finishes ${capacity.toFixed(1)} requests/s at most`)
for (const load of loads) {
  const long = Array.from({ length: Math.ceil(replications / 3) }, (_, seed) =>
    engineRun(load * capacity, 10_000, `${load}/${seed}/long`),
  )
  // The truth is the percentile of all long runs together.
  const pools = Object.fromEntries(
    ['ttft', 'e2e'].map((metric) => [metric, sortAscending(long.flatMap((run) => Array.from(run[metric])))]),
  )
  for (const n of [500, 2000, 10_000]) {
    const runs =
      n === 10_000
        ? long
        : Array.from({ length: replications }, (_, seed) =>
            engineRun(load * capacity, n, `${load}/${seed}/${n}`),
          )
    for (const metric of ['ttft', 'e2e']) {
      for (const level of levels) {
        const truth = percentile(pools[metric], level)
        cell(
          `engine ${metric.toUpperCase()}`,
          load,
          n,
          level,
          runs.map((run) => tryInterval(run[metric], level, truth)),
        )
      }
    }
  }
}

/** Share of the intervals that hold, by independent tail events; the worst cell with at least 30 intervals beside it. */
const byClusters = bins.map((from, i) => {
  const to = bins[i + 1] ?? Number.POSITIVE_INFINITY
  const inBin = (one) => one.clusters >= from && one.clusters < to
  const all = cells.flatMap(({ tries }) => tries.filter(inBin))
  const worst = cells
    .map((one) => ({ ...one, inside: one.tries.filter(inBin) }))
    .filter(({ inside }) => inside.length >= 30)
    .map((one) => ({
      ...one,
      share: one.inside.filter(({ corrected }) => corrected).length / one.inside.length,
    }))
    .sort((a, b) => a.share - b.share)[0]
  return {
    from,
    to,
    n: all.length,
    share: all.filter(({ corrected }) => corrected).length / all.length,
    worst,
  }
})

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
    const levelsOf = Array.from({ length: runs }, () => (paired ? Math.exp(0.1 * standardNormal(random)) : 1))
    const [a, b] = [0, 1].map(() => levelsOf.map((level) => aRun(random, correlation, 200, 0.03, 20 * level)))
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
  console.log(
    `${name}: ${pct(different / trials)} called different, ${pct(pooled / trials)} if requests are pooled`,
  )
}

writeFileSync(new URL('../docs/calibration.md', import.meta.url), page())
console.log('docs/calibration.md: written')

function pct(share) {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`
}

/** The regimes in which even what is shown holds too seldom. */
function doubtful() {
  const low = cells.filter((one) => one.gated < 0.8 && one.given * one.runs >= 30)
  if (low.length === 0) return []
  return [
    '',
    `Shown, and under 80 % all the same: ${low.map((one) => `${one.system} at ${pct(one.load)}, n ${one.n.toLocaleString('en')}, P${one.level} (${pct(one.gated)})`).join('; ')}.`,
    'These are runs of seconds near saturation, shorter than the swings of their own queue: nothing inside such a run tells how long those',
    'are. Their intervals say "within-run", and only runs of minutes, or several runs, say more.',
  ]
}

function page() {
  const lines = [
    '# Calibration',
    '',
    'What the intervals and verdicts of plimsoll are worth, measured. `node bench/calibration.mjs` writes this page; it is seeded, so',
    'it says the same on every machine.',
    '',
    '## Within-run intervals of a percentile',
    '',
    'Nominal 95 %. The interval takes the ranks of floor(n_eff) independent values, n_eff = n ÷ τ, τ the autocorrelation time',
    `of the indicator "above the estimate", by Sokal's window and by batch means, whichever is larger. ${replications} runs a cell (a third of that for 10,000 requests of the engine). "Independent values": what it would be`,
    'without the correction. The engine is the `demo` preset in virtual time, Poisson arrivals at a share of its best throughput',
    `(${capacity.toFixed(0)} requests/s of 64–448 prompt and 16–112 answer tokens); its truth is the percentile of all its runs of 10,000 together.`,
    '',
    '| system | load | n | percentile | tail events | τ | bias | holds | shown in | **shown: holds** | independent values hold |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...cells.map(
      (one) =>
        `| ${one.system} | ${pct(one.load)} | ${one.n.toLocaleString('en')} | P${one.level} | ${one.clusters.toFixed(1)} | ${one.tau.toFixed(1)} | ${(100 * one.bias).toFixed(1)} % | ${pct(one.corrected)} | ${pct(one.given)} | **${pct(one.gated)}** | ${pct(one.naive)} |`,
    ),
    '',
    '"Tail events" are independent events on the rarer side of the percentile, n_eff·min(p, 1 − p), median over the runs. "Holds": of the',
    `runs in which both ends exist. "Shown in": runs with at least ${tailClustersForInterval} tail events, which alone get an interval; "shown: holds": of those.`,
    ...doubtful(),
    '',
    '### By independent tail events',
    '',
    'A run does not know its load; it knows how many independent tail events it holds. All cells together:',
    '',
    '| independent tail events | intervals | hold | worst cell | shown |',
    '| --- | --- | --- | --- | --- |',
    ...byClusters.map(
      ({ from, to, n, share, worst }) =>
        `| ${to === Number.POSITIVE_INFINITY ? `${from} and more` : `${from}–${to}`} | ${n.toLocaleString('en')} | ${pct(share)} | ${worst === undefined ? '–' : `${pct(worst.share)} (${worst.system} at ${pct(worst.load)}, n ${worst.n.toLocaleString('en')}, P${worst.level})`} | ${from >= tailClustersForInterval ? 'yes' : 'no'} |`,
    ),
    '',
    'An interval is shown only where it was measured to hold at least 80 %, and from ten tail events on, below which the worst cells are',
    'far under that: `src/stats/coverage.ts` has these figures. In every regime the better interval is that of several runs: t over the',
    'percentiles of runs.',
    '',
    '## A against A',
    '',
    'Both arms are the same system: runs of 200 requests with lag-1 correlation 0.9 whose level varies by 3 % from run to run (in pairs a',
    `seed moves both by 10 %). Of ${aa[0].trials.toLocaleString('en')} comparisons at a 5 % level, so many were called different, and worse:`,
    '',
    '| design | called different | called worse | if requests were pooled |',
    '| --- | --- | --- | --- |',
    ...aa.map(
      ({ name, trials, different, regressions, pooled }) =>
        `| ${name} | ${pct(different / trials)} | ${pct(regressions / trials)} | ${pct(pooled / trials)} |`,
    ),
    '',
    'Exactly 5 % would be 100 of 2,000; 71 to 129 are within what chance does to it (99.8 %).',
    '',
  ]
  return lines.join('\n')
}
