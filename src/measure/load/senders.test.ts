import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../workload/planned-request.ts'
import { packBodies } from './body-chunk.ts'
import { closedSender } from './closed-sender.ts'
import type { Sender, SenderDeps } from './flight.ts'
import { counterOf, createLedger, type Ledger } from './ledger.ts'
import { openSender } from './open-sender.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import type { Finished } from './thread-messages.ts'

/** How the fake server treats request i: ms until it answers, 0 within the call that sends it, null never. */
type Service = (index: number) => number | null

/** An event loop in virtual time: the senders run in it as in a thread, and hours pass in a moment. */
function virtualLoop(service: Service, ledger: Ledger) {
  let nowMs = 0
  let order = 0
  const queue: { atMs: number; order: number; run: () => void }[] = []
  const finished: Finished[] = []
  const sentAt = new Map<number, number>()
  function at(atMs: number, run: () => void) {
    const entry = { atMs, order: order++, run }
    queue.push(entry)
    return entry
  }
  const deps: SenderDeps = {
    // Reading the clock takes a microsecond, so that a wait in a loop ends.
    clock: { nowMs: () => (nowMs += 0.001) },
    timers: {
      setTimeout: (run, ms) => at(nowMs + Math.max(1, ms), run),
      clearTimeout: (entry) => {
        const index = queue.indexOf(entry as (typeof queue)[number])
        if (index >= 0) queue.splice(index, 1)
      },
    },
    soon: (run) => at(nowMs, run),
    finish: (one) => finished.push(one),
    ledger,
    start(index, plannedMs, _body, onFinish) {
      const sentMs = nowMs
      sentAt.set(index, sentMs)
      const end = (outcome: 'ok' | 'censored') =>
        onFinish({
          outcome,
          planned_ms: plannedMs,
          sent_ms: sentMs,
          lag_ms: sentMs - plannedMs,
          done_ms: nowMs - plannedMs,
        } as ResponseFields)
      const ms = service(index)
      const entry = ms === null ? null : ms === 0 ? null : at(nowMs + ms, () => end('ok'))
      if (ms === 0) end('ok')
      return {
        abort() {
          if (entry !== null) deps.timers.clearTimeout(entry)
          end('censored')
        },
      }
    },
  }
  /** Runs events in order of time, microtasks between them, until `done` or nothing is left. */
  async function run(done: () => boolean) {
    for (let steps = 0; steps < 100_000 && !done(); steps++) {
      queue.sort((a, b) => a.atMs - b.atMs || a.order - b.order)
      const next = queue.shift()
      if (next === undefined) return
      nowMs = Math.max(nowMs, next.atMs)
      next.run()
      await Promise.resolve()
      await Promise.resolve()
    }
  }
  return { deps, finished, sentAt, at, run }
}

const request = (index: number, plannedMs: number | null, thinkTimeMs = 0): PlannedRequest => ({
  index,
  plannedMs,
  thinkTimeMs,
  body: `{"n":${index}}`,
  promptId: null,
  segment: null,
  session: null,
  turn: null,
  askedOutputTokens: null,
  plannedPromptTokens: null,
})

const service = fc.func(fc.oneof(fc.constant(0), fc.nat(3000), fc.constant(null)))
const interference = fc.option(
  fc.record({ atMs: fc.nat(3000), kind: fc.constantFrom<'stop' | 'cut'>('stop', 'cut') }),
)

async function openRun(options: {
  plannedMs: readonly number[]
  service: Service
  limit?: number | null
  drainMs?: number | null
  sendEndMs?: number | null
  disturbed?: { atMs: number; kind: 'stop' | 'cut' } | null
}) {
  const requests = options.plannedMs.map((ms, i) => request(i, ms))
  const loop = virtualLoop(options.service, createLedger(requests.length + 1))
  let ended = 0
  const sender = openSender(
    {
      kind: 'open',
      turns: 1,
      indexes: Int32Array.from(requests, ({ index }) => index),
      plannedMs: Float64Array.from(options.plannedMs),
      bodies: packBodies(requests),
    },
    {
      maxInFlight: options.limit ?? null,
      sendEndMs: options.sendEndMs ?? null,
      drainMs: options.drainMs === undefined ? 1000 : options.drainMs,
    },
    loop.deps,
    () => ended++,
  )
  disturb(loop, sender, options.disturbed ?? null)
  loop.at(0, () => sender.begin())
  await loop.run(() => ended > 0)
  return { ...loop, ended }
}

function disturb(
  loop: ReturnType<typeof virtualLoop>,
  sender: Sender,
  then: { atMs: number; kind: 'stop' | 'cut' } | null,
) {
  if (then === null) return
  loop.at(then.atMs, () => (then.kind === 'stop' ? sender.stop('interrupted') : sender.cut()))
}

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

async function closedRun(options: {
  users: number
  count: number | null
  service: Service
  thinkTimeMs?: number
  staggerMs?: number
  sendEndMs?: number | null
  bodiesAfterMs?: number
  workers?: number
  disturbed?: { atMs: number; kind: 'stop' | 'cut' } | null
}) {
  const ledger = createLedger(4096)
  const loop = virtualLoop(options.service, ledger)
  const workers = options.workers ?? 1
  let ended = 0
  const requests = Array.from({ length: 640 }, (_, i) => request(i, null, options.thinkTimeMs ?? 0))
  for (let worker = 0; worker < workers; worker++) {
    const slots = Array.from({ length: options.users }, (_, slot) => slot).filter(
      (s) => s % workers === worker,
    )
    const sender = closedSender(
      {
        kind: 'closed',
        turns: 1,
        slots: Int32Array.from(slots),
        startMs: Float64Array.from(slots, (slot) => (slot * (options.staggerMs ?? 0)) / options.users),
        count: options.count,
      },
      { sendEndMs: options.sendEndMs ?? null, drainMs: 1000 },
      loop.deps,
      () => ended++,
    )
    disturb(loop, sender, options.disturbed ?? null)
    for (let first = 0; first < requests.length; first += 64) {
      loop.at((options.bodiesAfterMs ?? 0) * (1 + first / 64), () =>
        sender.addBodies(packBodies(requests.slice(first, first + 64), first)),
      )
    }
    loop.at(0, () => sender.begin())
  }
  await loop.run(() => ended === workers)
  return { ...loop, ended, taken: Math.min(ledger.counters[counterOf.next]!, options.count ?? Infinity) }
}

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
