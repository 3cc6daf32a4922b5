import { describe, expect, it } from 'vitest'
import { lateLimitMs } from './late-sends.ts'
import { judgeValidity, type ValidityInput } from './validity.ts'

const idle: ValidityInput = {
  counts: { planned: 1000, sent: 1000, ok: 1000, failed: 0, shed: 0, censored: 0, unsent: 0 },
  dueRequests: 1000,
  lateRequests: 0,
  lateLimitMs: 10,
  health: {
    lag_ms: { p50: 0.1, p99: 0.4, max: 2 },
    loop_delay_ms: { p50: 0.1, p99: 0.9, max: 5 },
    cpu: { worker_max: 0.3, workers: [0.3], process: 0.4, machine: 0.4 },
    workers: 1,
    own_error_ms: { p50: 0.1, p99: 0.2 },
    capacity_events_per_s: 100_000,
    events: 10_000,
    same_machine: true,
  },
  windowMs: 60_000,
  steadyState: 'flat',
  cacheHitRate: 0,
  warmCacheAsked: false,
  little: { in_flight_mean: 10, arrival_per_s: 5, time_in_system_s: 2, discrepancy: 0.004 },
}
const health = (change: Partial<ValidityInput['health']>) => ({ health: { ...idle.health, ...change } })
const cpu = (change: Partial<ValidityInput['health']['cpu']>) =>
  health({ cpu: { ...idle.health.cpu, ...change } })
const counts = (change: Partial<ValidityInput['counts']>) => ({ counts: { ...idle.counts, ...change } })

const lost = (count: number) => ({ count, of: 1000, left: 'start' as const, isSummarized: true })

