import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pausingRows } from '../../test/fixtures/why.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { percentile, sortAscending } from '../stats/percentile.ts'
import { lengthBins, percentileShift, weightedPercentile, type Segments } from './why-mix.ts'
import { meanParts, partsOf, whyDifferent } from './why-parts.ts'
import { stutterCauses } from './why-stutter.ts'

describe('the exact decomposition', () => {
  it('the seed’s X and Y: same speed, 6.3 s of length', () => {
    const side = (outputTokens: number) => partsOf({ ttftMs: 300, tpotMs: 20, outputTokens })
    expect(whyDifferent(side(400), side(85))).toEqual({
      ttftMs: 0,
      tpotMs: 0,
      lengthMs: 6300,
      totalMs: expect.closeTo(6300, 9) as number,
    })
  })

  const answers = fc.array(
    fc.record({
      ttft: fc.double({ min: 0, max: 1000, noNaN: true }),
      gaps: fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  const rowsOf = (list: readonly { readonly ttft: number; readonly gaps: readonly number[] }[]) =>
    list.map(({ ttft, gaps }, i) =>
      streamedRow({ id: `r${i}`, plannedMs: i * 100, ttftMs: ttft, gapsMs: gaps }),
    )

  it('means of many answers multiply and add up to their mean E2E, and the parts of a difference to it', () => {
    fc.assert(
      fc.property(answers, answers, (x, y) => {
        const [a, b] = [meanParts(rowsOf(x))!, meanParts(rowsOf(y))!]
        expect(a.ttftMs + (a.tpotMs ?? 0) * (a.outputTokens - 1)).toBeCloseTo(a.e2eMs, 6)
        const { ttftMs, tpotMs, lengthMs, totalMs } = whyDifferent(a, b)
        expect(ttftMs + tpotMs + lengthMs).toBeCloseTo(totalMs, 6)
        expect(totalMs).toBeCloseTo(a.e2eMs - b.e2eMs, 6)
      }),
    )
  })

  it('without an answer that is known there are no parts', () => {
    expect(meanParts([])).toBeNull()
  })
})

describe('mix against within', () => {
  const uniform = (n: number, low: number, high: number): number[] =>
    Array.from({ length: n }, (_, i) => low + ((high - low) * (i + 0.5)) / n)
  const traffic = (short: number, long: number): Segments =>
    new Map([
      ['short', uniform(short, 0.2, 0.8)],
      ['long', uniform(long, 0.8, 1.6)],
    ])

  it('1 % of long requests becomes 8 %: the P99 moves from 0.8 to 1.5 and no segment did', () => {
    const found = percentileShift(traffic(9900, 100), traffic(9200, 800), '99')!
    expect(found.before).toBeCloseTo(0.8, 2)
    expect(found.after).toBeCloseTo(1.5, 2)
    expect(found.mix).toBeCloseTo(0.7, 2)
    expect(found.within).toBeCloseTo(0, 2)
    expect(found.warning?.kind).toBe('mix_shift')
    expect(found.segments.map(({ segment, share }) => [segment, ...share])).toEqual([
      ['short', 0.99, 0.92],
      ['long', 0.01, 0.08],
    ])
  })

  it('segments that also slowed down are told apart from the mix', () => {
    const slower = new Map(
      [...traffic(9200, 800)].map(([name, values]) => [name, values.map((value) => value + 0.175)]),
    )
    const found = percentileShift(traffic(9900, 100), slower, '99')!
    expect(found.total).toBeCloseTo(0.875, 2)
    expect(found.mix).toBeCloseTo(0.7, 2)
    expect(found.within).toBeCloseTo(0.175, 2)
    expect(found.warning).toBeNull()
  })

  it('a segment that only came after is mix; one that left is too', () => {
    const before = new Map([['short', uniform(100, 1, 2)]])
    const after = new Map([
      ['short', uniform(100, 1, 2)],
      ['new', uniform(100, 5, 6)],
    ])
    expect(percentileShift(before, after, '99')!.within).toBeCloseTo(0, 9)
    expect(percentileShift(after, before, '99')!.within).toBeCloseTo(0, 9)
    expect(percentileShift(new Map(), after, '99')).toBeNull()
  })

  it('mix and within add up to the move', () => {
    const side = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 50 })), {
      minLength: 1,
      maxLength: 20,
    })
    const group = (pairs: readonly (readonly [string, number])[]): Segments => {
      const map = new Map<string, number[]>()
      for (const [name, value] of pairs) map.set(name, [...(map.get(name) ?? []), value])
      return map
    }
    fc.assert(
      fc.property(side, side, (x, y) => {
        const found = percentileShift(group(x), group(y), '90')!
        expect(found.mix + found.within).toBeCloseTo(found.total, 9)
        expect(found.before).toBe(percentile(sortAscending(x.map(([, value]) => value)), '90'))
      }),
    )
  })

  it('ties of weights are ties', () => {
    const values = Array.from({ length: 10 }, (_, i) => ({ value: i + 1, weight: 0.1 }))
    expect(weightedPercentile(values, 0.7)).toBe(7)
    expect(weightedPercentile([], 0.5)).toBeNull()
  })

  it('bins have round edges near the quartiles, and one where all are alike', () => {
    const bin = lengthBins([100, 240, 512, 1234, 3000, 4000, 5000, 8000])
    expect([100, 300, 2000, 4500, 9000].map(bin)).toEqual([
      'under 240',
      '240–1199',
      '1200–3999',
      '4000 and over',
      '4000 and over',
    ])
    expect(lengthBins([512, 512, 512])(512)).toBe('all')
  })
})

describe('pauses', () => {
  it('coincide with prefills, far more than by chance', () => {
    const found = stutterCauses(pausingRows(true))
    expect(found).toMatchObject({ pausedStreams: 8, withPrefill: 8, prefillTokens: 6000, usualTokens: 200 })
    expect(found.byChance).toBeLessThan(4)
    expect(found.pauses[0]).toMatchObject({ id: 'r3', gapMs: 300, medianGapMs: 20, prefill: { id: 'r4' } })
    expect(found.moments[0]).toMatchObject({ streams: 1, prefill: true })
  })
  it('there are none in even streams', () => {
    expect(stutterCauses(pausingRows(false))).toMatchObject({ streams: 40, pausedStreams: 0, withPrefill: 0 })
  })
  it('a stall that holds all streams is one moment', () => {
    const rows = Array.from({ length: 5 }, (_, i) =>
      streamedRow({
        id: `r${i}`,
        plannedMs: i * 10,
        ttftMs: 100,
        gapsMs: Array.from({ length: 20 }, (_, gap) => (gap === 8 ? 500 : 20)),
      }),
    )
    const { moments, withPrefill } = stutterCauses(rows)
    expect(moments).toEqual([{ atMs: 260, streams: 5, longestMs: 500, prefill: false }])
    expect(withPrefill).toBe(0)
  })
  it('nothing is nothing', () => {
    expect(stutterCauses([])).toMatchObject({ streams: 0, pauses: [], byChance: 0, prefillTokens: null })
  })
})
