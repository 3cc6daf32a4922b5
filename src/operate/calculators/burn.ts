import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator, type Worked } from '../../stats/calculators/calculator.ts'
import {
  days,
  minutes,
  none,
  numberFigure,
  plain,
  shareFigure,
  shareText,
  timeText,
  timesFigure,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, ratio, share } from '../../stats/calculators/quantities.ts'
import { rational, toNumber, type Rational } from '../../stats/rational.ts'
import { allowedBadShare } from '../slo/budget.ts'
import {
  budgetUsed,
  burnEvidence,
  burnOverWindow,
  burnRate,
  burnThreshold,
  daysLeft,
  exceeds,
  timeToDetect,
  type BurnRate,
} from '../slo/burn.ts'

export const burnCalculator: Calculator = calculator({
  name: 'burn',
  group: 'Objectives and alerts',
  brief: 'How fast is the error budget spent, and how long does it last?',
  formula: 'burn = bad share ÷ (1 − objective); days = period × what is left ÷ burn',
  inputs: {
    objective: needed(share, 'the objective', { bare: true, also: ['slo'] }),
    bad: optional(share, 'share of the requests that were bad', {
      bare: true,
      also: ['bad-ratio', 'errors', 'long'],
    }),
    'bad-count': optional(count(0), 'bad requests, with --total', { also: ['bad-requests'] }),
    total: optional(count(0), 'all requests, with --bad-count', { also: ['requests'] }),
    window: assumed(duration, '1h', 'over which the share was measured', { also: ['over'] }),
    period: assumed(duration, '30d', 'of the objective'),
    left: assumed(share, '100%', 'of the budget that is left', { also: ['remaining'] }),
    outage: optional(duration, 'the bad share lasted only so long: burn seen by windows', { also: ['for'] }),
    threshold: optional(ratio, 'burn at which an alert fires: how soon does it?', { also: ['at'] }),
    spend: optional(share, 'of the budget in one window: the burn that spends it'),
  },
  examples: [
    ['99.5% 3%', '3 % bad under an objective of 99.5 %'],
    ['99.5% --bad-count 83 --total 2778', 'counted: with what chance allows'],
    ['99.5% 3% --left 40%', 'most of the budget is gone already'],
    ['99.5% 100% --outage 2m --window 1h', 'two minutes of nothing but errors'],
    ['99.5% 100% --threshold 14.4', 'how soon an alert at 14.4x fires'],
    ['99.5% 3% --spend 2%', 'the burn that spends 2 % of the budget in the window'],
  ],
  work(i) {
    const allowed = allowedBadShare(i.objective.exact)
    const total = i.total ?? null
    const counted = i['bad-count'] !== null || total !== null
    if (counted && (i['bad-count'] === null || total === null)) {
      throw impossible('bad requests and all requests belong together', '--bad-count N --total N')
    }
    if (counted && i['bad-count']! > total!) {
      throw impossible(
        'more were bad than there were',
        `at most ${plain(total!)} bad`,
        plain(i['bad-count']!),
      )
    }
    if (i.bad === null && !counted) throw impossible('what was bad?', '--bad 3%, or --bad-count N --total N')
    const noTraffic = counted && total === 0
    const bad: Rational | null = noTraffic ? null : counted ? rational(i['bad-count']!, total!) : i.bad!.exact
    const results: Record<string, Figure> = {}
    const working: string[] = []
    const warnings: Warning[] = []
    if (bad === null) {
      const why = 'none: no traffic, and that is not a burn of 0'
      Object.assign(results, {
        burn: none('x', why),
        days_left: none('days', why),
        budget_used: none('share', why),
      })
      working.push('0 requests: the burn rate is not known')
      return finish('No burn rate: there was no traffic.', results, working, warnings, i)
    }
    const burn = burnRate(bad, i.objective.exact)
    Object.assign(results, describe(burn, bad, allowed, i, working))
    if (counted) evidence(i['bad-count']!, total!, i.objective.exact, results, working, warnings)
    if (i.outage !== null) outage(i.outage.exact, i.window.exact, bad, i.objective.exact, results, working)
    if (i.threshold !== null) {
      const found = timeToDetect(i.threshold.exact, i.objective.exact, i.window.exact, bad)
      results['detect'] = minutes(found, 'never: it stays under the threshold')
      results['over_threshold'] = wordFigure(exceeds(burn, i.threshold.exact, '>='))
      working.push(
        found === null
          ? `an alert at ${plain(i.threshold.exact)}x never fires: the burn stays under it`
          : `an alert at ${plain(i.threshold.exact)}x over ${timeText(i.window.exact)} fires after threshold × (1 − objective) × window ÷ bad = ${plain(i.threshold.exact)} × ${shareText(allowed)} × ${timeText(i.window.exact)} ÷ ${shareText(bad)} = ${timeText(found)}`,
      )
    }
    if (i.spend !== null) {
      const found = burnThreshold(i.spend.exact, i.window.exact, i.period.exact)
      results['spend_threshold'] = timesFigure(found)
      working.push(
        `to spend ${shareText(i.spend.exact)} of the budget in ${timeText(i.window.exact)}: share × period ÷ window = ${plain(found)}x`,
      )
    }
    const left = daysLeft(burn, i.period.exact, i.left.exact)
    const lasts = left === null ? 'lasts for ever' : `lasts ${timeText(left)}`
    const answer =
      burn.kind === 'infinite'
        ? 'infinite burn: an objective of 100 % has no budget, and it is gone'
        : `burn ${plain(burn.rate)}x · ${i.left.value < 1 ? 'what is left of ' : ''}the budget of ${timeText(i.period.exact)} ${lasts}`
    return finish(answer, results, working, warnings, i, inDoubles(bad, i.objective.exact, burn))
  },
})

