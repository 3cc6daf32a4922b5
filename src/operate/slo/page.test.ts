import { describe, expect, it } from 'vitest'
import { toDecimalText } from '../../stats/rational.ts'
import { budgetReport } from './budget-report.ts'
import { decidePage, evidenceOf, type Readings } from './page.ts'
import { policyFor } from './policy.ts'
import { rational } from '../../stats/rational.ts'

const share = (text: string) => ({ kind: 'share', share: text }) as const
const counts = (bad: number | null, total: number | null) => ({ kind: 'counts', bad, total }) as const

describe('should someone be paged?', () => {
  const rows: [string, string, string, Readings, 'page' | 'no' | 'unknown'][] = [
    ['exactly 6x at lesson', 'lesson', '99.5%', { '1h': share('3%'), '5m': share('4.1%') }, 'page'],
    ['the short window is over', 'lesson', '99.5%', { '1h': share('3%'), '5m': share('0') }, 'no'],
    [
      'a blip of two minutes, 80x and 6.67x',
      'lesson',
      '99.5%',
      { '1h': share('2/60'), '5m': share('2/5') },
      'page',
    ],
    [
      'the same at 14.4x',
      'sre-workbook',
      '99.5%',
      { '1h': share('2/60'), '5m': share('2/5'), '6h': share('0'), '30m': share('0') },
      'no',
    ],
    ['one window is not told', 'lesson', '99.5%', { '1h': share('3%') }, 'unknown'],
    ['one window is not told, the other is quiet', 'lesson', '99.5%', { '1h': share('1%') }, 'no'],
    ['an idle hour', 'lesson', '99.5%', { '1h': counts(0, 0), '5m': counts(0, 0) }, 'no'],
    [
      'nothing is scraped',
      'lesson',
      '99.5%',
      { '1h': counts(null, null), '5m': counts(null, null) },
      'unknown',
    ],
    ['failures without requests', 'lesson', '99.5%', { '1h': counts(5, 0), '5m': counts(5, 0) }, 'unknown'],
    ['one failure of four', 'lesson', '99%', { '1h': counts(1, 4), '5m': counts(1, 1) }, 'no'],
    [
      'a failure where none is allowed',
      'lesson',
      '100%',
      { '1h': share('0.1%'), '5m': share('0.1%') },
      'page',
    ],
  ]
  it.each(rows)('%s', (_, policy, objective, readings, verdict) => {
    expect(decidePage(policyFor(policy, '30d'), objective, readings, { minBad: 3 }).verdict).toBe(verdict)
  })

  it('low traffic: one of ten is 20x and no proof', () => {
    const decision = decidePage(policyFor('lesson', '30d'), '99.5%', {
      '1h': counts(1, 10),
      '5m': counts(1, 10),
    })
    expect(evidenceOf(decision.tiers[0]!.long, '99.5%')?.significant).toBe(false)
  })
})

describe('the budget', () => {
  const base = { periodRequests: null, bad: null, seen: null, share: null, spanSeconds: null }
  it('250 bad of a million at 99.9 %: a quarter is spent', () => {
    const report = budgetReport({
      ...base,
      objective: rational(999, 1000),
      periodSeconds: 30 * 86_400,
      periodRequests: rational(1_000_000),
      bad: 250,
      seen: 1_000_000,
    })
    const text = [report.budget, report.spent, report.left].map((one) => one && toDecimalText(one))
    expect(text).toEqual(['1000', '0.25', '0.75'])
  })

  it.each([
    ['99.9 % of 30 days', '999/1000', 30, 43.2],
    ['of 28 days', '999/1000', 28, 40.32],
    ['of 7 days', '999/1000', 7, 10.08],
    ['99 % of 30 days', '99/100', 30, 432],
  ])('as downtime: %s', (_, objective, days, minutes) => {
    const [num = '1', den = '1'] = objective.split('/')
    const report = budgetReport({
      ...base,
      objective: rational(BigInt(num), BigInt(den)),
      periodSeconds: days * 86_400,
    })
    expect(Number(toDecimalText(report.downtimeSeconds)) / 60).toBeCloseTo(minutes, 9)
    expect(report.lasts).toBe('unknown')
  })

  it('an hour at 3 % costs 0.833 % of 99.5 %; by events it is what the events were', () => {
    const half = { ...base, objective: rational(995, 1000), periodSeconds: 30 * 86_400, spanSeconds: 3600 }
    expect(toDecimalText(budgetReport({ ...half, share: rational(3, 100) }).spent!, 5)).toBe('0.00833')
    const counted = budgetReport({ ...half, periodRequests: rational(2_000_000), bad: 167, seen: 5556 })
    // Twice the usual traffic in that hour: (10,000 − 167) ÷ 167 an hour.
    expect(Number(toDecimalText(counted.lastsSeconds!)) / 3600).toBeCloseTo(58.88, 2)
    const usual = budgetReport({ ...half, periodRequests: rational(2_000_000), bad: 83, seen: 2778 })
    expect(usual.burnInterval?.map((end) => Number(end.toFixed(2)))).toEqual([4.83, 7.38])
  })

  it('gone, or spent by nothing', () => {
    const all = {
      ...base,
      objective: rational(99, 100),
      periodSeconds: 86_400,
      periodRequests: rational(1000),
      seen: 1000,
    }
    expect([budgetReport({ ...all, bad: 10 }).lasts, budgetReport({ ...all, bad: 0 }).lasts]).toEqual([
      'gone',
      'never',
    ])
  })
})
