import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rational, toDecimalText, toNumber } from '../../stats/rational.ts'
import { allowedBadShare, budgetRequests, hoursLeftByEvents } from './budget.ts'
import {
  budgetUsed,
  burnEvidence,
  burnNumber,
  burnOfCounts,
  burnOverWindow,
  burnRate,
  burnThreshold,
  daysLeft,
  exceeds,
  timeToDetect,
  type BurnRate,
} from './burn.ts'

describe('burn rates', () => {
  it.each([
    ['3 % bad at 99.5 %', '0.03', '99.5%', 6],
    ['9 % bad', '0.09', '0.995', 18],
    ['exactly what is allowed', '0.001', '0.999', 1],
    ['nothing bad', '0', '0.9', 0],
    ['nothing bad where nothing may be', '0', '1', 0],
    ['one bad where nothing may be', '0.0001', '1', Number.POSITIVE_INFINITY],
  ])('%s', (_, bad, objective, rate) => expect(burnNumber(burnRate(bad, objective))).toBe(rate))

  it('exactly on the threshold is over with >=, not with >', () => {
    const six = burnRate('0.03', '0.995')
    expect([exceeds(six, 6, '>='), exceeds(six, 6, '>'), exceeds({ kind: 'infinite' }, 1000, '>')]).toEqual([
      true,
      false,
      true,
    ])
  })

  it.each([
    ['no traffic is no burn, not 0', 0, 0, null],
    ['traffic without a failure counter is 0', null, 600, 0],
    ['counted', 36, 1200, 30],
    ['nothing scraped', null, null, null],
    ['failures without traffic are no ratio', 5, 0, null],
  ])('%s', (_, bad, total, rate) => {
    const burn = burnOfCounts(bad, total, '0.999')
    expect(burn === null ? null : burnNumber(burn)).toBe(rate)
  })

  it('is linear in the bad ratio and undone by the days', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 9999 }), (bad, allowed) => {
        const objective = rational(10_000 - allowed, 10_000)
        const burn = burnRate(rational(bad, 10_000), objective) as Extract<BurnRate, { kind: 'finite' }>
        expect(burn.rate).toEqual(rational(bad, allowed))
        expect(toNumber(budgetUsed(burn.rate, daysLeft(burn, 30) ?? 0, 30))).toBe(1)
      }),
    )
  })

  it('days left at the ends', () => {
    expect(daysLeft(burnRate('0', '0.99'), 30)).toBeNull()
    expect(daysLeft({ kind: 'infinite' }, 30)).toEqual(rational(0))
  })
})

describe('windows', () => {
  it('the thresholds of the SRE workbook', () => {
    const rows = [
      ['2%', 1],
      ['5%', 6],
      ['10%', 72],
    ] as const
    expect(rows.map(([share, hours]) => toDecimalText(burnThreshold(share, hours, 720)))).toEqual([
      '14.4',
      '6',
      '1',
    ])
  })
  it('an outage is seen when the window burns enough, or never', () => {
    expect(toDecimalText(timeToDetect('14.4', '0.995', 60, 1) as ReturnType<typeof rational>)).toBe('4.32')
    expect(toDecimalText(timeToDetect(6, '0.995', 60, '0.03') as ReturnType<typeof rational>)).toBe('60')
    expect(timeToDetect(6, '0.995', 60, '0.029')).toBeNull()
    expect(timeToDetect(6, '0.995', 60, 0)).toBeNull()
    expect(burnNumber(burnOverWindow(120, 60, 1, '0.995'))).toBe(200)
  })
})

describe('evidence', () => {
  it('one of ten is no proof at 99.5 %, thirty of a hundred is', () => {
    expect(burnEvidence(1, 10, '0.995')?.significant).toBe(false)
    expect(burnEvidence(30, 100, '0.995')?.significant).toBe(true)
    expect(burnEvidence(0, 0, '0.995')).toBeNull()
    expect(burnEvidence(1, 10, '1')?.burnInterval).toBeNull()
  })
})

describe('budget', () => {
  it('is exact, 0 at 100 %, and refused outside', () => {
    expect(toDecimalText(budgetRequests('99.5%', 2_000_000))).toBe('10000')
    expect(budgetRequests(1, 5)).toEqual(rational(0))
    expect(() => allowedBadShare(0)).toThrow('objective')
    expect(() => allowedBadShare('1.5')).toThrow('objective')
    expect(() => allowedBadShare(rational(3n, 2n))).toThrow('objective')
    expect(hoursLeftByEvents(10, 100, 0)).toBeNull()
    expect(hoursLeftByEvents(-1, 100, 0.1)).toBe(0)
  })
})