describe('judgeValidity', () => {
  const rows: [sentence: string, change: Partial<ValidityInput>, status: string, rules: string[]][] = [
    ['an idle client against a light load is valid', {}, 'VALID', []],
    ['nothing succeeded', counts({ ok: 0, failed: 1000 }), 'INVALID', ['nothing_succeeded']],
    [
      'ended by itself because nearly everything failed',
      { stoppedEarly: '58 of the last 60 requests failed' },
      'INVALID',
      ['stopped_early'],
    ],
    ['1 % late is too much', { lateRequests: 10 }, 'INVALID', ['late_sends']],
    ['just under 1 % late is degraded', { lateRequests: 9 }, 'DEGRADED', ['late_sends']],
    ['a fifth of that is degraded', { lateRequests: 2 }, 'DEGRADED', ['late_sends']],
    ['a single hiccup is no share of anything', { lateRequests: 1 }, 'VALID', []],
    ['1 % of the rows lost', { rowsLost: lost(10) }, 'INVALID', ['rows_lost']],
    ['a single row lost', { rowsLost: lost(1) }, 'DEGRADED', ['rows_lost']],
    ['no row lost', { rowsLost: null }, 'VALID', []],
    [
      'all rows lost: whether their requests succeeded nobody knows',
      {
        ...counts({ planned: 0, sent: 0, ok: 0 }),
        dueRequests: 0,
        rowsLost: { ...lost(1000), left: 'none' },
      },
      'INVALID',
      ['rows_lost'],
    ],
    [
      'what is left of the rows failed',
      { ...counts({ sent: 17, ok: 0, failed: 17 }), dueRequests: 17, rowsLost: lost(165) },
      'INVALID',
      ['nothing_succeeded', 'rows_lost'],
    ],
    ['under 95 % of the load sent', counts({ sent: 949, unsent: 51 }), 'INVALID', ['load_not_sent']],
    ['98 % of the load sent', counts({ sent: 980, unsent: 20 }), 'DEGRADED', ['load_not_sent']],
    [
      'stopped by hand: what was not due yet is not missing',
      { ...counts({ sent: 400, unsent: 600 }), dueRequests: 400 },
      'VALID',
      [],
    ],
    [
      'loop delay past 20 ms',
      health({ loop_delay_ms: { p50: 1, p99: 21, max: 80 } }),
      'INVALID',
      ['loop_delay'],
    ],
    [
      'loop delay past a fifth of it',
      health({ loop_delay_ms: { p50: 1, p99: 4.2, max: 80 } }),
      'DEGRADED',
      ['loop_delay'],
    ],
    [
      'stopped for 6 s of 60, which the p99 of the loop delay does not see',
      health({ loop_delay_ms: { p50: 0.1, p99: 0.9, max: 6000 } }),
      'INVALID',
      ['stood_still'],
    ],
    [
      'stood still for 1 % of the window',
      health({ loop_delay_ms: { p50: 0.1, p99: 0.9, max: 600 } }),
      'DEGRADED',
      ['stood_still'],
    ],
    [
      'a hiccup in a short window',
      { ...health({ loop_delay_ms: { p50: 0.1, p99: 0.9, max: 240 } }), windowMs: 1000 },
      'VALID',
      [],
    ],
    ['a worker over 80 % of a core', cpu({ worker_max: 0.81 }), 'DEGRADED', ['worker_busy']],
    ['no record of the client', { clientLost: true }, 'DEGRADED', ['client_unknown']],
    ['not steady', { steadyState: 'no_steady_state' }, 'DEGRADED', ['not_steady']],
    ['a warm-up that was cut is no fault', { steadyState: 'warmup' }, 'VALID', []],
    ['warm cache', { cacheHitRate: 0.31 }, 'DEGRADED', ['warm_cache']],
    ['warm cache as asked', { cacheHitRate: 0.31, warmCacheAsked: true }, 'VALID', []],
    ['a server that does not tell its hit rate', { cacheHitRate: null }, 'VALID', []],
    ['Little violated', { little: { ...idle.little!, discrepancy: 0.051 } }, 'DEGRADED', ['little_violated']],
    ['a shared machine over 90 % busy', cpu({ machine: 0.95 }), 'DEGRADED', ['shared_machine']],
    [
      'a busy machine that is not the server’s',
      {
        ...cpu({ machine: 0.95 }),
        health: { ...idle.health, same_machine: false, cpu: { ...idle.health.cpu, machine: 0.95 } },
      },
      'VALID',
      [],
    ],
    [
      'the worst reason decides, and all are named',
      { lateRequests: 50, cacheHitRate: 0.5 },
      'INVALID',
      ['late_sends', 'warm_cache'],
    ],
  ]
  it.each(rows)('%s', (_sentence, change, status, rules) => {
    const verdict = judgeValidity({ ...idle, ...change })
    expect(verdict.reasons.map((reason) => reason.rule)).toEqual(rules)
    expect(verdict.status).toBe(status)
  })

  it('says the evidence and the limit', () => {
    const { reasons } = judgeValidity({ ...idle, lateRequests: 50 })
    expect(reasons[0]?.message).toBe(
      '5.0 % of the requests were sent more than 10 ms after their time (limit 1.0 %)',
    )
  })
})

describe('rows that are lost', () => {
  const kept = '; what was measured when it ended is kept under summary in run.json'
  it.each<[string, NonNullable<ValidityInput['rowsLost']>, string]>([
    [
      'the start is left',
      lost(165),
      `the rows of 165 of 1,000 sent requests are lost (limit 1.0 %): those that are left are of its start, and so are the figures${kept}`,
    ],
    [
      'a few, of no one knows when',
      { ...lost(1), left: 'some', isSummarized: false },
      'the rows of 1 of 1,000 sent requests are lost: the figures are those of the rest',
    ],
    [
      'nothing is left',
      { ...lost(1000), left: 'none' },
      `the rows of all 1,000 sent requests are lost: nothing is left to judge${kept}`,
    ],
  ])('%s', (_, rowsLost, message) => {
    const { reasons } = judgeValidity({ ...idle, rowsLost })
    expect(reasons.map((reason) => reason.message)).toEqual([message])
  })
})

describe('lateLimitMs', () => {
  it.each([
    [null, 10],
    [100, 10],
    [1000, 50],
  ])('a median TTFT of %s ms allows %s ms', (ttft, limit) => expect(lateLimitMs(ttft)).toBe(limit))
})
