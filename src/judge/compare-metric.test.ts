import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  minimumDetectableEffect,
  minimumDetectablePairedEffect,
  pairsForPower,
  runsForPower,
} from '../stats/power.ts'
import { detectable, runsToSee } from './compare-runs-needed.ts'
import { compareMetric, compareSummaries, defaultRules, type MetricValues } from './compare-metric.ts'

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../test/cases/${name}`, import.meta.url), 'utf8'))

interface Arm {
  readonly mean: number
  readonly sd: number | null
  readonly n: number
}

describe('stat-08: five runs of 20.0 ms against five of 19.3 ms', () => {
  const { a, b, single } = read('stat-08-ab-five-runs.in.json') as Record<'a' | 'b', Arm> & {
    readonly single: Record<'a' | 'b', Arm>
  }
  const { expect: wanted } = read('stat-08-ab-five-runs.expect.json') as {
    readonly expect: {
      readonly diff: number
      readonly band_2se: number
      readonly runs_needed_each: number
    }
  }
  const found = compareSummaries({ ...a, sd: a.sd ?? 0 }, { ...b, sd: b.sd ?? 0 })

  test('neither a difference nor its absence', () => {
    expect(found.verdict).toBe('inconclusive')
    expect(found.within_margin).toBe(false)
    expect(found.difference.value).toBeCloseTo(wanted.diff, 12)
  })

  test('± 1.17 ms with t, ± 1.01 by the rule of two', () => {
    expect(found.difference.half_width).toBeCloseTo(1.1667560576755094, 8)
    expect(found.difference.half_width_rule_of_two).toBeCloseTo(wanted.band_2se, 9)
  })

  test('−3.5 % [−9.1, +2.4] % as a ratio', () => {
    expect(found.change).toBeCloseTo(-0.035, 12)
    expect(found.interval?.map((end) => (100 * end).toFixed(1))).toEqual(['-9.1', '2.4'])
  })

  test('11 runs by the rule of two, 12 with t, 22 for 80 % power; 5 + 5 can show 8.1 %', () => {
    expect(found.runs_needed).toMatchObject({ rule_of_two: wanted.runs_needed_each, t: 12, power: 22 })
    expect(found.runs_needed?.to_tell).toBe(22)
    expect(found.minimum_detectable).toBeCloseTo(1.6195514714153283 / 20, 5)
  })

  test('one run an arm cannot tell, whatever the difference', () => {
    const one = compareMetric({
      a: [single.a.mean],
      b: [single.b.mean],
      paired: false,
      better: 'lower',
      scale: 'log',
    })
    expect(one).toMatchObject({ verdict: null, interval: null, difference: { half_width: null } })
    expect(one.why).toContain('nothing is known of how runs differ')
    expect(one.change).toBeCloseTo(-0.25, 12)
  })
})

const spread = [-1, 0.5, 0, -0.5, 1].map((step) => step * Math.sqrt(1.024))
const around = (mean: number, sd: number): number[] => spread.map((step) => mean + (step * sd) / 0.8)

describe('verdicts', () => {
  const given = (over: Partial<MetricValues>): MetricValues => ({
    a: around(20, 0.05),
    b: around(20, 0.05),
    paired: false,
    better: 'lower',
    scale: 'log',
    ...over,
  })
  const table: [sentence: string, values: MetricValues, verdict: string][] = [
    ['the same within a tight noise is equivalent', given({}), 'equivalent'],
    ['a latency that fell is better', given({ b: around(18, 0.05) }), 'better'],
    ['a latency that rose is worse', given({ b: around(22, 0.05) }), 'worse'],
    ['a throughput that rose is better', given({ b: around(22, 0.05), better: 'higher' }), 'better'],
    ['a throughput that fell is worse', given({ b: around(18, 0.05), better: 'higher' }), 'worse'],
    ['a real change within the margin is still a change', given({ b: around(20.2, 0.05) }), 'worse'],
    ['noise alone is inconclusive', given({ a: around(20, 2), b: around(20.1, 2) }), 'inconclusive'],
    [
      'a little better and not shown, with a safe upper end: no regression',
      given({ a: around(20, 0.4), b: around(19.8, 0.4) }),
      'no_regression',
    ],
    [
      'a change larger than the margin that is not shown is an open question, though the upper end is safe',
      given({ a: around(20, 0.8), b: around(19.3, 0.8) }),
      'inconclusive',
    ],
    [
      'shares that are 0 in all runs are equivalent',
      given({ a: [0, 0, 0], b: [0, 0, 0], scale: 'points' }),
      'equivalent',
    ],
    [
      'half a point of failures more is within a margin of two points',
      given({ a: [0, 0, 0.001], b: [0.005, 0.005, 0.006], scale: 'points' }),
      'worse',
    ],
    [
      'pairs that go together show what the same runs apart do not',
      given({
        a: around(20, 0.8),
        b: around(20, 0.8).map((value, i) => value - 0.7 + i / 100),
        paired: true,
      }),
      'better',
    ],
  ]
  it.each(table)('%s', (_, values, verdict) => {
    expect(compareMetric(values).verdict).toBe(verdict)
  })

  it('a shown change within the margin says so', () => {
    expect(compareMetric(given({ b: around(20.2, 0.05) })).within_margin).toBe(true)
    expect(compareMetric(given({ b: around(22, 0.05) })).within_margin).toBe(false)
  })

  it('scores with a mean of 0 have no relative change, and nothing is NaN', () => {
    const found = compareMetric(given({ a: [-1, 1], b: [1, 2], scale: 'difference' }))
    expect(found).toMatchObject({ change: null, interval: null, minimum_detectable: null })
    expect(JSON.stringify(found)).not.toMatch(/NaN|Infinity/)
  })
})

describe('the least effect that a design sees', () => {
  const level = { alpha: 0.05, power: 0.8 }
  it.each([3, 5, 10, 20])('%s + %s runs: as the exact solution', (n) => {
    expect(detectable({ noiseSd: 0.8, paired: false, n }, level)).toBeCloseTo(
      minimumDetectableEffect(n, 0.8, { sd: 0.8 }) ?? 0,
      5,
    )
  })
  it.each([2, 3, 5, 30])('%s pairs', (n) => {
    expect(detectable({ noiseSd: 0.8, paired: true, n }, level)).toBeCloseTo(
      minimumDetectablePairedEffect(n, 0.8, { sd: 0.8 }) ?? 0,
      5,
    )
  })
  it('the corrected normal formula agrees with the exact search where both can be had', () => {
    for (const delta of [0.12, 0.2, 0.5, 1.5]) {
      const noise = { noiseSd: 0.8, paired: false, alpha: 0.05 }
      expect(runsToSee(delta, 0.8, noise)).toBe(runsForPower(delta, 0.8, { sd: 0.8 }))
      expect(runsToSee(delta, 0.8, { ...noise, paired: true })).toBe(pairsForPower(delta, 0.8, { sd: 0.8 }))
    }
    expect(runsToSee(0, 0.8, { noiseSd: 1, paired: false, alpha: 0.05 })).toBeNull()
    expect(runsToSee(1e-6, 0.8, { noiseSd: 1, paired: false, alpha: 0.05 })).toBeNull()
  })
})

describe('laws', () => {
  // To a thousandth: arms that differ by the last bit of a double have no t worth a law.
  const figure = fc.integer({ min: 1000, max: 100_000 }).map((thousandths) => thousandths / 1000)
  const arm = fc.array(figure, { minLength: 2, maxLength: 8 })
  const opposite = { better: 'worse', worse: 'better' } as const

  it('the unit and the order of the runs do not matter', () => {
    fc.assert(
      fc.property(arm, arm, (a, b) => {
        const base = { paired: false, better: 'lower', scale: 'log' } as const
        const found = compareMetric({ ...base, a, b })
        const turned = compareMetric({
          ...base,
          a: a.map((value) => value * 1000).reverse(),
          b: b.map((value) => value * 1000).reverse(),
        })
        expect(turned.change).toBeCloseTo(found.change ?? 0, 9)
        expect(turned.p ?? 0).toBeCloseTo(found.p ?? 0, 9)
      }),
      { numRuns: 30 },
    )
  })

  it('what is better one way is worse the other way, with the inverse ratio', () => {
    fc.assert(
      fc.property(arm, arm, (a, b) => {
        const base = { paired: false, better: 'lower', scale: 'log' } as const
        const found = compareMetric({ ...base, a, b })
        const turned = compareMetric({ ...base, a: b, b: a })
        expect((1 + (found.change ?? 0)) * (1 + (turned.change ?? 0))).toBeCloseTo(1, 9)
        const shown = found.verdict === 'better' || found.verdict === 'worse'
        const allowed = shown
          ? [opposite[found.verdict as 'better' | 'worse']]
          : ['equivalent', 'no_regression', 'inconclusive']
        expect(allowed).toContain(turned.verdict)
      }),
      { numRuns: 30 },
    )
  })

  it('the interval excludes no change exactly when a difference is shown, and no figure is NaN', () => {
    fc.assert(
      fc.property(arm, arm, fc.boolean(), (a, b, paired) => {
        const n = Math.min(a.length, b.length)
        const found = compareMetric({
          a: paired ? a.slice(0, n) : a,
          b: paired ? b.slice(0, n) : b,
          paired,
          better: 'lower',
          scale: 'log',
        })
        const [low, high] = found.interval ?? [0, 0]
        const shown = found.verdict === 'better' || found.verdict === 'worse'
        fc.pre(Math.abs((found.p ?? 0) - defaultRules.alpha) > 1e-9)
        expect(low > 0 || high < 0).toBe(shown)
        expect(JSON.stringify(found)).not.toMatch(/NaN|Infinity/)
      }),
      { numRuns: 30 },
    )
  })
})

test('the change of a single run against several is between the centres that are printed, geometric means', () => {
  const found = compareMetric({ a: [1, 100], b: [20], paired: false, better: 'lower', scale: 'log' })
  expect(found.a.geometric_mean).toBeCloseTo(10, 12)
  expect(found.change).toBeCloseTo(1, 12)
})

describe('no spread among few values tells nothing, whatever the change', () => {
  const alike = (n: number, by: number, first = 3): MetricValues => ({
    a: Array.from({ length: n }, (_, i) => first + i),
    b: Array.from({ length: n }, (_, i) => first + i + by),
    paired: true,
    better: 'higher',
    scale: 'difference',
  })
  const arms = (n: number, a: number, b: number): MetricValues => ({
    a: Array.from({ length: n }, () => a),
    b: Array.from({ length: n }, () => b),
    paired: false,
    better: 'higher',
    scale: 'log',
  })
  test.each<[string, MetricValues, string | null, number | null]>([
    ['3 pairs each +1', alike(3, 1), null, 6],
    ['3 pairs each +0.1, whose differences are not alike in binary', alike(3, 0.1, 0.3), null, 6],
    ['5 pairs each +1: an exact test cannot go below 0.0625', alike(5, 1), null, 6],
    ['6 pairs each +1 are shown', alike(6, 1), 'better', null],
    ['2 equal pairs', alike(2, 0), null, 5],
    ['3 equal pairs', alike(3, 0), null, 5],
    ['5 equal pairs are equivalent: each side alone is at 0.03', alike(5, 0), 'equivalent', null],
    ['300 equal pairs', alike(300, 0), 'equivalent', null],
    ['3 and 3 runs, alike in each arm', arms(3, 20, 19), null, 4],
    ['4 and 4 such runs', arms(4, 20, 19), 'worse', null],
    ['2 and 2 equal runs', arms(2, 20, 20), null, 3],
  ])('%s', (_sentence, values, verdict, fewest) => {
    const { why, ...found } = compareMetric(values)
    expect(found.verdict).toBe(verdict)
    expect(found.minimum_detectable).toBe(null)
    if (fewest === null) return
    expect(found).toMatchObject({ interval: null, within_margin: false, no_regression: false })
    expect(why).toContain('no spread was seen, and so few can be alike by chance')
    expect(why).toContain(`; ${fewest} `)
  })
})
