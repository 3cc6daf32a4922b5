import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { assumed, needed, optional, several } from '../../stats/calculators/inputs.ts'
import { count, duration, type Quantity } from '../../stats/calculators/quantities.ts'
import {
  milliseconds,
  plain,
  rateFigure,
  rateText,
  shareFigure,
  shareText,
  timesLike,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import type { Reading } from '../../stats/calculators/inputs.ts'
import { percentile } from '../../stats/percentile.ts'
import {
  streamPauses,
  tpotAfterFirstEventMs,
  tpotMs,
  tpotResolutionMs,
} from '../metrics/decompose-latency.ts'

/** `515ms`, or `99x15ms` for so many equal ones. */
const gapRun: Reading<readonly [number, Quantity]> = {
  placeholder: 'TIME|NxTIME',
  read(text, what) {
    const match = /^(\d+)\s*[x×]\s*(.+)$/i.exec(text.trim())
    return [
      match === null ? 1 : count(1, 1_000_000).read(match[1]!, what),
      duration.read(match?.[2] ?? text, what),
    ]
  },
}

export const tpotCalculator: Calculator = calculator({
  name: 'tpot',
  group: 'One request',
  brief: 'How fast did one stream run, whatever its length?',
  formula: 'TPOT = (E2E − TTFT) ÷ (N − 1)',
  inputs: {
    e2e: needed(duration, 'from the send to the last token', { bare: true, also: ['latency', 'total'] }),
    ttft: needed(duration, 'from the send to the first token', { bare: true, also: ['first'] }),
    tokens: needed(count(0), 'output tokens N', { bare: true, also: ['n', 'output', 'completion-tokens'] }),
    'first-tokens': assumed(count(1), '1', 'tokens that came with the first event', { also: ['k'] }),
    rounding: optional(duration, 'step in which the E2E was printed: 0.1s for 2.3 s', {
      also: ['resolution'],
    }),
    gaps: several(gapRun, 0, 'gaps of the stream, to see its pauses: 99x15ms,515ms'),
  },
  examples: [
    ['2.3s 0.3s 401', 'the formula on a whiteboard'],
    ['8.3s 0.3s 400 --rounding 0.1s', 'how far a printed E2E can be trusted'],
    ['2.9s 0.5s 100 --first-tokens 4', 'the first event carried four tokens'],
    ['2.3s 0.3s 101 --gaps 99x15ms,515ms', 'a mean of 20 ms that hides a pause of half a second'],
    ['0.45s 0.45s 1', 'one token has no pace'],
  ],
  work({ e2e, ttft, tokens, 'first-tokens': first, rounding, gaps }) {
    const t = timesLike(e2e.value)
    if (e2e.value < ttft.value) {
      throw impossible(
        'the last token cannot come before the first',
        `an E2E of at least the TTFT of ${t(ttft.value)}`,
        t(e2e.value),
      )
    }
    const value = tpotMs(e2e.value, ttft.value, tokens)
    const after = tpotAfterFirstEventMs(e2e.value, ttft.value, tokens, first)
    const results: Record<string, Figure> = {
      tpot: milliseconds(value, 'none: one token has no pace'),
      speed: rateFigure(value === null || value === 0 ? null : 1000 / value, 'tokens', 'none'),
    }
    const working: string[] = []
    if (value === null) {
      working.push(`TPOT = (E2E − TTFT) ÷ (N − 1): N = ${plain(tokens)} leaves no gap to divide by`)
      working.push('it counts as passing a TPOT limit and stays out of TPOT percentiles')
    } else {
      working.push(
        `TPOT = (E2E − TTFT) ÷ (N − 1) = (${t(e2e.value)} − ${t(ttft.value)}) ÷ (${plain(tokens)} − 1) = ${t(e2e.value - ttft.value)} ÷ ${plain(tokens - 1)} = ${timeText(value)}`,
      )
      if (value > 0)
        working.push(`1 ÷ ${timeText(value)} = ${rateText(1000 / value, 'tokens')} for this user`)
    }
    if (first > 1) {
      results['tpot_after_first_event'] = milliseconds(after, 'none: nothing came after the first event')
      working.push(
        `after the first event = (E2E − TTFT) ÷ (N − k) = ${t(e2e.value - ttft.value)} ÷ (${plain(tokens)} − ${plain(first)}) = ${after === null ? 'none' : timeText(after)}`,
      )
    }
    if (rounding !== null) {
      const half = tpotResolutionMs(rounding.value / 2, tokens)
      results['resolution'] = milliseconds(half, 'none')
      if (half !== null) {
        working.push(
          `± ${timeText(rounding.value / 2)} of the printed E2E is ± ${timeText(half)} of the TPOT`,
        )
      }
    }
    Object.assign(results, pauses(gaps, working))
    return {
      answer: value === null ? 'No TPOT: one token has no pace.' : `TPOT ${timeText(value)}`,
      results,
      working,
      assumptions: [
        'E2E ends at the last token, not at [DONE] or the usage event',
        'N is the completion tokens of the usage, not the number of events',
      ],
      mistake:
        tokens < 1 || e2e.value <= ttft.value
          ? null
          : `÷ N gives ${timeText((e2e.value - ttft.value) / tokens)}; E2E ÷ N gives ${timeText(e2e.value / tokens)} and makes short answers look slow`,
      next: ['plimsoll calc latency', 'plimsoll calc weighting'],
    }
  },
})

function pauses(runs: readonly (readonly [number, Quantity])[], working: string[]): Record<string, Figure> {
  if (runs.length === 0) return {}
  const gaps = runs.flatMap(([times, gap]) => Array.from({ length: times }, () => gap.value))
  const sorted = Float64Array.from(gaps).sort()
  const found = streamPauses(gaps)
  if (found === null) return {}
  const p95 = percentile(sorted, '95')
  const p99 = percentile(sorted, '99')
  working.push(
    `gaps: mean ${timeText(found.meanMs)}, p95 ${timeText(p95 ?? 0)}, p99 ${timeText(p99 ?? 0)} (value no. ceil(0.99 × ${plain(gaps.length)})), longest ${timeText(found.maxMs)}`,
    `the longest gap is ${shareText(found.worstShare)} of the stream's time: 95 % of the time has passed in gaps of ${timeText(found.timeWeightedP95Ms)}`,
  )
  return {
    gap_mean: milliseconds(found.meanMs),
    gap_p95: milliseconds(p95),
    gap_p99: milliseconds(p99),
    gap_p99_interpolated: milliseconds(percentile(sorted, '99', '7')),
    gap_max: milliseconds(found.maxMs),
    longest_gap_share: shareFigure(found.worstShare),
    gap_p95_of_time: milliseconds(found.timeWeightedP95Ms),
  }
}