type Values = {
  readonly objective: { readonly exact: Rational }
  readonly window: { readonly exact: Rational }
  readonly period: { readonly exact: Rational }
  readonly left: { readonly exact: Rational; readonly value: number }
}

function describe(
  burn: BurnRate,
  bad: Rational,
  allowed: Rational,
  i: Values,
  working: string[],
): Record<string, Figure> {
  const objective = `(100 % − ${shareText(i.objective.exact)})`
  if (burn.kind === 'infinite') {
    working.push(
      `burn = bad ÷ (1 − objective) = ${shareText(bad)} ÷ 0: an objective of 100 % has no budget, and one bad request spends it`,
    )
    return {
      burn: none('x', 'infinite: an objective of 100 % allows nothing bad'),
      days_left: days(rational(0n)),
      budget_used: none('share', 'more than there is'),
    }
  }
  const left = daysLeft(burn, i.period.exact, i.left.exact)
  const used = budgetUsed(burn.rate, i.window.exact, i.period.exact)
  working.push(
    allowed.num === 0n
      ? 'nothing was bad: the burn is 0, whatever the objective'
      : `burn = bad ÷ (1 − objective) = ${shareText(bad)} ÷ ${objective} = ${plain(burn.rate)}x`,
  )
  working.push(
    left === null
      ? 'at a burn of 0 the budget lasts for ever'
      : `at this rate it lasts period${i.left.value < 1 ? ' × what is left' : ''} ÷ burn = ${timeText(i.period.exact)}${i.left.value < 1 ? ` × ${shareText(i.left.exact)}` : ''} ÷ ${plain(burn.rate)} = ${timeText(left)}`,
    `this window cost burn × window ÷ period = ${plain(burn.rate)} × ${timeText(i.window.exact)} ÷ ${timeText(i.period.exact)} = ${shareText(used)} of it`,
  )
  return {
    burn: timesFigure(burn.rate),
    days_left: days(left, 'for ever: nothing burns'),
    budget_used: shareFigure(used),
  }
}

