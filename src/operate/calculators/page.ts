import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  days,
  none,
  plain,
  shareFigure,
  shareText,
  timeText,
  timesFigure,
  wordFigure,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { duration, ratio, share, word } from '../../stats/calculators/quantities.ts'
import { divide, rational, type Rational } from '../../stats/rational.ts'
import { budgetUsed, burnRate, burnThreshold, daysLeft, exceeds, type BurnRate } from '../slo/burn.ts'
import { policyFor, type Comparator } from '../slo/policy.ts'

/** One alert: it fires when the burn over the long and over the short window passes the factor. */
interface PageRule {
  readonly policy: string
  readonly long: string
  readonly short: string
  readonly factor: Rational
  readonly comparator: Comparator
}

/** The pages of a preset policy; its factors follow the period. Tickets wake nobody. */
function pagesOf(name: string, period: Rational): readonly PageRule[] {
  const seconds = divide(period, rational(1000n))
  if (seconds.num <= 0n || seconds.den !== 1n)
    throw impossible('a period is whole seconds', '--period 30d', timeText(period))
  const policy = policyFor(name, `${seconds.num}s`)
  return policy.tiers
    .filter(({ severity }) => severity === 'page')
    .map(({ long, short, factor }) => ({
      policy: policy.name,
      long,
      short,
      factor,
      comparator: policy.comparator,
    }))
}

