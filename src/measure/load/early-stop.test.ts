import { expect, it } from 'vitest'
import type { Outcome, RequestRow } from '../record/request-row.ts'
import { earlyStopWatch } from './early-stop.ts'

const row = (outcome: Outcome, error_kind: string | null = null) => ({ outcome, error_kind }) as RequestRow
const feed = (outcomes: readonly Outcome[], rule = { of: 10, share: 0.9 }) => {
  const watch = earlyStopWatch(rule)
  return outcomes.map((outcome) => watch(row(outcome, outcome === 'failed' ? 'http_500' : null)) !== null)
}
const times = (count: number, outcome: Outcome): Outcome[] => Array<Outcome>(count).fill(outcome)

it.each([
  ['ten failures of ten stop at the tenth', times(12, 'failed'), 9],
  ['nine of the last ten do', [...times(5, 'ok'), ...times(9, 'failed')], 13],
  [
    'a good start does not protect a server that then dies',
    [...times(100, 'ok'), ...times(20, 'failed')],
    108,
  ],
  ['refusals count too', times(10, 'shed'), 9],
  ['eight of ten do not', [...times(2, 'ok'), ...times(8, 'failed'), 'ok', 'ok'] as Outcome[], -1],
  ['nine are too few to say', times(9, 'failed'), -1],
  ['what was never sent says nothing of the server', times(50, 'unsent'), -1],
  ['nor does what we cut off', times(50, 'censored'), -1],
])('%s', (_, outcomes, at) => {
  const stops = feed(outcomes)
  expect(stops.indexOf(true)).toBe(at)
  expect(stops.filter(Boolean).length).toBe(at < 0 ? 0 : 1)
})

it('says the share, the counts and the commonest kind', () => {
  const watch = earlyStopWatch({ of: 4, share: 0.75 })
  const kinds = ['connection_refused', 'connection_refused', 'http_500'].map((kind) => row('failed', kind))
  const stops = [row('ok'), ...kinds].map(watch)
  expect(stops.at(-1)).toEqual({
    why: 'nearly_everything_failed',
    message: '3 of the last 4 requests (75 %) failed, 2 of them with connection_refused: stopped early',
    evidence: { failed: 3, of: 4, share: 0.75, commonest: 'connection_refused', times: 2 },
  })
})

it('no rule, no stop', () => {
  const watch = earlyStopWatch(null)
  expect(
    times(1000, 'failed')
      .map((outcome) => watch(row(outcome)))
      .every((stop) => stop === null),
  ).toBe(true)
})
