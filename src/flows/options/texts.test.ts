import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeLength, parseLength, spreadLength } from './length-text.ts'
import { parsePacer } from './pacer-text.ts'
import type { LengthConfig } from './run-config.ts'

const whole = fc.integer({ min: 1, max: 100_000 })
const lengths: fc.Arbitrary<LengthConfig> = fc.oneof(
  whole.map((tokens) => ({ kind: 'fixed' as const, tokens })),
  fc.tuple(whole, whole).map(([low, more]) => ({ kind: 'uniform' as const, low, high: low + more })),
  fc.tuple(whole, whole).map(([mean, sd]) => ({ kind: 'normal' as const, mean, sd })),
  fc
    .tuple(whole, whole)
    .map(([median, more]) => ({ kind: 'lognormal' as const, median, p99: median + more })),
)

describe('lengths', () => {
  test('law: what is described is read back', () => {
    fc.assert(
      fc.property(lengths, (length) => {
        expect(parseLength(describeLength(length), 'the length')).toEqual(length)
      }),
    )
  })

  test('law: a spread keeps the middle and stays over 0', () => {
    fc.assert(
      fc.property(whole, fc.double({ min: 0, max: 0.99, noNaN: true }), (tokens, ratio) => {
        const spread = spreadLength({ kind: 'fixed', tokens }, ratio, 'the ratio')
        if (spread.kind === 'fixed') return
        if (spread.kind !== 'uniform') throw new Error(spread.kind)
        expect(spread.low).toBeGreaterThanOrEqual(1)
        expect(Math.abs((spread.low + spread.high) / 2 - tokens)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test.each([
    '0',
    '',
    'lognormal 900',
    'uniform 1',
    'normal 5',
    '-5',
    '9 tokens',
    'lognormal median 900 p99 900',
  ])('"%s" is refused', (text) => {
    expect(() => parseLength(text, '--prompt')).toThrow('--prompt')
  })
})

describe('pacers', () => {
  test.each([
    ['constant 6/s', { kind: 'constant', ratePerSecond: 6 }],
    ['  Poisson   6/s ', { kind: 'poisson', ratePerSecond: 6 }],
    ['gamma 6/s cv 2', { kind: 'gamma', ratePerSecond: 6, cv: 2 }],
    ['gamma 6/s cv 0', { kind: 'constant', ratePerSecond: 6 }],
    [
      'ramp 0/s .. 10/s over 60s poisson',
      { kind: 'ramp', fromPerSecond: 0, toPerSecond: 10, durationMs: 60_000, spacing: 'poisson' },
    ],
    [
      'steps 1/s for 30s, 120/min for 1m',
      {
        kind: 'steps',
        steps: [
          { ratePerSecond: 1, durationMs: 30_000 },
          { ratePerSecond: 2, durationMs: 60_000 },
        ],
      },
    ],
    ['burst 10', { kind: 'burst', size: 10, everyMs: null }],
    [
      'users 8 think exponential 1s stagger 5s',
      { kind: 'concurrency', users: 8, thinkTimeMs: 1000, thinkTime: 'exponential', staggerMs: 5000 },
    ],
    ['concurrency 8', { kind: 'concurrency', users: 8, thinkTimeMs: 0 }],
  ])('%s', (text, pacer) => {
    expect(parsePacer(text)).toEqual(pacer)
  })

  test.each([
    '',
    'steps',
    'steps 1/s',
    'steps 0/s for 10s',
    'ramp 0..0 over 5s',
    'burst 0',
    'users',
    'gamma 6/s',
    'poisson',
    'sometimes',
  ])('"%s" is refused', (text) => {
    expect(() => parsePacer(text)).toThrow(/--pacer/)
  })
})
