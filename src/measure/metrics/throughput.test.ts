import { describe, expect, test } from 'vitest'
import { streamedRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { summarize } from './summarize.ts'

describe('throughput', () => {
  const row = streamedRow({
    id: 'a',
    plannedMs: 0,
    ttftMs: 400,
    gapsMs: [100, 100, 100],
    completionTokens: 8,
    promptTokens: 50,
  })

  test.each<[string, Partial<RequestRow>, number, number, number]>([
    ['a token on the window’s end is outside', {}, 0, 500, 2],
    ['a token on its start is inside', {}, 500, 600, 2],
    ['tokens are spread evenly over the events', {}, 0, 600, 4],
    ['or as the events say', { event_tokens: [5, 1, 1, 1] }, 0, 500, 5],
    ['of an unknown number an event is one', { completion_tokens: null }, 0, 600, 2],
    [
      'an answer that was not streamed counts whole when it came',
      { ttft_ms: null, gaps_ms: [] },
      600,
      800,
      8,
    ],
    ['and not before', { ttft_ms: null, gaps_ms: [] }, 0, 600, 0],
    [
      'one cut at the end counts as far as it came',
      { ok: false, outcome: 'censored', e2e_ms: null, done_ms: null, completion_tokens: null },
      0,
      600,
      2,
    ],
    ['a failed one does not count', { ok: false, outcome: 'failed' }, 0, 1000, 0],
  ])('%s', (_, also, startMs, endMs, tokens) => {
    const { throughput } = summarize([{ ...row, ...also }], { window: { startMs, endMs } })
    expect((throughput.output_tokens_per_s ?? 0) * throughput.window_s).toBeCloseTo(tokens, 9)
  })

  test('requests count when they end, prompts when their first token comes', () => {
    const { throughput } = summarize([row], { window: { startMs: 300, endMs: 500 } })
    expect(throughput).toMatchObject({ requests_per_s: 0, input_tokens_per_s: 250 })
    expect(summarize([row], { window: { startMs: 600, endMs: 800 } }).throughput).toMatchObject({
      requests_per_s: 5,
      input_tokens_per_s: 0,
    })
  })

  const without: RequestRow = { ...row, prompt_tokens: null }
  const cut: RequestRow = { ...without, ok: false, outcome: 'censored', e2e_ms: null, done_ms: null }
  test.each<[string, readonly RequestRow[], number | null]>([
    ['no answer tells how long its prompt was', [without, without], null],
    ['one of two does', [row, without], null],
    ['one that was cut cannot, the other does', [row, cut], 50],
    ['only one that was cut is there', [cut], null],
    ['nothing was answered', [{ ...without, ok: false, outcome: 'failed' }], 0],
  ])('input tokens where %s', (_, rows, perSecond) => {
    const { throughput } = summarize(rows, { window: { startMs: 0, endMs: 1000 } })
    expect(throughput.input_tokens_per_s).toBe(perSecond)
  })

  test('output tokens of a whole answer that does not say how many are unknown, not none', () => {
    const whole: RequestRow = { ...row, ttft_ms: null, gaps_ms: [], completion_tokens: null }
    const { throughput } = summarize([whole], { window: { startMs: 0, endMs: 1000 } })
    expect(throughput).toMatchObject({ requests_per_s: 1, output_tokens_per_s: null })
  })

  test('a window without length has none', () => {
    expect(summarize([row], { window: { startMs: 5, endMs: 5 } }).throughput).toEqual({
      window_s: 0,
      requests_per_s: null,
      output_tokens_per_s: null,
      input_tokens_per_s: null,
    })
  })
})
