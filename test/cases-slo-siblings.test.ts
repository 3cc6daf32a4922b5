import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { budgetRequests } from '../src/operate/slo/budget.ts'
import { burnNumber, burnRate, daysLeft, timeToDetect } from '../src/operate/slo/burn.ts'
import { decidePage, windowBurn, type Readings } from '../src/operate/slo/page.ts'
import { budgetShareOf, burnFactor, policyFor } from '../src/operate/slo/policy.ts'
import { promSeconds, promText } from '../src/operate/slo/prometheus-duration.ts'
import { undefinedRecords } from '../src/operate/slo/rules.ts'
import { checkObjectivePercent, sloClashes } from '../src/operate/slo/slo-spec.ts'
import { rational, toDecimalText, toNumber, toRational } from '../src/stats/rational.ts'

// Further cases of the kinds of `slo-*`, their expectations worked out by hand.

test.each([
  ['0', 'reject:objective_out_of_range'],
  ['100.0', 'reject:objective_leaves_no_budget'],
  ['100.0001', 'reject:objective_out_of_range'],
  ['-0.1', 'reject:objective_out_of_range'],
  ['1', 'warn:objective_looks_like_a_fraction'],
  ['0.5', 'warn:objective_looks_like_a_fraction'],
  ['1.01', 'ok'],
  ['99.9999', 'ok'],
  ['50', 'ok'],
])('an objective of %s', (percent, wanted) => {
  const verdict = checkObjectivePercent(percent)
  expect(verdict.kind === 'ok' ? 'ok' : `${verdict.kind}:${verdict.why}`).toBe(wanted)
})

describe('windows', () => {
  const counts = (bad: number | null, total: number | null): Readings => ({
    '1h': { kind: 'counts', bad, total },
  })
  test.each([
    ['one of a million at 99.9999 %: exactly 1', '99.9999%', 1, 1_000_000, 1],
    ['3 of 100 at 99.5 %', '99.5%', 3, 100, 6],
    ['all bad at 99.99 %', '99.99%', 7, 7, 10_000],
    ['none bad', '99.9%', 0, 600, 0],
    ['the counter is not there yet', '99.9%', null, 600, 0],
    ['extrapolated counts: 0.3 of 0.7', '50%', 0.3, 0.7, 6 / 7],
    ['nobody asked', '99.9%', 0, 0, null],
    ['failures without requests', '99.9%', 5, 0, null],
    ['nothing is known', '99.9%', null, null, null],
    ['requests not known', '99.9%', 5, null, null],
  ])('%s', (_, objective, bad, total, burn) => {
    const found = windowBurn('1h', counts(bad, total), objective)
    expect(found.burn === null ? null : burnNumber(found.burn)).toBe(burn)
  })

  const policy = policyFor(
    {
      name: 'case',
      comparator: '>',
      alerts: [{ severity: 'page', long: '1h', short: '5m', factor: '14.4' }],
    },
    '30d',
  )
  const page = (long: string, short: string, objective = '99.9%') =>
    decidePage(policy, objective, {
      '1h': { kind: 'share', share: long },
      '5m': { kind: 'share', share: short },
    }).verdict
  test.each([
    ['exactly on the factor in both', '0.0144', '0.0144', 'no'],
    ['a hair over in both', '0.01440000000000001', '0.0144000000000001', 'page'],
    ['over in one', '0.5', '0.0144', 'no'],
    ['1.44 % in percent', '1.44%', '1.44%', 'no'],
    ['1.441 %', '1.441%', '1.441%', 'page'],
  ])('%s', (_, long, short, verdict) => expect(page(long, short)).toBe(verdict))
  it('at 90 % 14.4x cannot be reached, even by an outage', () => expect(page('1', '1', '90%')).toBe('no'))
  it('a total outage at 99 %', () => expect(page('1', '1', '99%')).toBe('page'))
})

describe('factors', () => {
  test.each([
    ['90d', ['43.2', '18', '9', '3']],
    ['1d', ['0.48', '0.2', '0.1', '0.033333333333']],
    ['4w', ['13.44', '5.6', '2.8', '0.933333333333']],
  ])('of %s', (period, wanted) => {
    const rows = [
      ['0.02', '1h'],
      ['0.05', '6h'],
      ['0.1', '1d'],
      ['0.1', '3d'],
    ] as const
    expect(rows.map(([budget, long]) => toDecimalText(burnFactor(budget, long, period).factor, 12))).toEqual(
      wanted,
    )
  })
  it('below 1 is told exactly at its edge', () => {
    expect(burnFactor('0.1', '3d', '30d')).toMatchObject({ belowOne: false })
    expect(burnFactor('0.0999999', '3d', '30d')).toMatchObject({ belowOne: true })
  })
  it('the other way round', () => {
    expect(toNumber(budgetShareOf('14.4', '1h', '30d'))).toBe(0.02)
    const factors = fc.integer({ min: 1, max: 100_000 }).map((n) => `${n / 1000}`)
    fc.assert(
      fc.property(factors, fc.constantFrom('7d', '28d', '30d', '90d'), (factor, period) => {
        const share = budgetShareOf(factor, '1h', period)
        expect(burnFactor(share, '1h', period).factor).toEqual(toRational(factor))
      }),
    )
  })
})

