import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  plain,
  seconds,
  shareFigure,
  shareText,
  timesFigure,
  timesLike,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { needed, optional, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration } from '../../stats/calculators/quantities.ts'
import { decomposeLatency, endToEndMs, type LatencyParts } from '../../measure/metrics/decompose-latency.ts'
import { lengthConfounded } from '../traps.ts'

/** A whole request in one text: `0.3s,20ms,85`. */
const requestParts: Reading<LatencyParts> = {
  placeholder: 'TTFT,TPOT,N',
  read(text, what) {
    const [ttft, tpot, tokens, more] = text.split(/[,/]/)
    if (ttft === undefined || tpot === undefined || tokens === undefined || more !== undefined) {
      throw impossible(
        `${what} cannot be read`,
        'TTFT, TPOT and tokens such as 0.3s,20ms,85',
        JSON.stringify(text),
      )
    }
    return {
      ttftMs: duration.read(ttft, what).value,
      tpotMs: duration.read(tpot, what).value,
      outputTokens: count(1).read(tokens, what),
    }
  },
}

export const latencyCalculator: Calculator = calculator({
  name: 'latency',
  group: 'One request',
  brief: 'Is a request slow, or only long?',
  formula: 'E2E = TTFT + TPOT × (N − 1); ΔE2E = ΔTTFT + ΔTPOT × mean(N − 1) + mean(TPOT) × ΔN',
  inputs: {
    ttft: needed(duration, 'time to the first token', { bare: true, also: ['first'] }),
    tpot: needed(duration, 'time per output token after it', { bare: true, also: ['itl', 'pace'] }),
    tokens: needed(count(1), 'output tokens N', { bare: true, also: ['n', 'output', 'completion-tokens'] }),
    than: optional(requestParts, 'another request to compare with', { also: ['versus', 'vs', 'other'] }),
  },
  examples: [
    ['0.3s 20ms 400', 'how long the whole answer takes'],
    ['0.3s 20ms 400 --than 0.3s,20ms,85', 'why one takes four times as long as the other'],
    ['0.5s 25ms 301 --than 0.3s,20ms,201', 'slower to start, slower to run, and longer'],
  ],
  work({ ttft, tpot, tokens, than }) {
    const first: LatencyParts = { ttftMs: ttft.value, tpotMs: tpot.value, outputTokens: tokens }
    const total = endToEndMs(first)
    const results: Record<string, Figure> = { e2e: seconds(total) }
    const working = [sum('E2E', first)]
    const naive = (parts: LatencyParts): number => endToEndMs(parts) / parts.outputTokens
    if (than === null) {
      return {
        answer: `E2E ${timeText(total)}`,
        results,
        working,
        assumptions,
        mistake: `E2E ÷ N = ${timeText(naive(first))} is not the pace: it spreads the ${timeText(ttft.value)} of the first token over the rest`,
        next: ['plimsoll calc tpot', 'plimsoll why'],
      }
    }
    const other = endToEndMs(than)
    const parts = decomposeLatency(first, than)
    const t = timesLike(Math.max(Math.abs(parts.totalMs), Math.abs(parts.lengthMs)))
    Object.assign(results, {
      other_e2e: seconds(other),
      ratio: timesFigure(total / other),
      difference: seconds(parts.totalMs),
      from_ttft: seconds(parts.ttftMs),
      from_tpot: seconds(parts.tpotMs),
      from_length: seconds(parts.lengthMs),
      length_share: shareFigure(
        parts.totalMs === 0 ? null : parts.lengthMs / parts.totalMs,
        'none: they are equal',
      ),
    })
    working.push(
      sum('the other', than),
      `${timeText(total)} ÷ ${timeText(other)} = ${plain(total / other, 4)}x`,
      `${t(parts.totalMs)} between them = ${t(parts.ttftMs)} TTFT + ${t(parts.tpotMs)} TPOT + ${t(parts.lengthMs)} length`,
    )
    return {
      answer: cause(total, other, parts),
      results,
      working,
      assumptions: [
        ...assumptions,
        'each cause is taken at the mean of the other two, so that the order does not matter',
      ],
      mistake: `E2E ÷ N says ${timeText(naive(first))} against ${timeText(naive(than))} (${plain(naive(than) / naive(first), 4)}x), where the paces are ${timeText(first.tpotMs ?? 0)} and ${timeText(than.tpotMs ?? 0)}: it charges the first token to short answers`,
      warnings: [lengthConfounded(first, than).warning],
      next: ['plimsoll why', 'plimsoll compare A -- B'],
    }
  },
})

const assumptions = ['E2E ends at the last token', 'TPOT is the mean over the gaps of the request']

function sum(name: string, { ttftMs, tpotMs, outputTokens }: LatencyParts): string {
  const pace = tpotMs ?? 0
  return `${name} = TTFT + TPOT × (N − 1) = ${timeText(ttftMs)} + ${timeText(pace)} × ${plain(outputTokens - 1)} = ${timeText(endToEndMs({ ttftMs, tpotMs, outputTokens }))}`
}

function cause(total: number, other: number, parts: ReturnType<typeof decomposeLatency>): string {
  if (parts.totalMs === 0) return `both take ${timeText(total)}`
  const causes = (
    [
      ['length', parts.lengthMs],
      ['time to first token', parts.ttftMs],
      ['pace', parts.tpotMs],
    ] as const
  ).toSorted((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
  const [name, ms] = causes[0]!
  return `${plain(total / other, 2)}x as long, ${shareText(Math.min(1, Math.abs(ms / parts.totalMs)))} of the difference is ${name}`
}
