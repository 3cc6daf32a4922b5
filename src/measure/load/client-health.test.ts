import { expect, test } from 'vitest'
import { type ClientHealth, type OwnError, withErrorAfter } from './client-health.ts'

const none: OwnError = { p50: null, p99: null }
const small: OwnError = { p50: 0.1, p99: 0.4 }
const large: OwnError = { p50: 2, p99: 9 }

test.each([
  ['it grew', small, large, large],
  ['it shrank', large, small, large],
  ['it was not measured again', small, null, small],
  ['nothing came back after', small, none, small],
  ['nothing came back before', none, small, small],
] as const)('the worse own error stands for the run: %s', (_, before, after, worse) => {
  const health = { own_error_ms: before, events: 3 } as ClientHealth
  expect(withErrorAfter(health, after)).toEqual({
    own_error_ms: worse,
    own_error_before_ms: before,
    own_error_after_ms: after,
    events: 3,
  })
})
