import { calculator, impossible, type Calculator, type Worked } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  rateFigure,
  rateText,
  shareFigure,
  shareText,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, optional, several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration, rate, share, type Quantity } from '../../stats/calculators/quantities.ts'
import { goodput } from '../metrics/goodput.ts'
import { goodputBounds, independentGoodput, jointShareBounds } from '../metrics/goodput-bounds.ts'
import { describeLimit } from '../metrics/objective.ts'
import { parseObjective } from '../metrics/parse-objective.ts'
import { unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { Rows } from '../record/rows.ts'

/** `300ms/20ms` is TTFT and TPOT, `200ms/-` an answer of one token, `429` or `timeout` no answer; `90x…` so many of them. */
const attempts: Reading<readonly RequestRow[]> = {
  placeholder: 'TTFT/TPOT',
  read(text, what) {
    const match = /^(?:(\d+)\s*[x×]\s*)?(.+)$/i.exec(text.trim())
    const times = match?.[1] === undefined ? 1 : count(1, 1_000_000).read(match[1], what)
    const row = attempt((match?.[2] ?? '').toLowerCase(), what, text)
    return Array.from({ length: times }, () => row)
  },
}

function attempt(text: string, what: string, all: string): RequestRow {
  if (/^(429|503|529|shed|refused)$/.test(text)) return { ...unsentRow, outcome: 'shed' }
  if (/^([1-5]\d\d|timeout|error|failed|reset)$/.test(text)) return { ...unsentRow, outcome: 'failed' }
  const [ttft, tpot, more] = text.split('/')
  if (ttft === undefined || tpot === undefined || more !== undefined) {
    throw impossible(
      `${what} cannot be read`,
      'TTFT/TPOT such as 300ms/20ms, 200ms/- for one token, 429 or timeout',
      all.trim() === '' ? 'nothing' : JSON.stringify(all),
    )
  }
  const single = tpot === '-' || tpot === ''
  return {
    ...unsentRow,
    outcome: 'ok',
    ok: true,
    ttft_ms: duration.read(ttft, what).value,
    tpot_ms: single ? null : duration.read(tpot, what).value,
    completion_tokens: single ? 1 : 2,
  }
}

export const goodputCalculator: Calculator = calculator({
  name: 'goodput',
  group: 'Objectives and alerts',
  brief: 'How many good requests a second, and what can separate shares say?',
  formula: 'goodput = requests that are ok and within every limit, jointly, ÷ time',
  inputs: {
    rate: optional(rate, 'offered requests', { bare: true, also: ['offered', 'arrivals'] }),
    success: assumed(share, '100%', 'share that was answered without fault', { bare: true, also: ['ok'] }),
    pass: several(share, 0, 'share of the answers that passes each limit', {
      bare: true,
      also: ['passes', 'within'],
    }),
    requests: several(attempts, 0, 'the requests themselves: TTFT/TPOT each, to count jointly', {
      also: ['attempts'],
    }),
    slo: assumed(
      { placeholder: 'OBJECTIVE', read: (text) => text },
      'ttft < 500ms and tpot < 30ms',
      'limits on the requests',
      {
        also: ['objective', 'limits'],
      },
    ),
    over: optional(duration, 'time in which the requests were sent', { also: ['window', 'duration'] }),
  },
  examples: [
    ['6/s 95% 90% 85%', 'a rate, the share that was answered, the share within each limit'],
    ['20/s 99% 97% 96% 98%', 'three limits'],
    [
      "--requests 300ms/20ms,499ms/31ms,200ms/-,429,timeout --slo 'ttft < 500ms and tpot < 30ms' --over 2s",
      'counted request by request',
    ],
  ],
  work({ rate: offered, success, pass, requests, slo, over }) {
    if (requests.length > 0) return counted(requests.flat(), slo, over)
    if (offered === null)
      throw impossible('a rate is missing', '--rate RATE --success SHARE --pass SHARE…, or --requests …')
    if (pass.length === 0)
      throw impossible('no limit is said', '--pass SHARE… : what passes each limit', 'nothing')
    const shares = pass.map(({ value }) => value)
    const joint = jointShareBounds(shares)
    const bounds = goodputBounds(offered.value, success.value, shares)
    const product = independentGoodput(offered.value, success.value, shares)
    const one = shares.length === 1
    const list = pass.map(({ value }) => shareText(value)).join(' × ')
    return {
      answer: one
        ? `${rateText(product)} good, ${shareText(product / offered.value || 0)} of what was offered`
        : `between ${rateText(bounds.low)} and ${rateText(bounds.high)} good; ${rateText(product)} (${offered.value === 0 ? 'none' : shareText(product / offered.value)}) if the limits failed independently`,
      results: {
        goodput_low: rateFigure(bounds.low),
        goodput_high: rateFigure(bounds.high),
        if_independent: rateFigure(product),
        if_independent_share: shareFigure(
          offered.value === 0 ? null : product / offered.value,
          'none: nothing was offered',
        ),
        joint_low: shareFigure(joint.low),
        joint_high: shareFigure(joint.high),
      },
      working: [
        `if independent: ${rateText(offered.value)} × ${shareText(success.value)} × ${list} = ${rateText(product)}`,
        ...(one
          ? []
          : [
              `the share within all of them is anywhere from max(0, Σ − ${plain(shares.length - 1)}) = ${shareText(joint.low)} to min = ${shareText(joint.high)}`,
              `so goodput is anywhere in ${rateText(offered.value)} × ${shareText(success.value)} × [${shareText(joint.low)}, ${shareText(joint.high)}] = [${rateText(bounds.low)}, ${rateText(bounds.high)}]`,
            ]),
      ],
      assumptions: ['the shares are of the answered requests', 'refusals and failures are bad'],
      mistake: one
        ? null
        : `multiplying the shares assumes that the same request is not slow twice; it usually is, and then ${rateText(bounds.high)} is nearer`,
      next: ["plimsoll run --slo 'ttft < 500ms and tpot < 30ms'"],
    }
  },
})

function counted(rows: Rows, slo: string, over: Quantity | null): Worked {
  const objective = parseObjective(slo, '--slo')
  if (over !== null && over.value === 0) throw impossible('a window takes time', '--over above 0', '0')
  const found = goodput(rows, { startMs: 0, endMs: over?.value ?? 0 }, objective)
  if (objective.each.length === 0) {
    throw impossible('no limit on a request', "limits such as 'ttft < 500ms and tpot < 30ms'", slo)
  }
  const limits = objective.each.map(describeLimit).join(' and ')
  const per = over === null ? null : found.per_s
  const results: Record<string, Figure> = {
    goodput: rateFigure(per, '', 'none: --over is not said'),
    share: shareFigure(found.share, 'none: no request'),
    good: countFigure(found.good, 'requests'),
    attempts: countFigure(found.attempts, 'requests'),
    failed_twice: countFigure(found.failed_twice, 'requests'),
    one_token: countFigure(found.vacuous_tpot, 'requests'),
  }
  const failed = Object.entries(found.failed_by).map(([why, n]) => `${plain(n)} ${why}`)
  return {
    answer: `${plain(found.good)} of ${plain(found.attempts)} are good${found.share === null ? '' : ` (${shareText(found.share)})`}${per === null ? '' : `, ${rateText(per)}`}`,
    results,
    working: [
      `good = ok and ${limits}, each request by all limits at once: ${plain(found.good)}`,
      ...(failed.length === 0
        ? []
        : [
            `bad for: ${failed.join(', ')}${found.failed_twice > 0 ? ` (${plain(found.failed_twice)} twice)` : ''}`,
          ]),
      ...(found.vacuous_tpot > 0
        ? [`${plain(found.vacuous_tpot)} of one token pass a TPOT limit without having a TPOT`]
        : []),
      ...(per === null || over === null
        ? []
        : [`goodput = ${plain(found.good)} ÷ ${timeText(over.value)} = ${rateText(per)}`]),
    ],
    assumptions: ['"< 500ms" is not met by 500 ms', 'refusals and failures are bad'],
    mistake: 'dividing by the answered requests instead of all attempts makes shedding look like speed',
    next: [`plimsoll run --slo '${limits}'`],
  }
}
