// How often intervals hold what they say, and how often A against A is called different; writes docs/calibration.md and the table in
// src/stats/coverage.ts.
//   node bench/calibration.mjs [replications=240]        needs `npm run build` first; about four minutes
// Everything is seeded: the same numbers on every machine.
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { percentile, sortAscending } from '../dist/stats/index.js'
import { calibrationPage, coverageTable } from './calibration/page.mjs'
import { sameAgainstSame } from './calibration/same-against-same.mjs'
import { closedRun, engineCapacity, mm1, openRun } from './calibration/systems.mjs'
import { tryPooled, tryValues } from './calibration/try-interval.mjs'

const replications = Number(process.argv[2] ?? 240)
const third = Math.ceil(replications / 3)
const loads = [0.5, 0.8, 0.9]
const users = [8, 32, 64]
const levels = ['50', '90', '95', '99']

const cells = []
function cell(system, load, n, level, tries) {
  const found = tries.filter((one) => one !== null)
  const bounded = found.filter((one) => one.corrected !== null)
  const shown = bounded.filter((one) => one.enough)
  const upper = found.filter((one) => one.upper !== null)
  const held = (list, key) => list.filter((one) => one[key]).length / list.length
  const middle = (list) => (list.length === 0 ? Number.NaN : percentile(sortAscending(list), '50'))
  cells.push({
    system,
    load,
    n,
    level,
    runs: tries.length,
    clusters: middle(found.map((one) => one.clusters)),
    swings: middle(found.map((one) => one.swings)),
    tau: middle(found.map((one) => one.tau)),
    bias: found.reduce((sum, one) => sum + one.relative, 0) / Math.max(1, found.length),
    shown: shown.length,
    corrected: held(bounded, 'corrected'),
    gated: held(shown, 'corrected'),
    naive: held(
      found.filter((one) => one.naive !== null),
      'naive',
    ),
    upper: { n: upper.length, share: held(upper, 'upper') },
    tries: bounded,
    uppers: upper,
  })
}

const times = (count, make) => Array.from({ length: count }, (_, seed) => make(seed))

for (const load of loads) {
  for (const n of [2000, 10_000]) {
    const runs = times(replications, (seed) => mm1(load, n, seed))
    for (const level of levels) {
      // M/M/1 times are exponential with mean 1 ÷ (1 − load).
      const truth = -Math.log(1 - Number(level) / 100) / (1 - load)
      cell(
        'M/M/1',
        `${100 * load} %`,
        n,
        level,
        runs.map((run) => tryValues(run.sojourn, level, truth, run.swings)),
      )
    }
  }
  console.log(`M/M/1 at ${100 * load} %`)
}

const capacity = engineCapacity()
console.log(`the engine finishes ${capacity.toFixed(1)} requests/s at most`)
/** @type {[string, (n: number, seed: number, gaps?: boolean) => any][]} */
const engines = [
  ...loads.map((load) => [
    `${100 * load} %`,
    (n, seed, gaps) => openRun(load * capacity, n, `${load}/${seed}/${n === 10_000 ? 'long' : n}`, gaps),
  ]),
  ...users.map((count) => [
    `${count} users`,
    (n, seed, gaps) => closedRun(count, n, `${count}/${seed}/${n}`, gaps),
  ]),
]
for (const [load, run] of engines) {
  const long = times(third, (seed) => run(10_000, seed))
  const lengths = [
    [500, times(replications, (seed) => run(500, seed))],
    [2000, times(replications, (seed) => run(2000, seed))],
    [10_000, long],
  ]
  for (const metric of ['ttft', 'e2e']) {
    // The truth is the percentile of all long runs together.
    const all = sortAscending(long.flatMap((one) => Array.from(one[metric])))
    for (const level of levels) {
      const truth = percentile(all, level)
      for (const [n, runs] of lengths) {
        const tries = runs.map((one) => tryValues(one[metric], level, truth, one.swings))
        cell(`engine ${metric.toUpperCase()}`, load, n, level, tries)
      }
    }
  }
  const withGaps = [500, 2000].map((n) => [n, times(third, (seed) => run(n, seed, true))])
  const all = sortAscending(withGaps.flatMap(([, runs]) => runs.flatMap(({ gaps }) => gaps.flat())))
  for (const level of levels) {
    const truth = percentile(all, level)
    for (const [n, runs] of withGaps) {
      const tries = runs.map((one) => tryPooled(one.gaps, level, truth, one.swings))
      cell('engine gaps', load, n, level, tries)
    }
  }
  console.log(`engine at ${load}`)
}

const page = calibrationPage({ cells, replications, third, capacity, designs: sameAgainstSame() })
writeFileSync(new URL('../docs/calibration.md', import.meta.url), page)
const source = new URL('../src/stats/coverage.ts', import.meta.url)
writeFileSync(
  source,
  readFileSync(source, 'utf8').replace(
    /(CoverageStep\[\] = \[\n)[^\]]*/,
    (_, head) => head + coverageTable(cells),
  ),
)
console.log('docs/calibration.md and src/stats/coverage.ts: written')
