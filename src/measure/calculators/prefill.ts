import { calculator, impossible, type Calculator, type Worked } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  milliseconds,
  numberFigure,
  plain,
  rateFigure,
  rateText,
  shareFigure,
  shareText,
  timeText,
  timesFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { optional, several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration, pair, rate, type Quantity } from '../../stats/calculators/quantities.ts'
import {
  fitPrefill,
  marginalPrefillRate,
  prefillMs,
  twoPointError,
  twoPointPrefill,
  type PrefillPoint,
} from '../metrics/prefill-line.ts'

const point: Reading<readonly [number, Quantity]> = pair(count(1), duration, 'TOKENS:TTFT')

export const prefillCalculator: Calculator = calculator({
  name: 'prefill',
  group: 'One request',
  brief: 'How fast are prompts read, and what does every request pay besides?',
  formula: 'rate = ΔL ÷ ΔTTFT; fixed = TTFT₁ − L₁ ÷ rate; three lengths and more: Theil–Sen',
  inputs: {
    points: several(point, 0, 'prompt length and TTFT', { bare: true, also: ['point'] }),
    error: optional(duration, 'standard error of each TTFT', { also: ['se'] }),
    at: optional(count(1), 'prompt length to work out', { also: ['tokens', 'length'] }),
    rate: optional(rate, 'a known prefill rate in tokens/s, instead of points', {
      also: ['tokens-per-second'],
    }),
    ttft: optional(duration, 'a TTFT at --at, to split by the known rate'),
  },
  examples: [
    ['256:23ms 8000:280ms', 'two lengths'],
    ['256:23ms 8000:280ms --error 1ms --at 256', 'how well they are known, and one prompt of it'],
    ['256:23ms 1024:49ms 2048:290ms 4096:151ms 8000:280ms', 'one wild point does not bend the line'],
    ['--rate 30000/s --at 256 --ttft 23ms', 'what of a TTFT is prefill'],
  ],
  work({ points: said, error, at, rate: known, ttft }) {
    if (said.length === 0) return split(known, at, ttft)
    const points: PrefillPoint[] = said.map(([promptTokens, time]) => ({ promptTokens, ttftMs: time.value }))
    const fit = fitPrefill(points)
    if (fit === null) {
      throw impossible(
        'one length cannot tell the rate from the fixed cost',
        'at least two different prompt lengths',
        `${points.length} of ${plain(points[0]!.promptTokens)} tokens`,
      )
    }
    const sorted = points.toSorted((a, b) => a.promptTokens - b.promptTokens)
    const [first, last] = [sorted[0]!, sorted.at(-1)!]
    const ends = twoPointPrefill(first, last)!
    const two = new Set(points.map(({ promptTokens }) => promptTokens)).size === 2 && points.length === 2
    const best = two ? ends : fit.robust
    const results: Record<string, Figure> = {
      rate: rateFigure(best.tokensPerSecond, 'tokens', 'none: TTFT does not grow with the prompt'),
      fixed: milliseconds(best.fixedMs),
    }
    const working: string[] = []
    const tokens = last.promptTokens - first.promptTokens
    if (two) {
      working.push(
        `rate = ΔL ÷ ΔTTFT = (${plain(last.promptTokens)} − ${plain(first.promptTokens)}) ÷ (${timeText(last.ttftMs)} − ${timeText(first.ttftMs)}) = ${plain(tokens)} ÷ ${timeText(last.ttftMs - first.ttftMs)} = ${ends.tokensPerSecond === null ? 'none' : rateText(ends.tokensPerSecond, 'tokens')}`,
      )
      if (ends.tokensPerSecond !== null) {
        working.push(
          `fixed = TTFT₁ − L₁ ÷ rate = ${timeText(first.ttftMs)} − ${timeText(prefillMs(first.promptTokens, ends.tokensPerSecond))} = ${timeText(ends.fixedMs)}`,
        )
      }
      results['delta_tokens'] = countFigure(tokens, 'tokens')
      results['delta_ttft'] = milliseconds(last.ttftMs - first.ttftMs)
    } else Object.assign(results, fitted(fit, working))
    if (error !== null) {
      const found = twoPointError(first, last, error.value)!
      results['fixed_se'] = milliseconds(found.fixedSeMs)
      results['rate_relative_se'] = shareFigure(found.rateRelativeSe, 'none: TTFT does not grow')
      results['slope_se'] = countFigure(found.slopeSeMsPerToken, 'ms/token')
      working.push(
        `± ${timeText(error.value)} at each end: rate ± ${found.rateRelativeSe === null ? 'unknown' : shareText(found.rateRelativeSe)}, fixed ± ${timeText(found.fixedSeMs)}`,
      )
    }
    if (at !== null && best.tokensPerSecond !== null) {
      const prefill = prefillMs(at, best.tokensPerSecond)
      results['prefill_at'] = milliseconds(prefill)
      results['ttft_at'] = milliseconds(prefill + best.fixedMs)
      working.push(
        `${plain(at)} tokens: ${plain(at)} ÷ ${rateText(best.tokensPerSecond, 'tokens')} = ${timeText(prefill)} of prefill, TTFT ${timeText(prefill + best.fixedMs)}`,
      )
    }
    if (fit.curve !== null) {
      for (const [key, length] of [
        ['marginal_at_0', 0],
        ['marginal_at_longest', last.promptTokens],
      ] as const) {
        results[key] = rateFigure(
          marginalPrefillRate(fit.curve, length),
          'tokens',
          'none: the curve falls there',
        )
      }
    }
    const naive = (1000 * first.promptTokens) / first.ttftMs
    const times = best.tokensPerSecond === null || naive === 0 ? null : best.tokensPerSecond / naive
    results['over_one_point'] = timesFigure(times, 'none')
    return {
      answer:
        best.tokensPerSecond === null
          ? 'No rate: TTFT does not grow with the prompt (a cache, or noise)'
          : `${rateText(best.tokensPerSecond, 'tokens')} of prefill, and ${timeText(best.fixedMs)} that every request pays`,
      results,
      working,
      assumptions: [
        'prompts that no cache has seen, one at a time',
        'TTFT grows in proportion to the prompt: attention bends it upwards, chunked prefill makes steps of it',
      ],
      mistake:
        first.ttftMs === 0 || times === null
          ? null
          : `${plain(first.promptTokens)} ÷ ${timeText(first.ttftMs)} = ${rateText(naive, 'tokens')} from one point is ${plain(times, 3)}x too low: it takes the fixed cost for prefill`,
      next: ['plimsoll prefill'],
    }
  },
})