function evidence(
  bad: number,
  total: number,
  objective: Rational,
  results: Record<string, Figure>,
  working: string[],
  warnings: Warning[],
): void {
  const found = burnEvidence(bad, total, objective)
  if (found === null) return
  const [low, high] = found.ratio
  results['bad_low'] = shareFigure(low)
  results['bad_high'] = shareFigure(high)
  results['burn_low'] = timesFigure(found.burnInterval?.[0] ?? null, 'infinite')
  results['burn_high'] = timesFigure(found.burnInterval?.[1] ?? null, 'infinite')
  results['exact_low'] = shareFigure(found.exactLow)
  results['significant'] = wordFigure(found.significant)
  results['chance_of_any'] = shareFigure(found.chanceOfAny)
  working.push(
    `${plain(bad)} of ${plain(total)}: 95 % interval of the share (Wilson) [${shareText(low)}, ${shareText(high)}]${found.burnInterval === null ? '' : `, of the burn [${plain(found.burnInterval[0], 3)}, ${plain(found.burnInterval[1], 3)}]`}`,
    `exact lower end (Clopper–Pearson) ${shareText(found.exactLow)}: ${found.significant ? 'above' : 'not above'} what is allowed`,
  )
  if (!found.significant && bad > 0) {
    warnings.push({
      kind: 'few_samples',
      message: `${plain(bad)} bad of ${plain(total)} may be chance: with the objective just met, at least one is bad ${shareText(found.chanceOfAny)} of the time`,
      cause: 'too little traffic in the window',
      next: 'do not page on it; a longer window, or a least number of requests',
      evidence: { bad, total, exact_low: found.exactLow },
    })
  }
}

function outage(
  lasted: Rational,
  window: Rational,
  bad: Rational,
  objective: Rational,
  results: Record<string, Figure>,
  working: string[],
): void {
  const fiveMinutes = rational(300_000n)
  for (const [key, size] of [
    ['5m', fiveMinutes],
    ['window', window],
  ] as const) {
    const seen = burnOverWindow(lasted, size, bad, objective)
    results[`burn_over_${key}`] = seen.kind === 'infinite' ? none('x', 'infinite') : timesFigure(seen.rate)
    working.push(
      `${timeText(lasted)} of ${shareText(bad)} bad look like ${seen.kind === 'infinite' ? 'an infinite burn' : `${plain(seen.rate)}x`} over ${timeText(size)}`,
    )
  }
}

/** The same in floating point, where a threshold would be missed by it; else the other usual mistake. */
function inDoubles(bad: Rational, objective: Rational, burn: BurnRate): string {
  const naive = toNumber(bad) / (1 - toNumber(objective))
  const exact = burn.kind === 'infinite' ? Number.POSITIVE_INFINITY : toNumber(burn.rate)
  const isShort = Number(exact.toFixed(4)) === exact
  if (exact === 0 || naive === exact || !isShort) {
    return `${shareText(bad)} bad says nothing alone: under 99.9 % it is ${plain(toNumber(bad) / 0.001, 3)}x, under 90 % ${plain(toNumber(bad) / 0.1, 3)}x`
  }
  const misses =
    naive < exact ? `"at least ${plain(exact)}x" would miss` : `"over ${plain(exact)}x" would fire on`
  return `in doubles ${String(toNumber(bad))} ÷ (1 − ${String(toNumber(objective))}) is ${String(naive)}: ${misses} the tie; here it is exact`
}

function finish(
  answer: string,
  results: Record<string, Figure>,
  working: readonly string[],
  warnings: readonly Warning[],
  i: Values,
  mistake = 'no traffic is not a burn of 0: an alert must say so, or an outage of the measuring is silence',
): Worked {
  results['allowed'] = shareFigure(allowedBadShare(i.objective.exact))
  results['objective'] = numberFigure(i.objective.exact)
  return {
    answer,
    results,
    working,
    warnings,
    assumptions: [
      'the same traffic all period long; a bad hour with twice the traffic costs twice as much: plimsoll calc budget',
    ],
    mistake,
    next: ['plimsoll calc page', 'plimsoll slo page'],
  }
}
