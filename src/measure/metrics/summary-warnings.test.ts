import { describe, expect, test } from 'vitest'
import type { WarningKind } from '../../base/warnings.ts'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { summarize } from './summarize.ts'

type Make = (
  index: number,
) => Partial<RequestRow> & { gapsMs?: readonly number[]; tokens?: number; ttftMs?: number }

function rowsOf(n: number, make: Make): RequestRow[] {
  return Array.from({ length: n }, (_, index) => {
    const { gapsMs = [20, 21, 22, 23, 24], tokens, ttftMs = 280, ...also } = make(index)
    const answer = { id: `r${index}`, plannedMs: index * 10, ttftMs, gapsMs }
    return streamedRow(tokens === undefined ? answer : { ...answer, completionTokens: tokens }, also)
  })
}

const nothing: Make = () => ({})
const bundles = [0, 1, 2, 3, 4, 5].flatMap(() => [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 160])
const shed: Partial<RequestRow> = { ok: false, outcome: 'shed', tpot_ms: null }
const timedOut: Partial<RequestRow> = {
  ok: false,
  outcome: 'failed',
  error_kind: 'timeout_total',
  tpot_ms: null,
}

describe('a warning fires on its trap and not beside it', () => {
  test.each<[WarningKind, string, number, Make, boolean]>([
    ['few_samples', '200 requests for a P99', 200, nothing, true],
    ['few_samples', '12,000 requests for a P99', 12_000, nothing, false],
    ['messages_not_tokens', '900 tokens in 300 messages', 50, () => ({ tokens: 18 }), true],
    [
      'messages_not_tokens',
      '902 tokens in 900 messages',
      150,
      (index) => ({ tokens: index < 2 ? 7 : 6 }),
      false,
    ],
    [
      'messages_not_tokens',
      'where events are all that was counted',
      50,
      () => ({ tokens: 18, tokens_source: 'events' }),
      false,
    ],
    ['survivors_only', '5 refused of 100', 100, (index) => (index % 20 === 3 ? shed : {}), true],
    ['survivors_only', '1 refused of 1,000', 1000, (index) => (index === 500 ? shed : {}), false],
    [
      'proxy_buffering',
      'seven short gaps and a long one, over and over',
      10,
      () => ({ gapsMs: bundles }),
      true,
    ],
    ['proxy_buffering', 'gaps of 20 to 24 ms', 10, nothing, false],
    [
      'proxy_buffering',
      'a small model: 0.4 ms a token, and a pause now and then',
      10,
      () => ({ gapsMs: [0.4, 0.4, 0.5, 0.3, 0.4, 9] }),
      false,
    ],
    [
      'prefix_cache',
      'repeats of a prompt at a ninth of its TTFT',
      6,
      (i) => ({ prompt_id: `p${i % 3}`, ttftMs: i < 3 ? 280 : 31 }),
      true,
    ],
    [
      'prefix_cache',
      'repeats as slow as the first sight',
      6,
      (i) => ({ prompt_id: `p${i % 3}`, ttftMs: 280 + i }),
      false,
    ],
    ['prefix_cache', 'a hit rate of 31 %', 10, () => ({ prompt_tokens: 100, cached_tokens: 31 }), true],
    ['prefix_cache', 'a hit rate of 3 %', 10, () => ({ prompt_tokens: 100, cached_tokens: 3 }), false],
    ['timeouts_piled', '3 of 100 at one limit', 100, (index) => (index % 40 === 3 ? timedOut : {}), true],
    ['timeouts_piled', '1 of 1,000', 1000, (index) => (index === 7 ? timedOut : {}), false],
    [
      'not_streamed',
      'one whole answer',
      10,
      (index) => (index === 1 ? { flags: ['not_streamed'] } : {}),
      true,
    ],
    ['not_streamed', 'streams only', 10, nothing, false],
    ['tokens_not_from_server', 'counted events', 10, () => ({ tokens_source: 'events' }), true],
    ['tokens_not_from_server', 'usage', 10, nothing, false],
    [
      'token_count_disagrees',
      'running counts of half the tokens',
      10,
      () => ({ event_tokens: [1, 0, 1, 0, 1, 0] }),
      true,
    ],
    [
      'token_count_disagrees',
      'running counts that add up',
      10,
      () => ({ event_tokens: [1, 1, 1, 1, 1, 1] }),
      false,
    ],
    ['lengths_not_as_asked', 'six tokens for ten asked', 10, () => ({ asked_output_tokens: 10 }), true],
    ['lengths_not_as_asked', 'as asked', 10, () => ({ asked_output_tokens: 6 }), false],
    [
      'stutter',
      'one stream in ten pauses',
      10,
      (index) => (index === 1 ? { gapsMs: [20, 20, 500, 20] } : {}),
      true,
    ],
    ['stutter', 'even streams', 10, nothing, false],
    [
      'weightings_differ',
      'long answers twice as fast',
      20,
      (i) => (i < 2 ? { gapsMs: Array.from({ length: 400 }, () => 10) } : {}),
      true,
    ],
    ['weightings_differ', 'all alike', 20, nothing, false],
    [
      'keep_alive_broken',
      'every tenth connection was closed',
      10,
      (i) => (i === 1 ? { flags: ['stale_connection_retried'] } : {}),
      true,
    ],
    ['keep_alive_broken', 'none was', 10, nothing, false],
    [
      'rate_not_reached',
      'sent at nine tenths of the rate',
      100,
      (i) => ({ sent_ms: i * 11, lag_ms: i }),
      true,
    ],
    ['rate_not_reached', 'sent 2 % late', 100, (i) => ({ sent_ms: i * 10.2, lag_ms: i * 0.2 }), false],
  ])('%s: %s', (kind, _, n, make, fires) => {
    const { warnings } = summarize(rowsOf(n, make))
    expect(warnings.some((warning) => warning.kind === kind)).toBe(fires)
    const found = warnings.find((warning) => warning.kind === kind)
    expect(found?.message ?? '').not.toMatch(/NaN|undefined|null|Infinity/)
  })
})

test('an empty run has no findings, and neither has one where nothing was sent', () => {
  expect(summarize([]).warnings).toEqual([])
  expect(summarize([{ ...unsentRow, id: 'a', planned_ms: 0 }]).warnings).toEqual([])
})

test.each([
  ['a duration ended it', { count: false, duration: true }, '--duration 1m40s, or judge a lower percentile'],
  ['a count ended it', { count: true, duration: false }, '--num-prompts 10000, or judge a lower percentile'],
])('few samples: the advice lengthens this run, %s', (_, ends, next) => {
  const { warnings } = summarize(rowsOf(200, nothing), { ends, window: { startMs: 0, endMs: 2000 } })
  expect(warnings.find(({ kind }) => kind === 'few_samples')?.next).toBe(next)
})