export const pageCalculator: Calculator = calculator({
  name: 'page',
  group: 'Objectives and alerts',
  brief: 'Should someone be woken?',
  formula: 'page when burn(long window) and burn(short window) both pass the factor of the policy',
  inputs: {
    objective: needed(share, 'the objective', { bare: true, also: ['slo'] }),
    long: needed(share, 'bad share over the last hour', { bare: true, also: ['hour', 'bad'] }),
    short: optional(share, 'bad share over the last 5 minutes; as over the hour unless said', {
      bare: true,
      also: ['five-minutes'],
    }),
    'slow-long': optional(share, 'bad share over 6 hours', { also: ['six-hours'] }),
    'slow-short': optional(share, 'bad share over 30 minutes', { also: ['half-hour'] }),
    policy: assumed(word('both', 'lesson', 'sre-workbook', 'own'), 'both', 'whose thresholds'),
    threshold: optional(ratio, 'your own factor over 1 h and 5 min, with --policy own', { also: ['factor'] }),
    period: assumed(duration, '30d', 'of the objective', { also: ['window'] }),
  },
  examples: [
    ['--objective 99.5% --long 3% --short 4.1%', 'three per cent bad in the last hour'],
    ['99.5% 8% 9%', 'worse: both policies agree'],
    ['99.5% 3% 0.1%', 'it is over already'],
    ['99.5% 3% 4.1% --slow-long 3.2% --slow-short 3.5%', 'with the slower windows'],
    ['99.5% 3% 4.1% --policy own --threshold 10', 'own threshold'],
  ],
  work(i) {
    if (i.policy === 'own' && i.threshold === null)
      throw impossible('your own policy needs its factor', '--threshold 10')
    const over = (bad: Rational | null): BurnRate | null =>
      bad === null ? null : burnRate(bad, i.objective.exact)
    const burns: Readonly<Record<string, BurnRate | null>> = {
      '1h': over(i.long.exact),
      '5m': over(i.short?.exact ?? i.long.exact),
      '6h': over(i['slow-long']?.exact ?? null),
      '30m': over(i['slow-short']?.exact ?? null),
    }
    const hour = burnRate(i.long.exact, i.objective.exact)
    const text = (burn: BurnRate): string => (burn.kind === 'infinite' ? '∞' : `${plain(burn.rate)}x`)
    const fires = (
      long: BurnRate | null,
      short: BurnRate | null,
      factor: Rational,
      comparator: Comparator,
    ): boolean | null => {
      if (long === null || short === null) return null
      return exceeds(long, factor, comparator) && exceeds(short, factor, comparator)
    }
    const own: readonly PageRule[] =
      i.threshold === null
        ? []
        : [{ policy: 'own', long: '1h', short: '5m', factor: i.threshold.exact, comparator: '>=' }]
    const presets = ['lesson', 'sre-workbook'].flatMap((name) => pagesOf(name, i.period.exact))
    const used = [...presets, ...own].filter(({ policy }) => i.policy === 'both' || i.policy === policy)
    const results: Record<string, Figure> = {}
    const working: string[] = [
      `burn = bad ÷ (100 % − ${shareText(i.objective.exact)}): 1 h ${shareText(i.long.exact)} is ${text(hour)}, 5 min ${shareText(i.short?.exact ?? i.long.exact)} is ${text(burns['5m']!)}`,
    ]
    const verdicts = new Map<string, boolean>()
    for (const rule of used) {
      const verdict = fires(burns[rule.long] ?? null, burns[rule.short] ?? null, rule.factor, rule.comparator)
      const name = `${rule.policy.replace('-', '_')}_${rule.long}`
      results[name] = wordFigure(
        verdict,
        verdict === null ? 'not known: --slow-long and --slow-short' : verdict ? 'page' : 'no page',
      )
      if (verdict !== null) verdicts.set(rule.policy, (verdicts.get(rule.policy) ?? false) || verdict)
      const sign = rule.comparator === '>' ? 'over' : 'at least'
      working.push(
        `${rule.policy}: ${sign} ${plain(rule.factor)}x on ${rule.long} and ${rule.short}: ${verdict === null ? 'not known, the windows were not said (--slow-long, --slow-short)' : verdict ? 'page' : 'no page'}`,
      )
    }
    const paging = [...verdicts].filter(([, page]) => page).map(([policy]) => policy)
    const quiet = [...verdicts].filter(([, page]) => !page).map(([policy]) => policy)
    results['page'] = wordFigure(paging.length > 0)
    results['burn'] =
      hour.kind === 'infinite'
        ? none('x', 'infinite: an objective of 100 % allows nothing bad')
        : timesFigure(hour.rate)
    const left = daysLeft(hour, i.period.exact)
    results['days_left'] = days(left, 'for ever: nothing burns')
    if (hour.kind === 'finite') {
      const cost = budgetUsed(hour.rate, rational(3_600_000n), i.period.exact)
      results['budget_used'] = shareFigure(cost)
      working.push(
        left === null
          ? 'nothing burns: the budget lasts for ever'
          : `at this rate the budget of ${timeText(i.period.exact)} lasts ${timeText(i.period.exact)} ÷ ${plain(hour.rate)} = ${timeText(left)} · this hour cost ${shareText(cost)} of it`,
      )
      thresholds(i.period.exact, results)
    }
    const many = paging.length > 0 && quiet.length > 0
    return {
      answer:
        paging.length === 0
          ? `No page (${[...verdicts.keys()].join(', ') || 'no policy'}).`
          : `PAGE (policy ${paging.join(', ')}).${many ? ` Under ${quiet.join(', ')} nobody would be woken yet.` : ''}`,
      results,
      working,
      assumptions: [
        'the short window says that it still goes on',
        'enough traffic: one bad request of ten is 20x and no reason to wake anyone',
      ],
      mistake:
        'one window alone: the long one pages for an hour after it is over, the short one for every blip',
      next: ['plimsoll slo page', 'plimsoll slo rules'],
    }
  },
})

/** The burn rates that spend the workbook's shares of the budget in its windows. */
function thresholds(period: Rational, results: Record<string, Figure>): void {
  const rows = [
    [2, 1],
    [5, 6],
    [10, 24],
    [10, 72],
  ] as const
  for (const [percent, hours] of rows) {
    results[`threshold_${percent}_percent_in_${hours}h`] = timesFigure(
      burnThreshold(rational(percent, 100), rational(hours * 3_600_000), period),
    )
  }
}
