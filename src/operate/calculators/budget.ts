import { noun } from '../../base/noun.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  hours,
  none,
  plain,
  shareFigure,
  shareText,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, number, rate, share } from '../../stats/calculators/quantities.ts'
import { divide, multiply, rational, subtract, toNumber } from '../../stats/rational.ts'
import { allowedBadShare, budgetRequests, hoursLeftByEvents } from '../slo/budget.ts'

export const budgetCalculator: Calculator = calculator({
  name: 'budget',
  group: 'Objectives and alerts',
  brief: 'How many bad requests does an objective allow, and how long do they last?',
  formula: 'budget = (1 − objective) × requests of the period; lasts budget ÷ (requests an hour × bad share)',
  inputs: {
    objective: needed(share, 'the objective', { bare: true, also: ['slo'] }),
    requests: optional(count(0), 'requests of the period', { bare: true, also: ['total', 'events'] }),
    rate: optional(rate, 'mean traffic, instead of the requests of the period', { also: ['traffic'] }),
    period: assumed(duration, '30d', 'of the objective', { also: ['window'] }),
    spent: assumed(count(0), '0', 'bad requests so far', { also: ['bad-so-far', 'used'] }),
    bad: optional(share, 'share that is bad now', { also: ['bad-ratio', 'errors'] }),
    hourly: optional(number, 'requests in the bad hour, if other than the mean', {
      also: ['hour-requests', 'per-hour'],
    }),
  },
  examples: [
    ['99.5% 2M', 'two million requests a month'],
    ['99.5% 2M --spent 4000', 'what is left'],
    ['99.5% 2M --bad 3% --hourly 5555.6', 'the bad hour carries twice the traffic'],
    ['99.9% --rate 40/s', 'from the mean traffic'],
    ['100% 2M', 'no budget at all'],
  ],
  work({ objective, requests, rate: traffic, period, spent, bad, hourly }) {
    const all =
      requests !== null
        ? rational(requests)
        : traffic === null
          ? null
          : divide(multiply(traffic.exact, period.exact), rational(1000n))
    if (all === null) throw impossible('the traffic is missing', '--requests N, or --rate RATE')
    const allowed = allowedBadShare(objective.exact)
    const budget = budgetRequests(objective.exact, all)
    const left = subtract(budget, rational(spent))
    const results: Record<string, Figure> = {
      budget: countFigure(budget, 'requests'),
      allowed: shareFigure(allowed),
      left: countFigure(left, 'requests'),
      left_share:
        budget.num === 0n ? none('share', 'none: there is no budget') : shareFigure(divide(left, budget)),
    }
    const working: string[] = []
    if (requests === null)
      working.push(
        `${plain(traffic!.exact)}/s × ${timeText(period.exact)} = ${plain(all)} ${noun(toNumber(all), 'request')}`,
      )
    working.push(
      `budget = (100 % − ${shareText(objective.exact)}) × ${plain(all)} = ${shareText(allowed)} × ${plain(all)} = ${plain(budget)} bad ${noun(toNumber(budget), 'request')}`,
    )
    if (spent > 0) {
      working.push(
        left.num < 0n
          ? `${plain(spent)} are spent: ${plain(-toNumber(left))} more than there were`
          : `${plain(spent)} are spent, ${plain(left)} are left${budget.num === 0n ? '' : ` (${shareText(divide(left, budget))})`}`,
      )
    }
    let answer =
      budget.num === 0n && allowed.num === 0n
        ? 'No budget: an objective of 100 % allows nothing bad.'
        : `${plain(budget)} bad ${noun(toNumber(budget), 'request')} in ${timeText(period.exact)}`
    if (spent > 0) answer += `, ${plain(left)} left`
    if (bad !== null) {
      const perHour = hourly?.value ?? toNumber(divide(multiply(all, rational(3_600_000n)), period.exact))
      const lasts = hoursLeftByEvents(toNumber(left), perHour, bad.value)
      results['requests_per_hour'] = countFigure(perHour, 'requests')
      results['bad_per_hour'] = countFigure(perHour * bad.value, 'requests')
      results['lasts'] = hours(lasts === null ? null : lasts * 3_600_000, 'for ever: nothing is bad')
      working.push(
        `${plain(perHour)} ${noun(perHour, 'request')} an hour × ${shareText(bad.exact)} = ${plain(perHour * bad.value)} bad an hour`,
        lasts === null
          ? 'nothing is bad: it lasts for ever'
          : `lasts ${plain(Math.max(0, toNumber(left)))} ÷ ${plain(perHour * bad.value)} = ${plain(lasts)} h`,
      )
      if (lasts !== null) answer += `; at this rate it lasts ${timeText(lasts * 3_600_000)}`
    }
    return {
      answer,
      results,
      working,
      assumptions: [
        'events are counted, not minutes',
        'own refusals (429) count as bad unless the objective says otherwise',
      ],
      mistake: 'reckoning in ratios: a bad hour with twice the traffic spends the budget twice as fast',
      next: ['plimsoll calc burn', 'plimsoll slo budget'],
    }
  },
})
