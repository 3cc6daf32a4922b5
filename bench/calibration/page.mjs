// docs/calibration.md, from what was measured.
import {
  leastCoverage,
  swingsForInterval,
  swingsNeeded,
  tailClustersForInterval,
} from '../../dist/stats/index.js'

const bins = [0, 3, 5, 10, 15, 20, 30, 50, 100]
/** A regime in which fewer runs get an interval than this says little about what is shown. */
const fewShown = 30

function pct(share) {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`
}

const named = (one) => `${one.system} at ${one.load}, n ${one.n.toLocaleString('en')}, P${one.level}`

/**
 * Share of the intervals of runs with swings enough that hold, by independent tail events; and the worst regime of those whose runs have
 * typically so many, as it is shown.
 */
function byClusters(cells) {
  return bins.map((from, i) => {
    const to = bins[i + 1] ?? Number.POSITIVE_INFINITY
    const inBin = (one) => one.swung && one.clusters >= from && one.clusters < to
    const share = (tries) => tries.filter(({ corrected }) => corrected).length / tries.length
    const all = cells.flatMap(({ tries }) => tries.filter(inBin))
    // A regime at the edge is shown in the runs that have more than its median.
    const typical = ({ clusters }) => Math.max(tailClustersForInterval, clusters)
    const worst = cells
      .filter((one) => one.shown >= fewShown && typical(one) >= from && typical(one) < to)
      .sort((a, b) => a.gated - b.gated)[0]
    return { from, to, n: all.length, share: share(all), worst }
  })
}

/** The lines of `measuredCoverage` in src/stats/coverage.ts. */
export function coverageTable(cells) {
  return byClusters(cells)
    .filter(({ n, worst }) => n > 0 && worst !== undefined)
    .map(
      ({ from, share, worst }) =>
        `  { fromTailEvents: ${from}, share: ${Number(share.toFixed(2))}, worst: ${Number(worst.gated.toFixed(2))} },\n`,
    )
    .join('')
}

/** The regimes in which what is shown holds too seldom. */
function doubtful(cells) {
  const low = cells.filter((one) => one.shown > 0 && one.gated < leastCoverage)
  const often = low.filter((one) => one.shown >= fewShown)
  const seldom = low.filter((one) => one.shown < fewShown && one.shown > 0.02 * one.runs)
  const list = (some) =>
    some.map((one) => `${named(one)} (${pct(one.gated)} of ${one.shown} in ${one.runs} runs)`).join('; ')
  return [
    often.length === 0
      ? `No regime in which at least ${fewShown} runs get an interval holds under ${pct(leastCoverage)}.`
      : `Shown, and under ${pct(leastCoverage)} all the same: ${list(often)}.`,
    ...(seldom.length === 0
      ? []
      : [`Where fewer get one, those are the runs that by chance met no congestion: ${list(seldom)}.`]),
  ]
}

/** One-sided upper ends, which decide objectives, by independent tail events. */
function upperEnds(cells) {
  return bins.map((from, i) => {
    const to = bins[i + 1] ?? Number.POSITIVE_INFINITY
    const inside = cells.flatMap(({ uppers }) =>
      uppers.filter(({ clusters }) => clusters >= from && clusters < to),
    )
    return { from, to, n: inside.length, share: inside.filter(({ upper }) => upper).length / inside.length }
  })
}

const range = (from, to) => (to === Number.POSITIVE_INFINITY ? `${from} and more` : `${from}–${to}`)

export function calibrationPage({ cells, replications, third, capacity, designs }) {
  const lines = [
    '# Calibration',
    '',
    'What the intervals and verdicts of plimsoll are worth, measured. `node bench/calibration.mjs` writes this page and the table in',
    '`src/stats/coverage.ts`; it is seeded, so it says the same on every machine.',
    '',
    '## Within-run intervals of a percentile',
    '',
    'Nominal 95 %. The interval takes the ranks of floor(n_eff) independent values, n_eff = n ÷ τ, τ the autocorrelation time of the',
    'indicator "above the estimate" by Sokal’s window or by the means of 10, 20 and 40 batches, whichever is largest; that of batches is',
    'multiplied by (t ÷ z)² of their degrees of freedom. Of gaps the sample are the requests. An interval is shown where',
    '',
    `- at least ${tailClustersForInterval} independent events lie on the rarer side of the percentile (n_eff·min(p, 1 − p)), and`,
    `- the load swung often enough: the requests in flight, as arrivals find them, hold at least 3 ÷ min(p, 1 − p) independent values, at most ${swingsForInterval} (P50: ${swingsNeeded('50')}, P90: ${Math.ceil(swingsNeeded('90'))}, P95 and above: ${swingsNeeded('95')}).`,
    '',
    'The second rule is for runs of seconds near saturation, shorter than the swings of their own queue: nothing inside their tail tells',
    'that it is missing, but the requests in flight tell how long a swing is.',
    '',
    `${replications} runs a cell (${third} of 10,000 requests of the engine, and of its gaps). "Independent values": what it would be without the correction.`,
    'The engine is the `demo` preset in virtual time, Poisson arrivals at a share of its best throughput',
    `(${capacity.toFixed(0)} requests/s of 64–448 prompt and 16–112 answer tokens), or users that each wait for their answer; its truth is the percentile of`,
    'all its long runs together (of all runs with gaps).',
    '',
    '| system | load | n | percentile | tail events | swings | τ | bias | holds | shown in | **shown: holds** | independent values hold |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...cells.map(
      (one) =>
        `| ${one.system} | ${one.load} | ${one.n.toLocaleString('en')} | P${one.level} | ${one.clusters.toFixed(1)} | ${one.swings.toFixed(0)} | ${one.tau.toFixed(1)} | ${(100 * one.bias).toFixed(1)} % | ${pct(one.corrected)} | ${pct(one.shown / one.runs)} | **${pct(one.gated)}** | ${pct(one.naive)} |`,
    ),
    '',
    '"Tail events" and "swings": median over the runs. "Holds": of the runs in which both ends exist. "Shown in": runs that get an',
    'interval by the two rules; "shown: holds": of those.',
    '',
    ...doubtful(cells),
    '',
    '### By independent tail events',
    '',
    'A run does not know its regime; it knows how many independent tail events it holds. All cells together, of the runs whose load swung',
    'often enough, and the worst regime whose runs typically hold so many (by its median): these are the figures beside the intervals of a',
    'report (`ci_coverage` in its JSON).',
    '',
    '| independent tail events | intervals | hold | worst regime | shown |',
    '| --- | --- | --- | --- | --- |',
    ...byClusters(cells).map(
      ({ from, to, n, share, worst }) =>
        `| ${range(from, to)} | ${n.toLocaleString('en')} | ${pct(share)} | ${worst === undefined ? '–' : `${pct(worst.gated)} (${named(worst)})`} | ${from >= tailClustersForInterval ? 'yes' : 'no'} |`,
    ),
    '',
    'Several runs say more in every regime: t over the percentiles of runs.',
    '',
    '### The end that decides an objective',
    '',
    'An objective is kept where the one-sided 95 % upper end of its percentile is within the limit. That end exists from 59 effective',
    'values on for a P95 and from 299 for a P99: fewer than the ten independent tail events of an interval. How often it held, all cells:',
    '',
    '| independent tail events | upper ends | hold |',
    '| --- | --- | --- |',
    ...upperEnds(cells).map(
      ({ from, to, n, share }) => `| ${range(from, to)} | ${n.toLocaleString('en')} | ${pct(share)} |`,
    ),
    '',
    'Under five tail events a kept objective is weak evidence near saturation; more requests, or the confirming run of a sweep, decide.',
    '',
    '## A against A',
    '',
    'Both arms are the same system: runs of 200 requests with lag-1 correlation 0.9 whose level varies by 3 % from run to run (in pairs a',
    `seed moves both by 10 %). Of ${designs[0].trials.toLocaleString('en')} comparisons at a 5 % level, so many were called different, and worse:`,
    '',
    '| design | called different | called worse | if requests were pooled |',
    '| --- | --- | --- | --- |',
    ...designs.map(
      ({ name, trials, different, regressions, pooled }) =>
        `| ${name} | ${pct(different / trials)} | ${pct(regressions / trials)} | ${pct(pooled / trials)} |`,
    ),
    '',
    'Exactly 5 % would be 100 of 2,000; 71 to 129 are within what chance does to it (99.8 %).',
    '',
  ]
  return lines.join('\n')
}
