import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aimd } from './aimd.ts'
import { poolSaturation } from './endpoint-gate.ts'
import { envoyGradient } from './envoy-gradient.ts'
import { gradient2 } from './gradient2.ts'
import { softCeilings } from './soft-ceilings.ts'

const rtt = fc.double({ min: 0.1, max: 1e5, noNaN: true })
const limits = fc.integer({ min: 20, max: 200 })

describe('Gradient2', () => {
  it.each([
    ['twice the usual: g = 0.75', 100, 100, 200, 95.8],
    ['as usual: only the queue is added', 100, 100, 100, 100.8],
    ['ten times the usual: g no less than 0.5', 100, 100, 1000, 90.8],
    ['at the floor', 20, 100, 200, 20],
    ['at the ceiling', 200, 100, 100, 200],
  ])('%s', (_, limit, longRtt, shortRtt, next) =>
    expect(gradient2(limit, { longRtt, shortRtt, inFlight: limit })).toBeCloseTo(next, 10),
  )
  it('learns nothing while fewer than half are in flight', () => {
    expect(gradient2(100, { longRtt: 100, shortRtt: 1000, inFlight: 49 })).toBe(100)
    expect(gradient2(100, { longRtt: 100, shortRtt: 1000, inFlight: 50 })).toBeCloseTo(90.8, 10)
  })
  it('a longer short RTT never raises the limit, and the bounds hold', () => {
    fc.assert(
      fc.property(limits, rtt, rtt, rtt, (limit, longRtt, one, other) => {
        const at = (shortRtt: number): number => gradient2(limit, { longRtt, shortRtt, inFlight: limit })
        const [less, more] = [at(Math.min(one, other)), at(Math.max(one, other))]
        expect(more).toBeLessThanOrEqual(less)
        expect(more).toBeGreaterThanOrEqual(20)
        expect(less).toBeLessThanOrEqual(200)
      }),
    )
  })
})

describe('AIMD', () => {
  it.each([
    ['a drop', 100, { rttMs: 10, dropped: true, inFlight: 100 }, 90],
    ['slower than 5 s is a drop', 100, { rttMs: 5001, dropped: false, inFlight: 100 }, 90],
    ['5 s are not', 100, { rttMs: 5000, dropped: false, inFlight: 100 }, 101],
    ['half used: one more', 100, { rttMs: 10, dropped: false, inFlight: 50 }, 101],
    ['less than half: nothing to learn', 100, { rttMs: 10, dropped: false, inFlight: 49 }, 100],
    ['a drop at the floor', 21, { rttMs: 10, dropped: true, inFlight: 21 }, 20],
    ['one more at the ceiling', 200, { rttMs: 10, dropped: false, inFlight: 200 }, 200],
  ])('%s', (_, limit, sample, next) => expect(aimd(limit, sample)).toBe(next))
})

describe('Envoy’s gradient', () => {
  it.each([
    ['at the least RTT with its buffer: only the headroom', 100, 100, 125, 110],
    ['twice as slow: 62.5 + √62.5', 100, 100, 200, 70],
    ['ten times as slow: half', 100, 100, 1000, 57],
    ['far faster: twice, no more', 100, 100, 10, 214],
    ['the most', 1000, 100, 100, 1000],
    ['the least', 3, 100, 10_000, 3],
  ])('%s', (_, limit, minRtt, sampleRtt, next) =>
    expect(envoyGradient(limit, { minRtt, sampleRtt })).toBe(next),
  )
  it('without load it grows without end: the headroom is added at every window', () => {
    let limit = 10
    for (let window = 0; window < 20; window++) limit = envoyGradient(limit, { minRtt: 100, sampleRtt: 125 })
    expect(limit).toBeGreaterThan(100)
  })
})

describe('the picker’s gate', () => {
  it.each([
    [
      'one long queue fills the pool',
      [
        [0, 0.4],
        [10, 0.8],
      ],
      1.25,
      true,
    ],
    [
      'all at their thresholds',
      [
        [5, 0.8],
        [5, 0.8],
      ],
      1,
      true,
    ],
    [
      'all below',
      [
        [2, 0.6],
        [3, 0.7],
      ],
      0.8125,
      false,
    ],
  ] as const)('%s', (_, pods, saturation, gated) =>
    expect(poolSaturation(pods.map(([queue, kv]) => ({ queue, kv })))).toEqual({
      saturation: expect.closeTo(saturation, 12) as number,
      gated,
    }),
  )
  it('what is not known counts as full', () => {
    expect(poolSaturation([null])).toEqual({ saturation: 1, gated: true })
    expect(poolSaturation([null, { queue: 0, kv: 0.4 }])).toEqual({ saturation: 0.75, gated: false })
    expect(poolSaturation([])).toEqual({ saturation: null, gated: true })
  })
})

describe('soft reflective ceilings', () => {
  it('three bands at 0.6', () => {
    const { ceilings, period } = softCeilings(3, 0.6)
    expect(ceilings.map((ceiling) => Number(ceiling.toFixed(12)))).toEqual([1, 0.7, 0.4])
    expect(period).toBe(2)
    expect(softCeilings(1, 0.6).ceilings).toEqual([1])
    expect(softCeilings(3, 0)).toEqual({ ceilings: [1, 1, 1], period: 0 })
    expect(softCeilings(2, 1)).toEqual({ ceilings: [1, 0], period: null })
  })
})
