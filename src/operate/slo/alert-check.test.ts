import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, multiply, rational, toDecimalText, toNumber, toRational } from '../../stats/rational.ts'
import { checkAlerts, minimumRequests, refitPolicy } from './alert-check.ts'
import { policyFor, presetPolicies, budgetShareOf } from './policy.ts'

const sre = policyFor('sre-workbook', '30d')

// The table of the SRE workbook, worked out with exact fractions.
describe('what an alert can do', () => {
  it.each([
    ['99.99%', ['0.00144', '0.0006', '0.0003'], [695, 1667], [5.184, 12.96, 25.92, 25.92]],
    ['99.9%', ['0.0144', '0.006', '0.003'], [70, 167], [51.84, 129.6, 259.2, 259.2]],
    ['99.5%', ['0.072', '0.03', '0.015'], [14, 34], [259.2, 648, 1296, 1296]],
    ['99%', ['0.144', '0.06', '0.03'], [7, 17], [518.4, 1296, 2592, 2592]],
    ['95%', ['0.72', '0.3', '0.15'], [2, 4], [2592, 6480, 12960, 12960]],
    ['90%', ['1.44', '0.6', '0.3'], [null, 2], [null, 12960, 25920, 25920]],
  ] as const)('at %s', (objective, thresholds, least, outage) => {
    const checks = checkAlerts(sre, objective, '30d')
    expect(checks.slice(0, 3).map(({ threshold }) => toDecimalText(threshold))).toEqual(thresholds)
    expect(checks.slice(0, 2).map(({ minimumRequests: n }) => (n === null ? null : Number(n)))).toEqual(least)
    const seconds = checks.map(({ detectSeconds }) => detectSeconds.at(-1) ?? null)
    expect(seconds.map((value) => (value === null ? null : toNumber(value)))).toEqual(outage)
  })

  it('budget spent at detection is the share that made the factor', () => {
    const spent = checkAlerts(sre, '99.9%', '30d').map(({ spentAtDetection }) =>
      toDecimalText(spentAtDetection),
    )
    expect(spent).toEqual(['0.02', '0.05', '0.1', '0.1'])
  })

  it('stops after a total outage by the short window', () => {
    const stops = checkAlerts(sre, '99.9%', '30d').map(
      ({ resetSeconds }) => resetSeconds && toNumber(resetSeconds),
    )
    expect(stops.slice(0, 2)).toEqual([295.68, 1789.2])
  })

  it('exactly on the factor is never over it, and at it', () => {
    const one = (comparator: '>' | '>='): number | null => {
      const text = { ...presetPolicies['lesson']!, comparator }
      const [check] = checkAlerts(policyFor(text, '30d'), '94%', '30d')
      return check?.detectSeconds[2] === null ? null : toNumber(check!.detectSeconds[2]!)
    }
    // 6 × 6 % is 36 %: over it 25 % never, whatever the comparator; at 95 % the tie is 30 %.
    expect([one('>'), one('>=')]).toEqual([null, null])
    const tie = (comparator: '>' | '>='): unknown =>
      checkAlerts(
        policyFor(
          { name: 'tie', comparator, alerts: [{ severity: 'page', long: '1h', short: '5m', factor: 5 }] },
          '30d',
        ),
        '95%',
        '30d',
      )[0]?.detectSeconds[2]
    expect([tie('>'), tie('>=')]).toEqual([null, rational(3600)])
  })

  it('lowest objectives at which 14.4x, 6x and 3x can fire', () => {
    const reach = (objective: string): boolean[] =>
      checkAlerts(sre, objective, '30d').map(({ reachable }) => reachable)
    expect([reach('93.0555%')[0], reach('93.0556%')[0]]).toEqual([false, true])
    expect([reach('83.3333%')[1], reach('83.3334%')[1]]).toEqual([false, true])
    expect([reach('66.6666%')[2], reach('66.6667%')[2]]).toEqual([false, true])
  })

  it('a factor out of reach goes halfway to the next slower alert, and keeps the order', () => {
    const at90 = refitPolicy(sre, checkAlerts(sre, '90%', '30d'))
    expect(at90.tiers.map(({ factor }) => toDecimalText(factor))).toEqual(['8', '6', '3', '1'])
    const at80 = refitPolicy(sre, checkAlerts(sre, '80%', '30d'))
    expect(at80.tiers.map(({ factor }) => toDecimalText(factor))).toEqual(['4.5', '4', '3', '1'])
  })

  it('whatever the objective, a refitted policy can reach every alert in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.constantFrom('sre-workbook', 'lesson'),
        (allowed, name) => {
          const objective = rational(10_000 - allowed, 10_000)
          const policy = policyFor(name, '30d')
          const refit = refitPolicy(policy, checkAlerts(policy, objective, '30d'))
          expect(checkAlerts(refit, objective, '30d').every(({ reachable }) => reachable)).toBe(true)
          const order = refit.tiers
            .slice(1)
            .map((tier, index) => compare(refit.tiers[index]!.factor, tier.factor))
          expect(order).not.toContain(-1)
        },
      ),
    )
  })

  it('one failure of the least number of requests does not pass, of one fewer it does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999 }), fc.constantFrom('>', '>='), (share, comparator) => {
        const threshold = rational(share, 1000)
        const least = minimumRequests(threshold, comparator)
        const passes = (n: bigint): boolean => {
          const side = compare(rational(1n, n), threshold)
          return comparator === '>' ? side > 0 : side >= 0
        }
        expect(passes(least)).toBe(false)
        expect(least === 1n || passes(least - 1n)).toBe(true)
      }),
    )
  })
})

