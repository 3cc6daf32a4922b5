import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closedRun, openRun, type Service } from '../../../test/fixtures/senders.ts'

const service = fc.func(fc.oneof(fc.constant(0), fc.nat(3000), fc.constant(null)))
const interference = fc.option(
  fc.record({ atMs: fc.nat(3000), kind: fc.constantFrom<'stop' | 'cut'>('stop', 'cut') }),
)

describe('the open loop', () => {
  it('ends every request exactly once, whatever the server does and whenever it is stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(2000), { maxLength: 40 }),
        service,
        fc.option(fc.integer({ min: 1, max: 5 })),
        interference,
        async (times, service, limit, disturbed) => {
          const plannedMs = times.sort((a, b) => a - b)
          const { finished, ended } = await openRun({
            plannedMs,
            service,
            limit,
            disturbed,
            sendEndMs: limit === null ? null : 2001,
          })
          expect(ended).toBe(1)
          expect(finished.map(({ index }) => index).sort((a, b) => a - b)).toEqual(plannedMs.map((_, i) => i))
        },
      ),
    )
  })

  it('sends at the planned time although nothing is ever answered', async () => {
    const plannedMs = Array.from({ length: 50 }, (_, i) => 10 + i * 7.3)
    const { sentAt } = await openRun({ plannedMs, service: () => null })
    plannedMs.forEach((ms, i) => {
      expect(sentAt.get(i)! - ms).toBeGreaterThanOrEqual(0)
      expect(sentAt.get(i)! - ms).toBeLessThan(2)
    })
  })

  it('counts the wait for a connection as lag, from the intended send', async () => {
    const { finished } = await openRun({ plannedMs: [0, 0, 0], service: () => 100, limit: 1 })
    const lags = finished.map((one) => ('fields' in one ? Math.round(one.fields.lag_ms!) : null))
    expect(lags).toEqual([0, 100, 200])
  })

  it('never has more in flight than its limit', async () => {
    let inFlight = 0
    let most = 0
    const counting: Service = () => {
      most = Math.max(most, ++inFlight)
      return 50
    }
    const run = openRun({ plannedMs: Array.from({ length: 30 }, (_, i) => i), service: counting, limit: 4 })
    const { sentAt, finished } = await run
    for (const start of sentAt.values()) {
      const during = finished.filter(
        (one) =>
          'fields' in one &&
          one.fields.sent_ms! <= start &&
          one.fields.planned_ms! + one.fields.done_ms! > start,
      )
      expect(during.length).toBeLessThanOrEqual(4)
    }
  })

  it('censors what still runs when the drain is over, and not before', async () => {
    const { finished } = await openRun({
      plannedMs: [0, 1, 2],
      service: (i) => [null, 500, 1500][i]!,
      drainMs: 1000,
    })
    const outcomes = finished.map((one) => ('fields' in one ? one.fields.outcome : one.unsent))
    expect(outcomes).toEqual(['ok', 'censored', 'censored'])
    expect(finished.map(({ index }) => index)).toEqual([1, 0, 2])
  })

  it('reads what arrived within the drain, although the thread was held up over its end', async () => {
    const { finished } = await openRun({
      plannedMs: [0, 1],
      service: (i) => [990, 1500][i]!,
      drainMs: 1000,
      heldUp: { atMs: 980, forMs: 100 },
    })
    expect(finished.map((one) => 'fields' in one && one.fields.outcome)).toEqual(['ok', 'censored'])
  })

  it('reports what waited for a connection until the end as never sent', async () => {
    const { finished } = await openRun({
      plannedMs: [0, 1],
      service: () => null,
      limit: 1,
      sendEndMs: 500,
      drainMs: 100,
    })
    expect(finished).toContainEqual({ index: 1, unsent: 'drain_ended', plannedMs: 1 })
  })
})

describe('the closed loop', () => {
  it('ends every taken request exactly once, whatever the server does and whenever it is stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          users: fc.integer({ min: 1, max: 6 }),
          count: fc.integer({ min: 1, max: 60 }),
          service: fc.func(fc.oneof(fc.constant(0), fc.nat(300), fc.constant(null))),
          thinkTimeMs: fc.constantFrom(0, 40),
          staggerMs: fc.constantFrom(0, 200),
          sendEndMs: fc.option(fc.nat(2000)),
          bodiesAfterMs: fc.constantFrom(0, 100),
          workers: fc.integer({ min: 1, max: 3 }),
          disturbed: interference,
        }),
        async (options) => {
          const never = options.sendEndMs === null && options.disturbed === null
          const service: Service = (i) => (never ? (options.service(i) ?? 10) : options.service(i))
          const { finished, ended, taken } = await closedRun({
            ...options,
            workers: Math.min(options.workers, options.users),
            service,
          })
          expect(ended).toBe(Math.min(options.workers, options.users))
          expect(finished.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
            Array.from({ length: taken }, (_, i) => i),
          )
        },
      ),
    )
  })

  it('reads what arrived within the drain, although the thread was held up over its end', async () => {
    const { finished, ended } = await closedRun({
      users: 2,
      count: null,
      service: (i) => [1090, 3000][i]!,
      sendEndMs: 100,
      heldUp: { atMs: 1080, forMs: 100 },
    })
    expect(finished.map((one) => 'fields' in one && one.fields.outcome)).toEqual(['ok', 'censored'])
    expect(ended).toBe(1)
  })

  it('intends a send for the moment its slot became free, plus the think time', async () => {
    const { finished } = await closedRun({ users: 1, count: 3, service: () => 100, thinkTimeMs: 50 })
    expect(finished.map((one) => 'fields' in one && Math.round(one.fields.planned_ms!))).toEqual([
      50, 200, 350,
    ])
  })

  it('spreads the first sends of its users over the stagger', async () => {
    const { sentAt } = await closedRun({ users: 4, count: 4, service: () => 1000, staggerMs: 400 })
    expect([...sentAt.values()].map((ms) => Math.round(ms / 10) * 10)).toEqual([0, 100, 200, 300])
  })

  it('counts a body that came late as lag', async () => {
    const { finished } = await closedRun({ users: 1, count: 1, service: () => 10, bodiesAfterMs: 70 })
    expect('fields' in finished[0]! && Math.round(finished[0].fields.lag_ms!)).toBe(70)
  })

  it('takes no request whose slot became free after the window', async () => {
    const { finished, taken } = await closedRun({
      users: 2,
      count: null,
      service: () => 100,
      sendEndMs: 1000,
    })
    expect(taken).toBe(20)
    expect(finished.every((one) => 'fields' in one && one.fields.outcome === 'ok')).toBe(true)
  })
})
