import { expect, test } from 'vitest'
import { serverError, unreachable } from './preflight-errors.ts'
import type { PreflightTarget } from './probe.ts'

const listed = { method: 'GET', path: '/v1/models' } as const

test('a port that closes at once, as one with TLS does for plain HTTP, is not said to be empty', () => {
  const target = { url: 'http://a:9443' } as PreflightTarget
  const error = unreachable({ kind: 'truncated', message: 'closed inside the response' }, target, listed)
  expect(error.message).toBe('a:9443 takes the connection but gives no whole HTTP answer')
  expect(error.received).toBe('closed inside the response')
  expect(error.hint).toMatch(/https:\/\/$/)
})

test('a unix socket is named whole, and curl is told of it as curl wants it', () => {
  const target = { url: 'unix:/run/my llm.sock' } as PreflightTarget
  const error = unreachable(
    { kind: 'unreachable', message: 'connect ENOENT /run/my llm.sock' },
    target,
    listed,
  )
  expect(error.message).toBe('nothing answers at the unix socket /run/my llm.sock')
  expect(error.hint).toContain("curl --unix-socket '/run/my llm.sock' http://localhost/v1/models")
})

test('https:// to a port that speaks plain HTTP is not a matter of certificates', () => {
  const target = { url: 'https://a:8000' } as PreflightTarget
  const message = 'error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl3_record.c:350:\n'
  const error = unreachable({ kind: 'tls', message }, target, listed)
  expect(error.message).toBe('a:8000 does not speak TLS')
  expect(error.hint).toContain('http://a:8000')
})

test('a server that says that it cannot is not said to be no server', () => {
  const error = serverError({ url: 'http://a:8000' } as PreflightTarget, 'CUDA out of memory')
  expect(error.message).not.toContain('OpenAI')
  expect(error.received).toBe('CUDA out of memory')
})

test.each([
  [
    'the list',
    { kind: 'timeout_total', message: 'not done in time', withinMs: 60_000 },
    listed,
    'GET /v1/models was not answered within 1m',
  ],
  [
    'the endpoint alone',
    { kind: 'timeout_first_token', message: 'no output in time', withinMs: 2500 },
    { method: 'POST', path: '/v1/chat/completions' } as const,
    'POST /v1/chat/completions was not answered within 2.5s',
  ],
  [
    'no limit is told',
    { kind: 'timeout_total', message: 'silence' },
    listed,
    'GET /v1/models was not answered in time',
  ],
])('a server that connects and then is silent is not said to be away: %s', (_, failure, asked, words) => {
  const error = unreachable(failure, { url: 'http://a:8000' } as PreflightTarget, asked)
  expect(error.message).toBe(`a:8000 takes connections, but ${words}`)
  expect(error.hint).toMatch(/queue.*log/)
})

test.each([
  [
    'refused',
    { kind: 'connection_refused', message: 'connect ECONNREFUSED 127.0.0.1:1' },
    '(connection refused)',
  ],
  [
    'no connection',
    { kind: 'timeout_connect', message: 'no connection within 10000 ms' },
    '(no connection in time)',
  ],
])('nothing answers where no connection stood: %s', (_, failure, words) => {
  const error = unreachable(
    failure,
    { url: 'http://127.0.0.1:1', endpointPath: '/v1/chat/completions' } as PreflightTarget,
    listed,
  )
  expect(error.message).toBe(`nothing answers at 127.0.0.1:1 ${words}`)
})

test.each([
  ['http://127.0.0.1:1', '/v1/chat/completions', 'curl http://127.0.0.1:1/v1/models '],
  ['127.0.0.1:1/v1/', '/v1/chat/completions', 'curl http://127.0.0.1:1/v1/models '],
  [
    'http://127.0.0.1:1?api-version=2',
    '/v1/chat/completions?api-version=2',
    "curl 'http://127.0.0.1:1/v1/models?api-version=2' ",
  ],
])('the command that looks whether %s is up has the path before the query', (url, endpointPath, command) => {
  const target = { url, endpointPath } as PreflightTarget
  const refused = { kind: 'connection_refused', message: 'no' }
  const error = unreachable(refused, target, listed)
  expect(error.message).toBe('nothing answers at 127.0.0.1:1 (connection refused)')
  expect(error.hint).toContain(command)
})
