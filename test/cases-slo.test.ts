import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { budgetRequests } from '../src/operate/slo/budget.ts'
import { burnNumber, burnRate, daysLeft } from '../src/operate/slo/burn.ts'
import { decidePage, windowBurn, type Readings } from '../src/operate/slo/page.ts'
import { budgetShareOf, burnFactor, policyFor } from '../src/operate/slo/policy.ts'
import { promSeconds } from '../src/operate/slo/prometheus-duration.ts'
import { undefinedRecords } from '../src/operate/slo/rules.ts'
import { checkObjectivePercent, sloClashes } from '../src/operate/slo/slo-spec.ts'
import { rational, toNumber, toRational } from '../src/stats/rational.ts'

// Each case: an input, and what any tool should make of it.

interface Case<I, E> {
  readonly input: I
  readonly expected: E
}

function read(name: string, kind: string): unknown {
  const json = (file: string): unknown =>
    JSON.parse(readFileSync(new URL(`cases/${file}`, import.meta.url), 'utf8')) as unknown
  return {
    input: json(`${name}.${kind}.json`),
    expected: (json(`${name}.expect.json`) as { expect: unknown }).expect,
  }
}

describe('slo cases', () => {
  it('01: an objective of 100 leaves nothing to spend, and 0.999 was meant otherwise', () => {
    const { input, expected } = read('slo-01-objective-100', 'spec') as Case<
      { slos: { name: string; objective: number }[] },
      Record<string, string>
    >
    const verdicts = input.slos.map(({ name, objective }) => {
      const verdict = checkObjectivePercent(objective)
      return [name, verdict.kind === 'ok' ? 'ok' : `${verdict.kind}:${verdict.why}`]
    })
    expect(Object.fromEntries(verdicts)).toEqual(expected)
  })

  it('02: no traffic is no burn, a missing failure counter is 0, failures without requests are bad data', () => {
    type Window = { bad: number | null; total: number | null }
    const { input, expected } = read('slo-02-no-traffic', 'series') as Case<
      { objective: number; windows: Record<string, Window> },
      Record<string, number | null | boolean | string[]>
    >
    const objective = toRational(`${input.objective}%`)
    const readings: Readings = Object.fromEntries(
      Object.entries(input.windows).map(([window, counts]) => [window, { kind: 'counts', ...counts }]),
    )
    const decision = decidePage(policyFor('sre-workbook', '30d'), objective, readings)
    const burns = Object.keys(input.windows).map((window) => {
      const { burn } = windowBurn(window, readings, objective)
      return [window, burn === null ? null : burnNumber(burn)]
    })
    expect({
      ...Object.fromEntries(burns),
      page: decision.verdict === 'page',
      bad_data: decision.badData,
    }).toEqual(expected)
  })

  it('04: the factor follows the period, and below 1 it fires inside the budget', () => {
    const { input, expected } = read('slo-04-window-changes-factor', 'spec') as Case<
      { windows: string[]; rows: { budget: number; long: string }[] },
      Record<string, number[]> & {
        below_one: Record<string, string[]>
        'budget_if_14.4_kept_on_7d': number
      }
    >
    for (const period of input.windows) {
      const factors = input.rows.map(({ budget, long }) => burnFactor(String(budget), long, period))
      expect([period, factors.map(({ factor }) => toNumber(factor))]).toEqual([period, expected[period]])
      const below = input.rows.filter((_, index) => factors[index]?.belowOne).map(({ long }) => long)
      expect(below).toEqual(expected.below_one[period] ?? [])
    }
    expect(toNumber(budgetShareOf('14.4', '1h', '7d'))).toBe(expected['budget_if_14.4_kept_on_7d'])
  })

  it('06: the same name, the same id and reserved labels are told', () => {
    type File = {
      file: string
      service: string
      slos: { name: string; labels?: Record<string, string> }[]
    }
    const { input, expected } = read('slo-06-duplicate-and-label-clash', 'spec') as Case<
      { files: File[] },
      { errors: string[] }
    >
    const slos = input.files.flatMap(({ file, service, slos: own }) =>
      own.map((slo) => ({ file, service, ...slo })),
    )
    expect(sloClashes(slos)).toEqual(expected.errors)
  })

  it('07: durations as Prometheus reads them, and records that nobody makes', () => {
    const { input, expected } = read('slo-07-window-typos', 'spec') as Case<
      { durations: string[]; rules: { record: string[]; alert_uses: string[] } },
      { seconds: Record<string, number | null>; undefined_records: string[] }
    >
    expect(Object.fromEntries(input.durations.map((text) => [text, promSeconds(text)]))).toEqual(
      expected.seconds,
    )
    expect(undefinedRecords(input.rules.record, input.rules.alert_uses)).toEqual(expected.undefined_records)
  })

  it('10: burn arithmetic, exact, with both windows over and a least number of events', () => {
    const { input, expected } = read('slo-10-burn-arithmetic', 'series') as Case<
      {
        objective: number
        window_days: number
        monthly_requests: number
        cases: { long: number; short: number; factor: number }[]
        low_traffic: { bad: number; total: number; objective: number; min_events: number }
      },
      {
        budget_requests: number
        burn_long: number[]
        fires: boolean[]
        days_left_at_first: number
        low_traffic: { burn: number; fires: boolean }
      }
    >
    const objective = toRational(`${input.objective}%`)
    const policy = (factor: number): ReturnType<typeof policyFor> =>
      policyFor(
        { name: 'case', comparator: '>', alerts: [{ severity: 'page', long: '1h', short: '5m', factor }] },
        '30d',
      )
    expect(toNumber(budgetRequests(objective, input.monthly_requests))).toBe(expected.budget_requests)
    const fires = input.cases.map(({ long, short, factor }) => {
      const share = (value: number) => ({ kind: 'share', share: String(value) }) as const
      return (
        decidePage(policy(factor), objective, { '1h': share(long), '5m': share(short) }).verdict === 'page'
      )
    })
    expect(fires).toEqual(expected.fires)
    const burns = input.cases.map(({ long }) => burnRate(String(long), objective))
    expect(burns.map(burnNumber)).toEqual(expected.burn_long)
    const days = daysLeft(burns[0]!, rational(input.window_days))
    expect(days === null ? null : toNumber(days)).toBe(expected.days_left_at_first)

    const { bad, total, objective: percent, min_events } = input.low_traffic
    const counts = { kind: 'counts', bad, total } as const
    const few = decidePage(
      policy(14.4),
      toRational(`${percent}%`),
      { '1h': counts, '5m': counts },
      { minRequests: min_events },
    )
    expect({ burn: burnNumber(few.tiers[0]!.long.burn!), fires: few.verdict === 'page' }).toEqual(
      expected.low_traffic,
    )
  })
})