describe('names', () => {
  test.each([
    [
      'three of one name',
      [
        ['a', 's', 'x'],
        ['b', 's', 'x'],
        ['c', 's', 'x'],
      ],
      2,
    ],
    [
      'the same name in two services',
      [
        ['a', 's', 'x'],
        ['b', 't', 'x'],
      ],
      0,
    ],
    [
      'ids that meet',
      [
        ['a', 'x-y', 'z'],
        ['b', 'x', 'y-z'],
      ],
      1,
    ],
    [
      'upper case is another name',
      [
        ['a', 's', 'x'],
        ['b', 's', 'X'],
      ],
      0,
    ],
  ] as const)('%s', (_, slos, errors) =>
    expect(sloClashes(slos.map(([file, service, name]) => ({ file, service, name })))).toHaveLength(errors),
  )
  test.each(['le', 'quantile', '__name__', 'alertname', 'severity', 'slo'])(
    'the label %s is taken',
    (label) =>
      expect(sloClashes([{ file: 'a', service: 's', name: 'n', labels: { [label]: '1' } }])).toHaveLength(1),
  )
  it('others are free', () =>
    expect(sloClashes([{ file: 'a', service: 's', name: 'n', labels: { team: 'x' } }])).toEqual([]))
  it('records that nobody makes, once each', () => {
    expect(undefinedRecords(['a', 'b'], ['a', 'c', 'c', 'd', 'b'])).toEqual(['c', 'd'])
    expect(undefinedRecords([], [])).toEqual([])
  })
})

test.each([
  ['1y', 31_536_000],
  ['1w2d', 777_600],
  ['90m', 5400],
  ['1h90m', 9000],
  ['500ms', 0.5],
  ['1s500ms', 1.5],
  ['2d12h', 216_000],
  ['007m', 420],
  ['1m1h', null],
  ['1h1h', null],
  ['1H', null],
  ['1d ', null],
  [' 1d', null],
  ['+1d', null],
  ['1e3s', null],
  ['0', null],
  ['0s', null],
  ['0h0m', null],
  ['1µs', null],
  ['1day', null],
  ['d', null],
  ['99999999999999999y', null],
])('a duration of "%s"', (text, seconds) => {
  expect(promSeconds(text)).toBe(seconds)
  if (seconds !== null) expect(promSeconds(promText(seconds))).toBe(seconds)
})

describe('burn arithmetic', () => {
  it('is exact where doubles are not', () => {
    expect(toDecimalText(budgetRequests('99.99%', '123456789'))).toBe('12345.6789')
    expect(burnNumber(burnRate('0.0003', '99.99%'))).toBe(3)
    expect(burnNumber(burnRate('0.3%', '99.9%'))).toBe(3)
    expect(burnNumber(burnRate('0.1', '70%'))).toBe(1 / 3)
  })
  test.each([
    ['6', '30', '5'],
    ['14.4', '30', '2.083333333333'],
    ['1', '28', '28'],
    ['0.5', '30', '60'],
  ])('at %sx a budget of %s days lasts %s', (burn, days, left) => {
    const found = daysLeft({ kind: 'finite', rate: toRational(burn) }, rational(BigInt(days)))
    expect(toDecimalText(found!, 12)).toBe(left)
  })
  test.each([
    ['99.9%', '14.4', 3600, '1', '51.84'],
    ['99.9%', '14.4', 3600, '0.015', '3456'],
    ['99.9%', '14.4', 3600, '0.0143', null],
    ['99.99%', '14.4', 3600, '1', '5.184'],
    ['95%', '6', 21_600, '1', '6480'],
    ['90%', '14.4', 3600, '1', null],
    ['90%', '6', 21_600, '1', '12960'],
  ])('at %s %sx on %d s sees a failure of %s after %s s', (objective, factor, window, share, seconds) => {
    const found = timeToDetect(factor, objective, window, share)
    expect(found === null ? null : toDecimalText(found, 6)).toBe(seconds)
  })
  test.each([
    ['4 requests, 10 needed', 1, 4, 10, 'no'],
    ['exactly as many as needed', 5, 10, 10, 'page'],
    ['one fewer', 5, 9, 10, 'no'],
  ])('low traffic: %s', (_, bad, total, minRequests, verdict) => {
    const counts = { kind: 'counts', bad, total } as const
    const policy = policyFor(
      {
        name: 'case',
        comparator: '>',
        alerts: [{ severity: 'page', long: '1h', short: '5m', factor: 14.4 }],
      },
      '30d',
    )
    expect(decidePage(policy, '99%', { '1h': counts, '5m': counts }, { minRequests }).verdict).toBe(verdict)
  })
})
