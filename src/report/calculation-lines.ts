import { shellWord } from '../base/shell-words.ts'
import type { RunDocument, SweepDocument } from './documents.ts'
import { judgedLimits, shownTail } from './judged-limits.ts'
import { percentileOf } from './metric-rows.ts'

/** The figures of a run as lines for `plimsoll calc`, to copy, change and run. */
export function runCalculations(document: RunDocument): readonly string[] {
  const { worked, little, goodput, metrics } = document
  const lines: string[] = []
  if (worked !== null) {
    lines.push(`tpot ${number(worked.e2e_ms)}ms ${number(worked.ttft_ms)}ms ${worked.completion_tokens}`)
  }
  const summary = metrics.tpot_ms ?? metrics.ttft_ms
  if (summary !== undefined && summary.n > 0 && percentileOf(summary, 'p99') !== null) {
    const alike = summary.n_eff === null ? 1 : summary.n / summary.n_eff
    lines.push(`samples 99 ${summary.n}${alike > 1.05 ? ` --iact ${number(alike, 3)}` : ''}`)
  }
  if (little !== null && little.arrival_per_s > 0) {
    lines.push(`little ${number(little.arrival_per_s)}/s ${number(little.time_in_system_s)}s`)
  }
  if (goodput !== null && goodput.asked_share !== null && goodput.attempts > 0 && goodput.unknown === 0) {
    lines.push(
      `burn ${goodput.asked_share} --bad-count ${goodput.attempts - goodput.good} --total ${goodput.attempts}`,
    )
  }
  return lines.map((line) => `plimsoll calc ${line}`)
}

/** The same of a sweep: its walls, and the replicas for a peak of ten times the operating point. */
export function sweepCalculations(document: SweepDocument): readonly string[] {
  const { points, walls, objective, operating_point: point } = document
  const { run } = judgedLimits(objective)
  const limits = (['tpot', 'ttft'] as const).flatMap(
    (metric) => run.find((limit) => limit.metric === metric) ?? [],
  )
  const lines: string[] = []
  const tested = points.flatMap(({ load, throughput, metrics }) => {
    const tokens = throughput.output_tokens_per_s
    if (tokens === null) return []
    const times = (['tpot', 'ttft'] as const).map((metric) => {
      const summary = metrics[`${metric}_ms`]
      const ms = summary === undefined ? null : percentileOf(summary, shownTail(objective, metric))
      const asked = metric === 'tpot' || limits.some((limit) => limit.metric === metric)
      return ms === null || !asked ? '' : `${number(ms)}ms`
    })
    return [[number(load.value), number(tokens), ...times].join(':').replace(/:+$/, '')]
  })
  const isAnswered = points.some(({ throughput }) => (throughput.output_tokens_per_s ?? 0) > 0)
  if (isAnswered && points[0]?.load.kind === 'concurrency') {
    const flags = [
      ...limits.map(
        ({ metric, operator, limitText }) =>
          `--${metric} ${shellWord(operator === '<' ? `<${limitText}` : limitText)}`,
      ),
      ...(walls.memory === null
        ? []
        : [
            `--kv-tokens ${number(walls.memory.kv_tokens)} --request ${number(walls.memory.tokens_per_request)}`,
          ]),
    ]
    lines.push(['walls', ...tested, ...flags].join(' '))
  }
  if (point !== null && point.requests_per_s > 0) {
    const each = number(point.requests_per_s, 3)
    lines.push(`replicas ${number(10 * Number(each), 3)}/s ${each}/s derate:20% 1`)
  }
  return lines.map((line) => `plimsoll calc ${line}`)
}

/** Plain decimals, no exponent: what the calculators read. */
function number(value: number, figures = 6): string {
  const rounded = Number(value.toPrecision(figures))
  return rounded
    .toFixed(Math.min(12, Math.max(0, figures - 1 - Math.floor(Math.log10(Math.abs(rounded) || 1)))))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
}
