import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { jitteredRetryAfter, retryAfterRange, retryAfterSeconds } from './retry-after.ts'

test.each([
  ['the queue over the rate, rounded up', 30, '8', 4],
  ['exactly', 32, '8', 4],
  ['nobody waits: a second', 0, '8', 1],
  ['no more than a minute', 10_000, '8', 60],
  ['one more than fits in five seconds', 41, '8', 6],
  ['an exact decimal', 3, '0.3', 10],
  ['nothing drains', 5, '0', 60],
])('%s', (_, waiting, rate, seconds) => expect(retryAfterSeconds(waiting, rate)).toBe(seconds))

describe('with jitter', () => {
  test.each([
    ['a quarter of 8', 8, 0.25, 8, 10],
    ['a quarter of a second is a whole one', 1, 0.25, 1, 2],
    ['none', 8, 0, 8, 8],
    ['at the cap it shortens', 60, 0.25, 45, 60],
    ['near the cap', 58, 0.25, 45, 60],
  ])('%s', (_, seconds, jitter, from, to) => {
    expect(retryAfterRange(seconds, jitter)).toEqual({ from, to })
    expect([jitteredRetryAfter(seconds, jitter, 0), jitteredRetryAfter(seconds, jitter, 1)]).toEqual([
      from,
      to,
    ])
  })

  it('is a whole number within 1 and 60, and every one of the range comes', () => {
    const draws = Array.from({ length: 1000 }, (_, at) => at / 1000)
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seconds, jitter) => {
          const { from, to } = retryAfterRange(seconds, jitter)
          const seen = new Set(draws.map((draw) => jitteredRetryAfter(seconds, jitter, draw)))
          expect(Math.min(...seen)).toBe(from)
          expect(Math.max(...seen)).toBe(to)
          expect(seen.size).toBe(to - from + 1)
          expect(from).toBeGreaterThanOrEqual(1)
          expect(to).toBeLessThanOrEqual(60)
        },
      ),
    )
  })
})
