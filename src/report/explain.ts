import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  formatSpan,
} from '../base/units.ts'
import type { MetricSummary } from '../measure/metrics/run-summary.ts'
import { runCalculations, sweepCalculations } from './calculation-lines.ts'
import { coverageWords } from './coverage-note.ts'
import type { RunDocument, SweepDocument } from './documents.ts'
import { limitOn } from './judged-limits.ts'
import {
  figure,
  figureFormat,
  intervalText,
  metricLabels,
  percentileName,
  percentileOf,
  shownMetrics,
} from './metric-rows.ts'
import { milliseconds, requestRate } from './run-lines.ts'

/**
 * The working of the headline figures as on a whiteboard: the formula, the numbers put in, the result. Formulae are those of the
 * words in docs/words.md.
 */
export function explainRun(document: RunDocument): string[] {
  return [
    '  the working',
    ...indent([
      ...workedTpot(document),
      ...tails(document),
      ...weightings(document),
      ...rates(document),
      ...shares(document),
      ...little(document),
      ...lag(document),
    ]),
    ...tryYourself(runCalculations(document)),
  ]
}

/** Command lines that work the same figures out, to change a number and see. */
function tryYourself(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['  by hand', ...indent([...lines])]
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`)
}

function workedTpot({ worked }: RunDocument): string[] {
  if (worked === null) return []
  const gaps = worked.completion_tokens - 1
  return [
    `TPOT of a request = (E2E − TTFT) ÷ (N − 1)`,
    `  the median one, ${worked.id}: (${formatDuration(worked.e2e_ms)} − ${formatDuration(worked.ttft_ms)}) ÷ (${formatCount(worked.completion_tokens)} − 1) = ${formatDuration(worked.e2e_ms - worked.ttft_ms)} ÷ ${formatCount(gaps)} = ${formatDuration(worked.tpot_ms)}`,
  ]
}

/** Nearest rank (Hyndman and Fan's type 1) in whole numbers: ceil(p·n), never by floats. */
export function rankOf(n: number, key: string): bigint {
  const [whole = '', fraction = ''] = key.slice(1).split('_')
  const numerator = BigInt(n) * BigInt(whole + fraction)
  const denominator = 100n * 10n ** BigInt(fraction.length)
  const rank = (numerator + denominator - 1n) / denominator
  return rank < 1n ? 1n : rank
}

function tails({ metrics }: RunDocument): string[] {
  const lines: string[] = []
  for (const name of shownMetrics(metrics)) {
    const summary = metrics[name]
    const value = summary === undefined ? null : percentileOf(summary, 'p99')
    if (summary === undefined || value === null) continue
    const rank = formatCount(Number(rankOf(summary.n, 'p99')))
    const format = figureFormat(summary)
    const interval = summary.ci['p99']
    const effective =
      interval === undefined
        ? `; no interval: ${summary.why['p99'] ?? 'too few'}`
        : summary.n_eff === null
          ? ''
          : `; worth ${formatNumber(summary.n_eff)} independent ones, hence ${intervalText(interval, format)}${worthOf(summary)}`
    lines.push(
      `${metricLabels[name] ?? name} ${percentileName('p99')} = value no. ceil(0.99 × ${formatCount(summary.n)}) = ${rank} from below = ${figure(value, format)}${effective}`,
    )
  }
  return lines
}

function worthOf({ ci_coverage: coverage }: MetricSummary): string {
  const known = coverage?.['p99']
  return known === undefined ? '' : `: ${coverageWords([known])}`
}

function weightings({ weighting, metrics }: RunDocument): string[] {
  const summary = metrics.tpot_ms
  if (summary === undefined || weighting.per_request === null || weighting.per_token === null) return []
  const format = figureFormat(summary)
  return [
    `typical user = Σ TPOT ÷ requests, over ${formatCount(summary.n)} = ${figure(weighting.per_request, format)}`,
    `typical token = Σ (E2E − TTFT) ÷ Σ (N − 1), over the same = ${figure(weighting.per_token, format)}`,
  ]
}

function rates(document: RunDocument): string[] {
  const { throughput } = document
  const { window_s: seconds, requests_per_s: requests, output_tokens_per_s: tokens } = throughput
  const lines: string[] = []
  const over = `${formatPlain(seconds, 6)} s`
  if (requests !== null) {
    const how = 'throughput = finished in the window ÷ its length'
    const why = requestRate(document)?.why ?? null
    lines.push(
      why === null
        ? `${how} = ${formatNumber(requests * seconds)} ÷ ${over} = ${formatPlain(requests)} req/s`
        : `${how}: ${why}`,
    )
  }
  if (tokens !== null) {
    lines.push(
      `output = tokens emitted in the window ÷ its length = ${formatNumber(tokens * seconds)} ÷ ${over} = ${formatNumber(tokens)} tok/s`,
    )
  }
  return lines
}

function shares({ goodput, throughput }: RunDocument): string[] {
  if (goodput === null || goodput.per_s === null || goodput.share === null) return []
  return [
    `goodput = ok and within ${goodput.objective}, jointly = ${formatCount(goodput.good)} ÷ ${formatPlain(throughput.window_s, 6)} s = ${formatPlain(goodput.per_s)} req/s`,
    `  its share = ${formatCount(goodput.good)} ÷ ${formatCount(goodput.attempts)} ${noun(goodput.attempts, 'attempt')} = ${formatPercent(goodput.share)}; refusals and failures are bad${goodput.lower_bound ? `, and ${formatCount(goodput.unknown)} unknown ones count as such: a lower end` : ''}`,
  ]
}

function little({ little }: RunDocument): string[] {
  if (little === null) return []
  const product = little.arrival_per_s * little.time_in_system_s
  return [
    `in flight L = λ × W = ${formatPlain(little.arrival_per_s)}/s × ${formatDuration(little.time_in_system_s * 1000)} = ${formatPlain(product)}; counted directly ${formatPlain(little.in_flight_mean)}`,
  ]
}

function lag({ client, load, window }: RunDocument): string[] {
  const { p99 } = client.lag_ms
  if (p99 === null) return []
  const from = load.open_loop ? 'the schedule says so' : 'a user becomes free'
  return [
    `load: ${load.text}`,
    `latencies count from the intended send: when ${from}; lag = sent − intended, p99 ${milliseconds(p99)}`,
    `the window holds the requests meant to be sent in its ${formatSpan(window.measure_s * 1000)}; ${formatSpan(window.drain_s * 1000)} were allowed for their answers`,
  ]
}

/** The working of a sweep: where each wall is from, and the least of them. */
export function explainSweep(document: SweepDocument): string[] {
  const { walls, capacity, peak, points } = document
  const lines = ['  the working']
  const add = (line: string): void => void lines.push(`    ${line}`)
  if (peak !== null) {
    const limit = peak.output_tokens_per_s * 0.95
    add(
      `saturation = least load with at least 95 % of the best: 0.95 × ${formatNumber(peak.output_tokens_per_s)} = ${formatNumber(limit)} tok/s: ${walls.saturation === null ? walls.why.saturation : formatCount(walls.saturation.load)}`,
    )
  }
  add(
    `SLO = last load before the first that fails: ${walls.slo === null ? walls.why.slo : formatCount(walls.slo.load)}`,
  )
  if (walls.memory === null)
    add(`memory = KV pool ÷ tokens a request holds when it ends: ${walls.why.memory}`)
  else {
    const { kv_tokens: pool, tokens_per_request: each, load } = walls.memory
    add(
      `memory = floor(KV pool ÷ tokens a request holds when it ends) = floor(${formatCount(pool)} ÷ ${formatCount(each)}) = ${formatCount(load)} in flight`,
    )
  }
  const reached = (['saturation', 'slo', 'memory'] as const).flatMap((kind) => {
    const wall = walls[kind]
    return wall === null ? [] : [`${wallNames[kind]} ${formatCount(wall.load)}`]
  })
  if (reached.length > 0 && capacity.load !== null) {
    add(
      `capacity = largest tested load on or under min(${reached.join(', ')}) = ${formatCount(capacity.load)}`,
    )
  }
  const tested = points.map((point) => formatPlain(point.load.value))
  add(`tested: ${tested.join(', ')}`)
  const floor = tokensPerUser(document)
  if (floor !== null) add(floor)
  return [...lines, ...tryYourself(sweepCalculations(document))]
}

export const wallNames = { saturation: 'saturation', slo: 'SLO', memory: 'memory' } as const

/** A TPOT limit is a floor of tokens per second for one user: 10 ms ↔ 100 tok/s. */
function tokensPerUser({ objective }: SweepDocument): string | null {
  const limit = limitOn(objective, 'tpot')?.limitMs ?? 0
  return limit > 0
    ? `TPOT ≤ ${formatPlain(limit)} ms ↔ a floor of 1,000 ÷ ${formatPlain(limit)} = ${formatPlain(1000 / limit)} tok/s for each user`
    : null
}
