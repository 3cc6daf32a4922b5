import { expect, test } from 'vitest'
import { failuresWarning, retrying } from './preflight-retries.ts'
import type { ProbeAnswer, ProbeFailure, ProbeRequest } from './probe.ts'

const request: ProbeRequest = { method: 'POST', path: '/v1/x', body: '{}', stream: true, needed: true }

const answer = (status: number, headers: Readonly<Record<string, string>> = {}): ProbeAnswer => ({
  status,
  bodyText: '',
  header: (name) => headers[name],
  fields: null,
})
const cut: ProbeFailure = {
  failure: { kind: 'truncated', message: 'closed inside the response', heard: { events: 4, bytes: 1200 } },
}
const away: ProbeFailure = { failure: { kind: 'connection_refused', message: 'connect ECONNREFUSED' } }

/** The last answer of a server that gives these one after the other, and what was paused between. */
async function asked(answers: readonly (ProbeAnswer | ProbeFailure)[], question = request) {
  const left = [...answers]
  const pauses: number[] = []
  const { sendOnce, failures } = retrying(
    () => Promise.resolve(left.length > 1 ? left.shift()! : left[0]!),
    (ms) => {
      pauses.push(ms)
      return Promise.resolve()
    },
  )
  return { last: await sendOnce(question), pauses, failures: failures() }
}

test.each([
  ['a good answer is asked once', [answer(200)], [], 1, null],
  [
    'one 500 does not end it',
    [answer(500), answer(200)],
    [250],
    2,
    '1 of 2 preflight requests failed: http_500',
  ],
  [
    'several kinds are counted apart',
    [answer(500), cut, answer(500), answer(200)],
    [250, 500, 1000],
    4,
    '3 of 4 preflight requests failed: http_500 2×, truncated 1×',
  ],
  [
    'what Retry-After asks is waited for',
    [answer(429, { 'retry-after': '3' }), answer(200)],
    [3000],
    2,
    '1 of 2 preflight requests failed: http_429',
  ],
  [
    'but not long',
    [answer(429, { 'retry-after': '60' })],
    [],
    1,
    '1 of 1 preflight request failed: http_429',
  ],
  ['four times at most', [answer(503)], [250, 500, 1000], 4, '4 of 4 preflight requests failed: http_503'],
  ['a refusal does not pass', [answer(400)], [], 1, null],
  ['nor does what the server does not implement', [answer(501)], [], 1, null],
  ['nor a server that is not there', [away], [], 1, null],
] as const)('%s', async (_, answers, pauses, times, told) => {
  const found = await asked(answers)
  expect(found.pauses).toEqual(pauses)
  expect(found.failures.asked).toBe(times)
  expect(failuresWarning(found.failures)?.message ?? null).toBe(told)
})

test('the last answer says how often it was tried', async () => {
  expect((await asked([answer(500)])).last).toMatchObject({ status: 500, tried: 4 })
  expect((await asked([cut])).last).toMatchObject({ failure: { kind: 'truncated', tried: 4 } })
})

test('what the run can do without is asked once', async () => {
  const { last, failures } = await asked([answer(500)], { ...request, needed: false })
  expect(last).toMatchObject({ status: 500 })
  expect(failures.asked).toBe(0)
})
