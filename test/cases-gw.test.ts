import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isBadOutcome, proxiedOutcome, type ProxiedEnd } from '../src/operate/admission/proxied-outcome.ts'

const folder = new URL('cases/', import.meta.url)
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))

interface RawEnd {
  readonly upstream_status: number | null
  readonly upstream_end: ProxiedEnd['upstreamEnd']
  readonly client: ProxiedEnd['client']
}
const end = (raw: RawEnd): ProxiedEnd => ({
  upstreamStatus: raw.upstream_status,
  upstreamEnd: raw.upstream_end,
  client: raw.client,
})

describe('who ended a proxied request', () => {
  it('gw-02: one of each', () => {
    const { cases } = read('gw-02-who-ended-it.in.json') as { cases: readonly RawEnd[] }
    const outcomes = cases.map((one) => proxiedOutcome(end(one)))
    expect({ outcome: outcomes, counts_as_bad_for_slo: outcomes.map((one) => isBadOutcome(one)) }).toEqual(
      (read('gw-02-who-ended-it.expect.json') as { expect: unknown }).expect,
    )
  })
  it.each([
    ['the client left after the upstream had broken', 200, 'reset', 'closed', 'upstream_reset', true],
    ['the client left when all was said', 200, 'done', 'closed', 'ok', false],
    ['refused, and the client left', null, 'rejected_by_admission', 'closed', 'rejected', true],
    ['the gateway’s own time limit', 200, 'aborted_by_gateway', 'connected', 'upstream_timeout', true],
    ['an error whose body was cut', 500, 'reset', 'connected', 'upstream_500', true],
    ['a gateway behind it', 504, 'done', 'connected', 'upstream_504', true],
    ['overload, as Dynamo says it', 529, 'done', 'connected', 'upstream_529', true],
    ['the request was wrong', 400, 'done', 'connected', 'upstream_400', false],
    ['the key was wrong', 401, 'done', 'connected', 'upstream_401', false],
    ['too slow for the server', 408, 'done', 'connected', 'upstream_408', true],
    ['no answer in time', null, 'timeout', 'connected', 'upstream_timeout', true],
    ['nothing at all', null, 'done', 'connected', 'upstream_unreachable', true],
  ] as const)('%s', (_, upstreamStatus, upstreamEnd, client, outcome, bad) => {
    const found = proxiedOutcome({ upstreamStatus, upstreamEnd, client })
    expect([found, isBadOutcome(found)]).toEqual([outcome, bad])
  })
  it('own refusals may be left out', () => expect(isBadOutcome('rejected', 'ignore')).toBe(false))
})
