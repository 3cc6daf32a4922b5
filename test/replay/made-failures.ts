import {
  abc,
  abcPieces,
  answer,
  delta,
  done,
  json,
  makeCases,
  type Script,
  stop,
  token,
} from './make-cases.ts'
import type { ReplayCase } from './run-cases.mjs'

const scripts: Readonly<Record<string, Script>> = {
  'reset in mid-stream': {
    pieces: abcPieces,
    end: ['reset', 80],
    expect: { ...abc, error_kind: 'connection_reset', done_ms: 80, n_chunks: 3 },
  },
  'reset after the finish reason': {
    pieces: [...abcPieces, [60, stop]],
    end: ['reset', 80],
    expect: { ...abc, error_kind: 'connection_reset', finish_reason: 'stop', done_ms: 80, n_chunks: 4 },
  },
  'reset before a byte': {
    http: null,
    end: ['reset', 30],
    expect: { error_kind: 'connection_reset', done_ms: 30 },
  },
  'cut inside an event': {
    pieces: [...abcPieces, [70, 'data: {"choices":[{"del']],
    end: ['eof', 80],
    expect: { ...abc, error_kind: 'truncated', done_ms: 80, n_chunks: 3 },
  },
  'an empty body': { pieces: [], end: ['eof', 20], expect: { error_kind: 'no_output', done_ms: 20 } },
  'a role and the close': {
    pieces: [[10, delta({ role: 'assistant', content: '' })]],
    end: ['eof', 20],
    expect: { error_kind: 'truncated', done_ms: 20, n_chunks: 1 },
  },
  'a web page with status 200': {
    ...answer(200, '<html><title>Sign in</title></html>', 'text/html'),
    expect: { error_kind: 'no_output', done_ms: 25 },
  },
  'no output in time, pings or not': {
    pieces: [
      [10, ': ping\n\n'],
      [30, delta({ role: 'assistant' })],
      [90, ': ping\n\n'],
    ],
    end: ['open', 5_000],
    limits: { first_token_timeout_ms: 120 },
    expect: { error_kind: 'timeout_first_token', done_ms: 120, n_chunks: 1, n_comments: 2 },
  },
  'no head in time': {
    http: null,
    end: ['open', 5_000],
    limits: { first_token_timeout_ms: 80 },
    expect: { error_kind: 'timeout_first_token', done_ms: 80 },
  },
  'a stream that stalls': {
    pieces: [...abcPieces, [90, ': ping\n\n']],
    end: ['open', 5_000],
    limits: { first_token_timeout_ms: 3_000, idle_timeout_ms: 100 },
    expect: { ...abc, error_kind: 'timeout_idle', done_ms: 160, n_chunks: 3, n_comments: 1 },
  },
  'an idle limit alone': {
    pieces: abcPieces,
    end: ['open', 5_000],
    limits: { idle_timeout_ms: 100 },
    expect: { ...abc, error_kind: 'timeout_idle', done_ms: 160, n_chunks: 3 },
  },
  'a stream that takes too long in all': {
    pieces: [...abcPieces, [300, token('d')]],
    end: ['eof', 400],
    limits: { idle_timeout_ms: 1_000, total_timeout_ms: 150 },
    expect: { ...abc, error_kind: 'timeout_total', done_ms: 150, n_chunks: 3 },
  },
  'an event named error': {
    pieces: [
      [20, `${token('a')}event: error\ndata: {"error":{"message":"gone","type":"T","code":"c1"}}\n\n`],
    ],
    end: ['eof', 30],
    expect: {
      error_kind: 'in_band_error',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 30,
      n_chunks: 2,
      n_output_chunks: 1,
      error_code: 'c1',
      error_type: 'T',
      error_message: 'gone',
    },
  },
  'busy, with how long to wait': {
    ...answer(429, '{"error":{"message":"slow down","type":"rate_limit","code":"r1"}}', 'application/json', {
      'retry-after': '2',
    }),
    expect: {
      error_kind: 'http_429',
      done_ms: 25,
      error_code: 'r1',
      error_type: 'rate_limit',
      error_message: 'slow down',
      retry_after_ms: 2000,
      outcome: 'shed',
      http_status: 429,
    },
  },
  'busy until a date': {
    ...answer(503, '', 'text/plain', {
      date: 'Mon, 30 Nov 2026 10:00:00 GMT',
      'retry-after': 'Mon, 30 Nov 2026 10:00:07 GMT',
    }),
    expect: {
      error_kind: 'http_503',
      done_ms: 25,
      retry_after_ms: 7000,
      outcome: 'shed',
      error_message: null,
    },
  },
  'busy by the millisecond': {
    ...answer(529, 'overloaded', 'text/plain', { 'retry-after-ms': '250', 'retry-after': '1' }),
    expect: {
      error_kind: 'http_529',
      done_ms: 25,
      retry_after_ms: 250,
      outcome: 'shed',
      error_message: 'overloaded',
    },
  },
  'an error as FastAPI says it': {
    ...answer(422, '{"detail":"Unexpected fields in the request: {\'ignore_eos\'}"}', 'application/json'),
    expect: {
      error_kind: 'http_422',
      done_ms: 25,
      error_message: "Unexpected fields in the request: {'ignore_eos'}",
      retry_after_ms: null,
      outcome: 'failed',
    },
  },
  'an error page': {
    ...answer(
      502,
      '<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>',
      'text/html',
    ),
    expect: { error_kind: 'http_502', done_ms: 25, error_message: '502 Bad Gateway', error_code: null },
  },
  'a redirect to elsewhere': {
    ...answer(302, '', 'text/plain', { location: 'https://login.example/' }),
    expect: { error_kind: 'http_302', done_ms: 25 },
  },
  'an error in JSON with status 200': {
    ...answer(
      200,
      '{"error":{"message":"no such model","type":"NotFoundError","code":404}}',
      'application/json',
    ),
    expect: {
      error_kind: 'in_band_error',
      done_ms: 25,
      error_code: 404,
      error_type: 'NotFoundError',
      error_message: 'no such model',
    },
  },
  'an error that says how the answer ended': {
    pieces: [
      [20, token('a')],
      [
        30,
        json({
          error: { code: 502, message: 'm' },
          choices: [{ delta: { content: '' }, finish_reason: 'error' }],
        }),
      ],
    ],
    end: ['eof', 40],
    expect: {
      error_kind: 'in_band_error',
      finish_reason: 'error',
      text: 'a',
      ttft_ms: 20,
      ttfc_ms: 20,
      e2e_ms: 20,
      done_ms: 40,
      n_chunks: 2,
      n_output_chunks: 1,
      error_code: 502,
      error_message: 'm',
    },
  },
  'an error, then the connection stays open': {
    pieces: [[20, json({ error: { message: 'm', code: 500 } }) + done]],
    end: ['open', 5_000],
    expect: { error_kind: 'in_band_error', done_ms: 20, n_chunks: 1, error_code: 500, error_message: 'm' },
  },
  'a whole answer that is cut': {
    http: { status: 200, headers: { 'content-type': 'application/json' } },
    pieces: [[20, '{"choices":[{"message":{"content":"ab']],
    end: ['eof', 30],
    expect: { error_kind: 'truncated', done_ms: 30 },
  },
  'a body that does not match its coding': {
    http: { status: 200, headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' } },
    pieces: [[20, token('a')]],
    end: ['eof', 30],
    expect: { error_kind: 'protocol', done_ms: 20 },
  },
  'chunks that are garbage': {
    http: {
      raw: true,
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' },
    },
    pieces: [[20, 'data: hello']],
    end: ['eof', 30],
    expect: { error_kind: 'protocol', done_ms: 20 },
  },
  'less than its length': {
    http: { status: 200, headers: { 'content-type': 'text/event-stream', 'content-length': '5000' } },
    pieces: abcPieces,
    end: ['eof', 80],
    expect: { ...abc, error_kind: 'truncated', done_ms: 80, n_chunks: 3 },
  },
}

/** Exchanges that fail, in ways that the shared cases do not have. */
export const madeFailures: readonly ReplayCase[] = makeCases(scripts)
