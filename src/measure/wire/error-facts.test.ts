import { describe, expect, it } from 'vitest'
import { errorFacts, errorFactsOfText } from './error-facts.ts'
import { retryAfterMs } from './retry-after.ts'

describe('the error that a server reports', () => {
  it.each([
    ["OpenAI's shape", '{"error":{"message":"m","type":"T","param":null,"code":"c"}}', ['c', 'T', 'm']],
    ['a code that is a number', '{"error":{"message":"m","code":500}}', ['500', null, 'm']],
    ["TGI's shape", '{"error":"m","error_type":"validation"}', [null, 'validation', 'm']],
    ["older vLLM's shape", '{"object":"error","message":"m","type":"T","code":400}', ['400', 'T', 'm']],
    ["FastAPI's shape", '{"detail":"m"}', [null, null, 'm']],
    [
      "FastAPI's list",
      '{"detail":[{"loc":["body"],"msg":"m"}]}',
      [null, null, '[{"loc":["body"],"msg":"m"}]'],
    ],
    [
      "Anthropic's shape",
      '{"type":"error","error":{"type":"overloaded_error","message":"m"}}',
      [null, 'overloaded_error', 'm'],
    ],
    ["a gateway's shape", '{"error":"Too Many","status":429,"message":"m"}', ['429', null, 'm']],
    ['an object without a message', '{"error":{"x":1}}', [null, null, '{"x":1}']],
    ['a text', 'upstream timed out', [null, null, 'upstream timed out']],
    ['a JSON text', '"m"', [null, null, 'm']],
    ['a page with a title', '<html><title> 502 Bad Gateway </title>', [null, null, '502 Bad Gateway']],
    ['a page without one', '<p>down for <b>now</b></p>', [null, null, 'down for now']],
    ['an event', 'data: {"error":{"message":"m"}}\n\n', [null, null, 'm']],
    ['a named event', 'event: error\ndata: {"error":{"message":"m"}}\n\n', [null, null, 'm']],
  ])('%s', (_, text, [code, type, message]) => {
    expect(errorFactsOfText(text)).toEqual({ code, type, message })
  })

  it('is shortened', () => {
    expect(errorFactsOfText('x'.repeat(9_000))?.message).toHaveLength(501)
  })

  it.each(['', '  ', '\n'])('%j says nothing', (text) => {
    expect(errorFactsOfText(text)).toBeNull()
  })

  it.each([{}, { error: null }, { error: false }, { error: '' }, { detail: 'x' }, { message: 'x' }])(
    'is not in a streamed %j',
    (value) => {
      expect(errorFacts(value)).toBeNull()
    },
  )
})

describe('how long a refusal asks to wait', () => {
  const wallMs = Date.UTC(2026, 10, 30, 10, 0, 0)
  it.each([
    ['seconds', { 'retry-after': '2' }, 2000],
    ['part of a second', { 'retry-after': '0.5' }, 500],
    ['milliseconds win', { 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [
      'a date against the answer’s own',
      { 'retry-after': 'Mon, 30 Nov 2026 10:00:09 GMT', date: 'Mon, 30 Nov 2026 10:00:04 GMT' },
      5000,
    ],
    ['a date against the clock', { 'retry-after': 'Mon, 30 Nov 2026 10:00:09 GMT' }, 9000],
    ['a date that is over', { 'retry-after': 'Mon, 30 Nov 2026 09:00:00 GMT' }, 0],
    ['nothing', {}, null],
    ['nonsense', { 'retry-after': 'soon' }, null],
  ])('%s', (_, headers: Record<string, string>, wanted) => {
    expect(
      retryAfterMs(
        (name) => headers[name],
        () => wallMs,
      ),
    ).toBe(wanted)
  })
})
