import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomStream, type Random } from '../../base/random.ts'
import { arrivalTimes, expectedArrivals, pacerEndMs } from './arrivals.ts'
import { describePacer } from './describe-pacer.ts'
import { checkPacer, type OpenLoopPacer, type Pacer } from './pacer.ts'

function take(pacer: OpenLoopPacer, count: number, seed: number | string = 1): number[] {
  const times: number[] = []
  for (const time of arrivalTimes(pacer, randomStream(seed, 'arrivals'))) {
    if (times.length === count) break
    times.push(time)
  }
  return times
}

describe('arrival times', () => {
  const rows: [sentence: string, pacer: OpenLoopPacer, times: number[]][] = [
    ['constant starts at once', { kind: 'constant', ratePerSecond: 5 }, [0, 200, 400, 600]],
    ['constant below one a second', { kind: 'constant', ratePerSecond: 0.25 }, [0, 4000, 8000]],
    ['gamma of cv 0 is constant', { kind: 'gamma', ratePerSecond: 4, cv: 0 }, [0, 250, 500]],
    [
      'a flat ramp is constant',
      { kind: 'ramp', fromPerSecond: 2, toPerSecond: 2, durationMs: 2000 },
      [0, 500, 1000, 1500],
    ],
    // Λ(t) = t²/2 (t in s): i is reached at √(2i).
    [
      'a ramp from nothing',
      { kind: 'ramp', fromPerSecond: 0, toPerSecond: 2, durationMs: 2000 },
      [0, 1000 * Math.SQRT2],
    ],
    // Λ(t) = 4t − t² reaches 4 at the end only, where the rate is nothing.
    [
      'a ramp to nothing',
      { kind: 'ramp', fromPerSecond: 4, toPerSecond: 0, durationMs: 2000 },
      [0, 1000 * (2 - Math.sqrt(3)), 1000 * (2 - Math.SQRT2), 1000],
    ],
    [
      'steps with a pause',
      {
        kind: 'steps',
        steps: [
          { ratePerSecond: 2, durationMs: 1000 },
          { ratePerSecond: 0, durationMs: 5000 },
          { ratePerSecond: 4, durationMs: 500 },
        ],
      },
      [0, 500, 6000, 6250],
    ],
    [
      'a step that ends between two sends hands its half over',
      {
        kind: 'steps',
        steps: [
          { ratePerSecond: 1, durationMs: 1500 },
          { ratePerSecond: 2, durationMs: 1000 },
        ],
      },
      [0, 1000, 1750, 2250],
    ],
    ['one burst', { kind: 'burst', size: 3, everyMs: null }, [0, 0, 0]],
    ['bursts again and again', { kind: 'burst', size: 2, everyMs: 500 }, [0, 0, 500, 500, 1000]],
    ['a schedule as it is', { kind: 'schedule', timesMs: [0, 3, 3, 9], name: 'trace' }, [0, 3, 3, 9]],
  ]
  test.each(rows)('%s', (_sentence, pacer, expected) => {
    const infinite =
      pacer.kind === 'constant' ||
      pacer.kind === 'gamma' ||
      (pacer.kind === 'burst' && pacer.everyMs !== null)
    const times = take(pacer, infinite ? expected.length : Number.POSITIVE_INFINITY)
    expect(times).toHaveLength(expected.length)
    times.forEach((time, i) => expect(time).toBeCloseTo(expected[i] ?? Number.NaN, 6))
  })

  test('the Poisson golden: gaps −ln(1 − u) ÷ rate, summed', () => {
    const expected = [
      0.010220641794411395, 0.042866317414019826, 0.04578593460814759, 0.06641292216247005,
      0.09004206080051312,
    ]
    const times: number[] = []
    for (const time of arrivalTimes({ kind: 'poisson', ratePerSecond: 10 }, sfc32WithCounter(1, 2, 3, 4))) {
      if (times.length === 5) break
      times.push(time)
    }
    times.forEach((time, i) => expect(time / 1000 / (expected[i] ?? 0)).toBeCloseTo(1, 12))
  })

  test('the millionth constant send has not drifted', () => {
    let last = 0
    let count = 0
    for (const time of arrivalTimes({ kind: 'constant', ratePerSecond: 3 }, randomStream(1, 'x'))) {
      last = time
      if (count++ === 3_000_000) break
    }
    expect(last).toBe(1_000_000_000)
  })

  test('the first 60 s of 5/s are 300 sends, the last at 59.8 s', () => {
    const times = take({ kind: 'constant', ratePerSecond: 5 }, 301).filter((time) => time < 60_000)
    expect(times).toHaveLength(300)
    expect(times.at(-1)).toBe(59_800)
  })
})