function fitted(fit: NonNullable<ReturnType<typeof fitPrefill>>, working: string[]): Record<string, Figure> {
  const { robust, leastSquares } = fit
  const line = leastSquares.line
  working.push(
    `Theil–Sen: the median of the slopes between all pairs: ${robust.tokensPerSecond === null ? 'none' : rateText(robust.tokensPerSecond, 'tokens')}, fixed ${timeText(robust.fixedMs)}`,
    `least squares beside it: ${leastSquares.tokensPerSecond === null ? 'none' : rateText(leastSquares.tokensPerSecond, 'tokens')}${leastSquares.rateRelativeSe === null ? '' : ` ± ${shareText(leastSquares.rateRelativeSe)}`}, fixed ${timeText(leastSquares.fixedMs)}${line.interceptSe === null ? '' : ` ± ${timeText(line.interceptSe)}`}`,
  )
  return {
    least_squares_rate: rateFigure(leastSquares.tokensPerSecond, 'tokens', 'none: TTFT does not grow'),
    least_squares_fixed: milliseconds(leastSquares.fixedMs),
    least_squares_slope_se: countFigure(line.slopeSe, 'ms/token', 'none: too few points'),
    least_squares_fixed_se: milliseconds(line.interceptSe, 'none: too few points'),
    r2: numberFigure(line.r2),
  }
}

function split(known: Quantity | null, at: number | null, ttft: Quantity | null): Worked {
  if (known === null || at === null) {
    throw impossible(
      'points are missing',
      'TOKENS:TTFT of at least two prompt lengths, or --rate RATE --at TOKENS',
    )
  }
  if (known.value === 0) throw impossible('prompts are read at more than nothing', '--rate above 0', '0/s')
  const prefill = prefillMs(at, known.value)
  const results: Record<string, Figure> = { prefill_at: milliseconds(prefill) }
  const working = [
    `prefill = L ÷ rate = ${plain(at)} ÷ ${rateText(known.value, 'tokens')} = ${timeText(prefill)}`,
  ]
  if (ttft !== null) {
    results['fixed'] = milliseconds(ttft.value - prefill)
    working.push(
      `fixed = TTFT − prefill = ${timeText(ttft.value)} − ${timeText(prefill)} = ${timeText(ttft.value - prefill)}`,
    )
  }
  return {
    answer: `${timeText(prefill)} of prefill${ttft === null ? '' : `, ${timeText(ttft.value - prefill)} fixed`}`,
    results,
    working,
    assumptions: ['prompts that no cache has seen, one at a time'],
    mistake: ttft === null ? null : `${plain(at)} ÷ ${timeText(ttft.value)} would take all of it for prefill`,
    next: ['plimsoll prefill'],
  }
}
