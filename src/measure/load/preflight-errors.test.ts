import { expect, test } from 'vitest'
import { unreachable } from './preflight-errors.ts'
import type { PreflightTarget } from './probe.ts'

test('a port that closes at once, as one with TLS does for plain HTTP, is not said to be empty', () => {
  const target = { url: 'http://a:9443' } as PreflightTarget
  const error = unreachable({ kind: 'truncated', message: 'closed inside the response' }, target)
  expect(error.message).toBe('a:9443 takes the connection but gives no whole HTTP answer')
  expect(error.received).toBe('closed inside the response')
  expect(error.hint).toMatch(/https:\/\/$/)
})