const openPacer: fc.Arbitrary<OpenLoopPacer> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('constant', 'poisson'),
    ratePerSecond: fc.double({ min: 0.01, max: 1e4, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('gamma' as const),
    ratePerSecond: fc.double({ min: 0.01, max: 1e4, noNaN: true }),
    cv: fc.double({ min: 0, max: 4, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('ramp' as const),
    fromPerSecond: fc.double({ min: 0, max: 50, noNaN: true }),
    toPerSecond: fc.double({ min: 0.1, max: 50, noNaN: true }),
    durationMs: fc.integer({ min: 1, max: 20_000 }),
    spacing: fc.constantFrom('even' as const, 'poisson' as const),
  }),
  fc.record({
    kind: fc.constant('steps' as const),
    steps: fc.array(
      fc.record({
        ratePerSecond: fc.double({ min: 0, max: 50, noNaN: true }),
        durationMs: fc.integer({ min: 1, max: 5000 }),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    spacing: fc.constantFrom('even' as const, 'poisson' as const),
  }),
  fc.record({
    kind: fc.constant('burst' as const),
    size: fc.integer({ min: 1, max: 20 }),
    everyMs: fc.option(fc.integer({ min: 1, max: 1000 })),
  }),
)

describe('laws of every pacer', () => {
  test('times are finite, from 0, and never decrease', () => {
    fc.assert(
      fc.property(openPacer, fc.integer(), (pacer, seed) => {
        let before = 0
        for (const time of take(pacer, 300, seed)) {
          expect(Number.isFinite(time)).toBe(true)
          expect(time).toBeGreaterThanOrEqual(before)
          before = time
        }
        expect(before).toBeLessThanOrEqual(pacerEndMs(pacer) ?? Number.POSITIVE_INFINITY)
      }),
    )
  })

  test('the same seed gives the same times, and a longer plan extends a shorter one', () => {
    fc.assert(
      fc.property(openPacer, fc.integer(), fc.nat(200), (pacer, seed, count) => {
        expect(take(pacer, 250, seed).slice(0, count)).toEqual(take(pacer, count, seed))
      }),
    )
  })

  test('even spacing sends as many as the rate promises, to within one', () => {
    fc.assert(
      fc.property(openPacer, (pacer) => {
        const end = pacerEndMs(pacer)
        if (end === null || (pacer.kind !== 'ramp' && pacer.kind !== 'steps') || pacer.spacing === 'poisson')
          return
        const sent = take(pacer, Number.POSITIVE_INFINITY).length
        expect(Math.abs(sent - expectedArrivals(pacer, end))).toBeLessThanOrEqual(1 + 1e-6)
      }),
    )
  })

  const shapes: [cv: number, pacer: OpenLoopPacer][] = [
    [1, { kind: 'poisson', ratePerSecond: 7 }],
    [0.5, { kind: 'gamma', ratePerSecond: 7, cv: 0.5 }],
    [1, { kind: 'gamma', ratePerSecond: 7, cv: 1 }],
    [2, { kind: 'gamma', ratePerSecond: 7, cv: 2 }],
  ]
  test.each(shapes)('gaps have the mean 1 ÷ rate and cv %d, within four standard errors', (cv, pacer) => {
    const n = 40_000
    const times = take(pacer, n, 'shape')
    const gaps = times.map((time, i) => time - (i === 0 ? 0 : (times[i - 1] ?? 0)))
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / n
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / (n - 1)
    expect(Math.abs(mean - 1000 / 7)).toBeLessThan((4 * cv * 1000) / 7 / Math.sqrt(n))
    // Standard error of the cv of a gamma variate with excess kurtosis 6cv²: cv·√((1 + 2cv²… ) ÷ 2n), bounded here by its kurtosis part.
    const standardError = cv * Math.sqrt((0.5 + 2 * cv * cv) / n)
    expect(Math.abs(Math.sqrt(variance) / mean - cv)).toBeLessThan(4 * standardError)
  })

  test('Poisson counts in a window vary as Poisson counts do: they are not rescaled to a total', () => {
    const counts: number[] = []
    for (let seed = 0; seed < 400; seed++) {
      counts.push(
        take({ kind: 'poisson', ratePerSecond: 10 }, 400, seed).filter((time) => time < 10_000).length,
      )
    }
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1)
    expect(Math.abs(mean - 100)).toBeLessThan(4 * Math.sqrt(100 / 400))
    // Index of dispersion 1; its standard error over 400 windows is √(2 ÷ 399).
    expect(Math.abs(variance / mean - 1)).toBeLessThan(4 * Math.sqrt(2 / 399))
  })

  test('a Poisson ramp sends more where the rate is higher: a quarter in the first half from nothing', () => {
    const pacer: OpenLoopPacer = {
      kind: 'ramp',
      fromPerSecond: 0,
      toPerSecond: 400,
      durationMs: 60_000,
      spacing: 'poisson',
    }
    const times = take(pacer, Number.POSITIVE_INFINITY, 'ramp')
    const share = times.filter((time) => time < 30_000).length / times.length
    expect(Math.abs(times.length - 12_000)).toBeLessThan(4 * Math.sqrt(12_000))
    expect(Math.abs(share - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / 12_000))
  })
})

describe('describePacer', () => {
  const rows: [pacer: Pacer, text: string][] = [
    [{ kind: 'constant', ratePerSecond: 6 }, 'constant 6/s: request i at i ÷ 6 s'],
    [{ kind: 'poisson', ratePerSecond: 3.4 }, 'Poisson 3.4/s: gaps of −ln(1 − U) ÷ 3.4 s, not rescaled'],
    [
      { kind: 'gamma', ratePerSecond: 6, cv: 2 },
      'gamma 6/s, cv 2: gaps of Gamma(shape 0.25) ÷ (0.25 × 6) s, not rescaled',
    ],
    [
      { kind: 'ramp', fromPerSecond: 1, toPerSecond: 10, durationMs: 60_000 },
      'ramp 1/s to 10/s over 60 s: rate(t) = 1 + 9 × t ÷ 60 s; request i where ∫ rate reaches i',
    ],
    [
      { kind: 'ramp', fromPerSecond: 10, toPerSecond: 1, durationMs: 60_000, spacing: 'poisson' },
      'ramp 10/s to 1/s over 60 s: rate(t) = 10 − 9 × t ÷ 60 s; a Poisson process of that rate (a unit one, time-changed by the inverse of ∫ rate)',
    ],
    [
      {
        kind: 'steps',
        steps: [
          { ratePerSecond: 1, durationMs: 30_000 },
          { ratePerSecond: 2, durationMs: 1500 },
        ],
      },
      'steps 1/s for 30 s, 2/s for 1.5 s; request i where ∫ rate reaches i',
    ],
    [{ kind: 'burst', size: 100, everyMs: null }, 'burst of 100 at once: every request at 0 s'],
    [{ kind: 'burst', size: 10, everyMs: 5000 }, 'burst of 10 every 5 s: request i at ⌊i ÷ 10⌋ × 5 s'],
    [{ kind: 'schedule', timesMs: [1, 2], name: 'azure.csv' }, 'schedule azure.csv: 2 recorded times'],
    [
      { kind: 'concurrency', users: 8, thinkTimeMs: 0 },
      'closed loop, 8 users: a request as soon as the last is answered; it waits for the server, so it cannot show overload',
    ],
    [
      { kind: 'concurrency', users: 1, thinkTimeMs: 2000, thinkTime: 'exponential', staggerMs: 500 },
      'closed loop, 1 user: a request −ln(1 − U) × 2 s after the last is answered, first sends spread over 0.5 s; it waits for the server, so it cannot show overload',
    ],
  ]
  test.each(rows)('%o', (pacer, text) => expect(describePacer(pacer)).toBe(text))
})

describe('checkPacer refuses what cannot run', () => {
  const rows: [sentence: string, pacer: Pacer, received: string][] = [
    ['a rate of nothing', { kind: 'poisson', ratePerSecond: 0 }, '0'],
    ['an infinite rate', { kind: 'constant', ratePerSecond: Number.POSITIVE_INFINITY }, 'Infinity'],
    ['a negative cv', { kind: 'gamma', ratePerSecond: 1, cv: -1 }, '-1'],
    [
      'a ramp from nothing to nothing',
      { kind: 'ramp', fromPerSecond: 0, toPerSecond: 0, durationMs: 1 },
      '0',
    ],
    ['no steps', { kind: 'steps', steps: [] }, '0'],
    ['half a user', { kind: 'concurrency', users: 0.5, thinkTimeMs: 0 }, '0.5'],
    ['a schedule that goes back', { kind: 'schedule', timesMs: [5, 4], name: 'x' }, '4'],
  ]
  test.each(rows)('%s', (_sentence, pacer, received) => {
    expect(() => checkPacer(pacer)).toThrow(expect.objectContaining({ code: 'PLIM_USAGE', received }))
  })
})

/** sfc32 with its counter given too, as the golden states it; discards 12. */
function sfc32WithCounter(a: number, b: number, c: number, d: number): Random {
  const s = [a, b, c, d]
  function nextUint32(): number {
    const [s0 = 0, s1 = 0, s2 = 0, counter = 0] = s
    const t = (((s0 + s1) | 0) + counter) | 0
    s[3] = (counter + 1) | 0
    s[0] = s1 ^ (s1 >>> 9)
    s[1] = (s2 + (s2 << 3)) | 0
    s[2] = (((s2 << 21) | (s2 >>> 11)) + t) | 0
    return t >>> 0
  }
  for (let round = 0; round < 12; round++) nextUint32()
  return { nextUint32, next: () => nextUint32() / 4294967296 }
}
