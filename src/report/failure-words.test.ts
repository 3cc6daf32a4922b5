import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sixPerSecond } from '../../test/fixtures/documents.ts'
import type { Counts } from '../measure/metrics/run-summary.ts'
import { failureHeadline, failureLines, failureShares, failureWords } from './failure-words.ts'
import { runHeadline } from './render-run.ts'

function counts(sent: number, ok: number): Counts {
  return { planned: sent, sent, ok, failed: sent - ok, shed: 0, censored: 0, unsent: 0 }
}

describe('what failed, with its share of what was sent', () => {
  test.each<[string, Record<string, number>, string | null]>([
    ['nothing failed', {}, null],
    ['one kind is named', { http_429: 30 }, 'http_429 30 % of the requests'],
    [
      'the commonest comes first',
      { truncated: 8, http_500: 30 },
      'http_500 30 %, truncated 8.0 % of the requests',
    ],
    [
      'a third is only counted',
      { truncated: 8, http_500: 30, no_output: 1 },
      'http_500 30 %, truncated 8.0 %, 1 other kind 1.0 % of the requests',
    ],
    ['what was cut at the end of the drain did not fail', { censored: 40 }, null],
  ])('%s', (_sentence, errors, words) => {
    expect(failureWords(failureShares([{ counts: counts(100, 0), errors }]))).toBe(words)
  })

  test('of several points together the requests are added, never the shares', () => {
    const shares = failureShares([
      { counts: counts(900, 900), errors: {} },
      { counts: counts(100, 0), errors: { http_503: 100 } },
      // A point of a version that did not count them.
      {},
    ])
    expect(shares).toEqual([{ kind: 'http_503', count: 100, share: 0.1 }])
  })

  test('whatever failed, the shares lie in (0, 1] and add up to the whole that is told', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('http_500', 'truncated', 'no_output'), fc.nat(1000)),
        (errors) => {
          const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
          const shares = failureShares([{ counts: counts(failed + 1, 1), errors }])
          for (const { share } of shares) expect(share > 0 && share <= 1).toBe(true)
          expect(shares.reduce((sum, { count }) => sum + count, 0)).toBe(failed)
        },
      ),
    )
  })
})

describe('where to look', () => {
  const at = (errors: Record<string, number>, error_messages: Record<string, string> = {}): string[] =>
    failureLines([{ counts: counts(1000, 0), errors, error_messages }])

  test('is told with the server’s own words, which a terminal does not obey', () => {
    expect(at({ http_500: 900 }, { http_500: 'out of \u001B[2Jmemory' })).toEqual([
      'look at http_500 ("out of  [2Jmemory"): the server failed: its own log says why',
    ])
  })

  test.each([
    ['http_429', /quota/],
    ['http_418', /does not take these requests/],
    ['http_308', /sends elsewhere/],
    ['truncated', /proxy/],
    ['shed', /rows/],
  ])('%s has an advice of its own', (kind, words) => {
    expect(at({ [kind]: 500 })[0]).toMatch(words)
  })

  test('a handful of failures is no matter of where to look', () => {
    expect(at({ http_500: 9 })).toEqual([])
    expect(failureHeadline(failureShares([{ counts: counts(1000, 991), errors: { http_500: 9 } }]))).toBe(
      null,
    )
  })

  test('the headline names the whole share and at most two kinds', () => {
    const errors = { http_500: 200, truncated: 40, dns: 10 }
    const shares = failureShares([{ counts: counts(1000, 750), errors }])
    expect(failureHeadline(shares)).toBe('25 % of the requests not answered (http_500, truncated, …)')
  })
})

test.each([
  ['of a thousand, 9 that were cut are left to the counts', 9, false],
  ['of a thousand, 10 that were cut stand beside the latencies, as 10 that failed would', 10, true],
])('%s', (_, cut, isSaid) => {
  const all = { ...counts(1000, 1000 - cut), failed: 0, censored: cut }
  const document = { ...sixPerSecond, goodput: null, counts: all, errors: {} }
  expect(runHeadline(document).includes('1.0 % cut at the end')).toBe(isSaid)
})
