import { describe, expect, it, test } from 'vitest'
import { openaiRetries, openaiWait } from './openai-retry.ts'

const headers =
  (values: Readonly<Record<string, string>>) =>
  (name: string): string | undefined =>
    values[name]

test.each([
  ['rate limited', 429, {}, true],
  ['a time-out', 408, {}, true],
  ['a lock', 409, {}, true],
  ['unavailable', 503, {}, true],
  ['overloaded, as Dynamo says it', 529, {}, true],
  ['a bad request', 400, {}, false],
  ['not found', 404, {}, false],
  ['told not to', 429, { 'x-should-retry': 'false' }, false],
  ['told to', 400, { 'x-should-retry': 'true' }, true],
  ['told in other words', 429, { 'x-should-retry': 'no' }, true],
])('%s: %d', (_, status, values, retries) => expect(openaiRetries(status, headers(values))).toBe(retries))

describe('the wait', () => {
  test.each([
    [0, 500],
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [4, 8000],
    [9, 8000],
  ])('without a header, retry %d: up to %d ms, and down to three quarters of it', (retry, toMs) =>
    expect(openaiWait(headers({}), retry, 0)).toEqual({
      fromMs: toMs * 0.75,
      toMs,
      asked: null,
      ignoredMs: null,
    }),
  )
  test.each([
    ['60 s are honoured', { 'retry-after': '60' }, 60_000, 'retry-after'],
    ['milliseconds beat seconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250, 'retry-after-ms'],
    [
      'milliseconds that are none do not',
      { 'retry-after-ms': 'soon', 'retry-after': '9' },
      9000,
      'retry-after',
    ],
    ['0 ms do not', { 'retry-after-ms': '0', 'retry-after': '9' }, 9000, 'retry-after'],
    ['0 s', { 'retry-after': '0' }, 0, 'retry-after'],
    ['a part of a second', { 'retry-after': '0.5' }, 500, 'retry-after'],
    ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:30 GMT' }, 30_000, 'retry-after'],
  ])('%s', (_, values, ms, asked) =>
    expect(openaiWait(headers(values), 0, 0)).toEqual({ fromMs: ms, toMs: ms, asked, ignoredMs: null }),
  )
  it.each([
    ['61 s', { 'retry-after': '61' }, 61_000],
    ['a date in the past', { 'retry-after': 'Wed, 31 Dec 1969 23:59:59 GMT' }, -1000],
    ['60,001 ms', { 'retry-after-ms': '60001' }, 60_001],
  ])('%s is ignored: the client comes back within half a second', (_, values, ignoredMs) =>
    expect(openaiWait(headers(values), 0, 0)).toEqual({ fromMs: 375, toMs: 500, asked: null, ignoredMs }),
  )
})