describe('factors of other periods', () => {
  it.each([
    ['28d', ['13.44', '5.6', '2.8']],
    ['90d', ['43.2', '18', '9']],
  ])('%s', (period, factors) => {
    const { tiers } = policyFor('sre-workbook', period)
    expect(tiers.slice(0, 3).map(({ factor }) => toDecimalText(factor))).toEqual(factors)
  })

  it('Sloth’s example for 7 days, and what 14.4x would spend there', () => {
    const alerts = [
      ['8%', '1h'],
      ['12.5%', '6h'],
      ['20%', '1d'],
      ['42%', '3d'],
    ].map(([budget = '', long = '']) => ({ severity: 'page' as const, long, budget }))
    const { tiers } = policyFor({ name: 'sloth', comparator: '>', alerts }, '7d')
    expect(tiers.map(({ factor }) => toDecimalText(factor))).toEqual(['13.44', '3.5', '1.4', '0.98'])
    const kept = ['14.4', '6', '3', '1'].map((factor, index) =>
      toDecimalText(
        multiply(budgetShareOf(factor, ['1h', '6h', '1d', '3d'][index]!, '7d'), toRational(100)),
        3,
      ),
    )
    expect(kept).toEqual(['8.571', '21.429', '42.857', '42.857'])
  })

  it.each([
    ['a name that is none', 'workbook', 'sre-workbook or lesson'],
    ['no alerts', { name: 'x', comparator: '>' as const, alerts: [] }, 'it has no alerts'],
    [
      'neither factor nor budget',
      { name: 'x', comparator: '>' as const, alerts: [{ severity: 'page' as const, long: '1h' }] },
      'either a factor or a share',
    ],
    [
      'a short window that is not',
      {
        name: 'x',
        comparator: '>' as const,
        alerts: [{ severity: 'page' as const, long: '5m', short: '1h', factor: 2 }],
      },
      'not shorter',
    ],
  ])('refuses %s', (_, policy, why) => {
    let said = ''
    try {
      policyFor(policy, '30d')
    } catch (error) {
      const { message, expected } = error as { message: string; expected?: string }
      said = `${message} ${expected ?? ''}`
    }
    expect(said).toContain(why)
  })
})
