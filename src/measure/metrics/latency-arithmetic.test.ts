import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decomposeLatency,
  endToEndMs,
  streamPauses,
  tpotAfterFirstEventMs,
  tpotMs,
  tpotResolutionMs,
  type LatencyParts,
} from './decompose-latency.ts'
import { goodputBounds, jointShareBounds, keepsTokenFloor, tpotLimitForFloorMs } from './goodput-bounds.ts'
import { fitPrefill, marginalPrefillRate, twoPointError, twoPointPrefill } from './prefill-line.ts'

const parts = fc.record({
  ttftMs: fc.double({ min: 0, max: 1e4, noNaN: true }),
  tpotMs: fc.option(fc.double({ min: 0, max: 500, noNaN: true })),
  outputTokens: fc.integer({ min: 0, max: 4000 }),
})

describe('decomposeLatency', () => {
  it('adds up, and turns its sign with its sides', () => {
    fc.assert(
      fc.property(parts, parts, (a: LatencyParts, b: LatencyParts) => {
        const known = (p: LatencyParts): LatencyParts => ({
          ...p,
          tpotMs: p.outputTokens > 1 ? (p.tpotMs ?? 1) : null,
        })
        const found = decomposeLatency(known(a), known(b))
        expect(found.ttftMs + found.tpotMs + found.lengthMs).toBeCloseTo(found.totalMs, 5)
        expect(decomposeLatency(known(b), known(a)).lengthMs).toBeCloseTo(-found.lengthMs, 6)
      }),
    )
  })
  it('against a one-token answer everything but TTFT is length', () => {
    expect(
      decomposeLatency(
        { ttftMs: 300, tpotMs: 20, outputTokens: 101 },
        { ttftMs: 200, tpotMs: null, outputTokens: 1 },
      ),
    ).toEqual({
      ttftMs: 100,
      tpotMs: 0,
      lengthMs: 2000,
      totalMs: 2100,
    })
  })
  it('TPOT undoes E2E, and is null without a pace', () => {
    expect(tpotMs(endToEndMs({ ttftMs: 300, tpotMs: 20, outputTokens: 400 }), 300, 400)).toBeCloseTo(20, 10)
    expect([
      tpotMs(300, 300, 1),
      tpotMs(300, 300, 0),
      tpotAfterFirstEventMs(9, 9, 4, 4),
      tpotResolutionMs(50, 1),
    ]).toEqual([null, null, null, null])
  })
})

describe('streamPauses', () => {
  it('of nothing, and of no time, are null', () => {
    expect([streamPauses([]), streamPauses([0, 0])]).toEqual([null, null])
    expect(streamPauses([10])).toEqual({ meanMs: 10, maxMs: 10, worstShare: 1, timeWeightedP95Ms: 10 })
  })
})

describe('prefill', () => {
  it('two points and a fit through them agree', () => {
    const points = [
      { promptTokens: 256, ttftMs: 23 },
      { promptTokens: 8000, ttftMs: 280 },
    ] as const
    const fit = fitPrefill(points)
    expect(fit?.robust.tokensPerSecond).toBeCloseTo(twoPointPrefill(...points)?.tokensPerSecond as number, 6)
    expect(fit?.leastSquares.fixedIntervalMs).toBeNull()
    expect(fit?.curve).toBeNull()
  })
  it('a curve is seen, and its fixed cost found', () => {
    const points = [256, 1024, 2048, 4096, 8000].map((promptTokens) => ({
      promptTokens,
      ttftMs: 15 + promptTokens / 30 + 1e-6 * promptTokens ** 2,
    }))
    const curve = fitPrefill(points)?.curve
    expect(curve?.constant).toBeCloseTo(15, 6)
    expect(curve?.quadratic).toBeCloseTo(1e-6, 12)
    expect(fitPrefill(points)?.leastSquares.fixedMs).toBeLessThan(15)
  })
  it('no rise has no rate', () => {
    expect(
      twoPointPrefill({ promptTokens: 1, ttftMs: 9 }, { promptTokens: 9, ttftMs: 5 })?.tokensPerSecond,
    ).toBeNull()
    expect(twoPointPrefill({ promptTokens: 1, ttftMs: 9 }, { promptTokens: 1, ttftMs: 5 })).toBeNull()
    expect(twoPointError({ promptTokens: 1, ttftMs: 9 }, { promptTokens: 1, ttftMs: 5 }, 1)).toBeNull()
    expect(marginalPrefillRate({ linear: 0, quadratic: 0 }, 5)).toBeNull()
    expect(fitPrefill([])).toBeNull()
  })
})

describe('goodput bounds', () => {
  it('hold the joint share of any requests', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 100 }),
        (rows) => {
          const share = (pass: (row: readonly boolean[]) => boolean): number =>
            rows.filter(pass).length / rows.length
          const bounds = jointShareBounds([0, 1, 2].map((k) => share((row) => row[k] === true)))
          const joint = share((row) => row.every(Boolean))
          expect(joint).toBeGreaterThanOrEqual(bounds.low - 1e-12)
          expect(joint).toBeLessThanOrEqual(bounds.high + 1e-12)
        },
      ),
    )
    expect(goodputBounds(6, 1, [])).toEqual({ low: 6, high: 6 })
  })
  it('a floor of tokens is kept at the tie, for every whole floor', () => {
    for (let floor = 1; floor <= 1000; floor++) expect(keepsTokenFloor(1 / floor, floor)).toBe(true)
    expect(keepsTokenFloor(0.0101, 100)).toBe(false)
    expect(tpotLimitForFloorMs(0)).toBeNull()
  })
})
