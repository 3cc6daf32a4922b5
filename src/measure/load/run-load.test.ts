import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { monotonicClock } from '../../base/clock.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { PlannedRequest } from '../workload/planned-request.ts'
import { startFakeServer } from './calibration.ts'
import { systemHost } from './host.ts'
import { openInstrument } from './instrument.ts'
import type { LoadDeps, LoadOptions, LoadPlan } from './load-options.ts'
import type { LoadProgress } from './progress.ts'
import { runLoad } from './run-load.ts'

const clock = monotonicClock(performance, process.hrtime.bigint)
const host = systemHost({ os, cpuUsage: () => process.cpuUsage(), lookup })
let fake: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  fake = await startFakeServer(clock.originMonotonicNs)
})
afterAll(() => fake.close())

function request(
  index: number,
  plannedMs: number | null,
  body: Record<string, unknown> = {},
): PlannedRequest {
  return {
    index,
    plannedMs,
    thinkTimeMs: 0,
    body: JSON.stringify({ index, events: 4, gap_ms: 5, first_ms: 5, ...body }),
    promptId: `prompt-${index}`,
    segment: 'all',
    session: null,
    turn: null,
    askedOutputTokens: 4,
    plannedPromptTokens: 1,
  }
}

function openPlan(count: number, everyMs: number, body: Record<string, unknown> = {}): LoadPlan {
  return { kind: 'open', requests: Array.from({ length: count }, (_, i) => request(i, i * everyMs, body)) }
}

function closedPlan(users: number, count: number | null, body: Record<string, unknown> = {}): LoadPlan {
  return { kind: 'closed', users, count, staggerMs: 0, requestAt: (index) => request(index, null, body) }
}

interface Wanted {
  readonly plan: LoadPlan
  readonly url?: string
  readonly workers?: number
  readonly window?: Partial<LoadOptions['window']>
  readonly options?: Partial<LoadOptions>
  readonly deps?: Partial<LoadDeps>
  /** Called once, when so many rows have come. */
  readonly after?: { readonly rows: number; readonly act: () => void }
}

/** A run on threads that are neither warm nor calibrated: these tests are about rows, not about time. */
async function run(wanted: Wanted) {
  const rows: RequestRow[] = []
  const workers = wanted.workers ?? 1
  const instrument = wanted.deps?.instrument ?? (await openInstrument({ workers, calibrate: false }, clock))
  try {
    const result = await runLoad(
      {
        target: {
          url: wanted.url ?? fake.url,
          api: 'chat',
          headers: { 'content-type': 'application/json' },
        },
        keepText: false,
        replicaHeader: null,
        limits: {
          connectTimeoutMs: 2000,
          firstTokenTimeoutMs: null,
          idleTimeoutMs: null,
          totalTimeoutMs: null,
        },
        plan: wanted.plan,
        workers,
        window: { warmupMs: 0, measureMs: null, drainMs: 3000, ...wanted.window },
        maxConnections: null,
        idPrefix: 'test-',
        earlyStop: null,
        ...wanted.options,
      },
      {
        clock,
        host,
        ...wanted.deps,
        instrument,
        onRow(row) {
          rows.push(row)
          if (rows.length === wanted.after?.rows) wanted.after.act()
          wanted.deps?.onRow?.(row)
        },
      },
    )
    return { rows, result, outcomes: tally(rows) }
  } finally {
    if (wanted.deps?.instrument === undefined) await instrument.close()
  }
}

function tally(rows: readonly RequestRow[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const row of rows) counts[row.outcome] = (counts[row.outcome] ?? 0) + 1
  return counts
}

/** Law 2: one row for each planned request, no more, no fewer. */
function expectOneRowEach(rows: readonly RequestRow[], planned: number): void {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(planned)
  expect(rows.length).toBe(planned)
}

describe('a run', () => {
  it('joins the plan with what came back, and keeps the planned times exactly', async () => {
    const plan = openPlan(40, 5)
    const { rows, result, outcomes } = await run({ plan, workers: 2 })
    expectOneRowEach(rows, 40)
    expect(outcomes).toEqual({ ok: 40 })
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (let i = 0; i < 40; i++) {
      expect(byId.get(`test-${i}`)).toMatchObject({
        planned_ms: i * 5,
        prompt_id: `prompt-${i}`,
        worker: i % 2,
        phase: 'measure',
        completion_tokens: 4,
        asked_output_tokens: 4,
        n_output_chunks: 4,
      })
    }
    expect(rows.every(({ lag_ms }) => lag_ms !== null && lag_ms >= 0)).toBe(true)
    expect(result).toMatchObject({ planned: 40, stopped: null, windowStartMs: 0, windowEndMs: 200 })
    expect(result.health).toMatchObject({ workers: 2, events: 160, same_machine: true })
  })

  it('puts each request into the part of the run that it was meant for, and never sends behind the window', async () => {
    const { rows, outcomes } = await run({
      plan: openPlan(20, 20),
      window: { warmupMs: 100, measureMs: 150, cooldownMs: 50 },
    })
    expect(outcomes).toEqual({ ok: 15, unsent: 5 })
    const phases = (phase: string) => rows.filter((row) => row.phase === phase && row.outcome === 'ok').length
    expect([phases('warmup'), phases('measure'), phases('drain')]).toEqual([5, 8, 2])
    expect(rows.filter(({ outcome }) => outcome === 'unsent').map(({ error_code }) => error_code)).toEqual(
      Array(5).fill('window_ended'),
    )
  })

  it('asks for the same requests in the same order whatever the number of workers', async () => {
    const seen = async (users: number, workers: number) => {
      const order: number[] = []
      const server = await listen((_, response, body) => {
        order.push((JSON.parse(body) as { index: number }).index)
        response.end('{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]}')
      })
      const { rows } = await run({
        plan: closedPlan(users, 60),
        workers,
        url: server.url,
      })
      expectOneRowEach(rows, 60)
      await server.close()
      return order
    }
    const all = Array.from({ length: 60 }, (_, i) => i)
    expect(await seen(1, 1)).toEqual(all)
    // With several users answers race; what is asked does not.
    for (const workers of [1, 3]) expect((await seen(3, workers)).sort((a, b) => a - b)).toEqual(all)
  })

  it('runs a closed loop without a count until its window ends, and counts what it took', async () => {
    const { rows, result, outcomes } = await run({
      plan: closedPlan(4, null),
      window: { measureMs: 400 },
      workers: 2,
    })
    expectOneRowEach(rows, result.planned)
    expect(outcomes).toEqual({ ok: result.planned })
    expect(result.planned).toBeGreaterThan(8)
    const ofUser = rows.sort((a, b) => a.planned_ms! - b.planned_ms!)
    expect(ofUser.slice(0, 4).map(({ planned_ms }) => planned_ms)).toEqual([0, 0, 0, 0])
    expect(rows.every(({ planned_ms }) => planned_ms! < 400)).toBe(true)
  })

  it('counts the wait for a connection as lag', async () => {
    const { rows } = await run({
      plan: openPlan(6, 0, { events: 2, gap_ms: 50 }),
      options: { maxConnections: 2 },
    })
    const lags = rows.map(({ lag_ms }) => lag_ms!).sort((a, b) => a - b)
    // Each answer takes 55 ms: the third request waits for the first answer, the fifth for two.
    expect(lags[2]).toBeGreaterThan(50)
    expect(lags[4]).toBeGreaterThan(100)
    expect(rows.every((row) => row.ttft_ms! >= row.lag_ms!)).toBe(true)
  })

  it('tells of its progress', async () => {
    const seen: LoadProgress[] = []
    await run({ plan: openPlan(50, 15), deps: { onProgress: (progress) => seen.push(progress) } })
    expect(seen.at(-1)).toMatchObject({ planned: 50, sent: 50, done: 50, ok: 50, failed: 0, inFlight: 0 })
    expect(seen.length).toBeLessThanOrEqual(2 + seen.at(-1)!.elapsedMs / 250)
    expect(seen.some(({ rateNow }) => rateNow !== null && rateNow > 0)).toBe(true)
  })

  it('uses threads again that an earlier run left warm', async () => {
    const instrument = await openInstrument({ workers: 2, calibrate: false }, clock)
    for (let turn = 0; turn < 3; turn++) {
      const { rows, outcomes } = await run({ plan: openPlan(10, 2), workers: 2, deps: { instrument } })
      expectOneRowEach(rows, 10)
      expect(outcomes).toEqual({ ok: 10 })
    }
    await instrument.close()
  })
})

describe('a run that ends otherwise than planned still has a row for each request', () => {
  it('an interrupt drains what is in flight and leaves the rest unsent', async () => {
    const stop = new AbortController()
    const { rows, result, outcomes } = await run({
      plan: openPlan(400, 5),
      workers: 2,
      deps: { signal: stop.signal },
      after: { rows: 10, act: () => stop.abort() },
    })
    expectOneRowEach(rows, 400)
    expect(outcomes['ok']! + outcomes['unsent']!).toBe(400)
    expect(outcomes['unsent']).toBeGreaterThan(0)
    expect(result.stopped).toMatchObject({ why: 'interrupted' })
  })

  it('an interrupt before the start leaves all unsent', async () => {
    for (const plan of [openPlan(10, 5), closedPlan(3, 10)]) {
      const { rows, outcomes } = await run({ plan, deps: { signal: AbortSignal.abort() } })
      expectOneRowEach(rows, 10)
      expect(outcomes).toEqual({ unsent: 10 })
    }
  })

  it('an interrupted closed loop with a count has rows for what no slot came to', async () => {
    const stop = new AbortController()
    const { rows, outcomes } = await run({
      plan: closedPlan(4, 2000),
      workers: 2,
      deps: { signal: stop.signal },
      after: { rows: 10, act: () => stop.abort() },
    })
    expectOneRowEach(rows, 2000)
    expect(outcomes['ok']! + outcomes['unsent']!).toBe(2000)
    const never = rows.filter(({ planned_ms }) => planned_ms === null)
    expect(
      never.every(({ outcome, error_code }) => outcome === 'unsent' && error_code === 'interrupted'),
    ).toBe(true)
  })

  it('a cut censors what hangs', async () => {
    const cut = new AbortController()
    const plan: LoadPlan = {
      kind: 'open',
      requests: Array.from({ length: 10 }, (_, i) => request(i, i, { hang: i % 2 === 0 })),
    }
    const { rows, outcomes } = await run({
      plan,
      window: { drainMs: null },
      deps: { cutSignal: cut.signal },
      after: { rows: 5, act: () => cut.abort() },
    })
    expectOneRowEach(rows, 10)
    expect(outcomes).toEqual({ ok: 5, censored: 5 })
  })

  it('the end of the drain censors what hangs', async () => {
    const { rows, outcomes } = await run({
      plan: closedPlan(3, null, { hang: true }),
      window: { measureMs: 100, drainMs: 100 },
    })
    expectOneRowEach(rows, 3)
    expect(outcomes).toEqual({ censored: 3 })
  })

  it.each([
    ['open', openPlan(300, 4, { events: 50 })],
    ['closed', closedPlan(20, 300, { events: 20 })],
  ] as const)(
    'the death of a worker (%s loop): its requests are failed or unsent, the other drains',
    async (_, plan) => {
      const instrument = await openInstrument({ workers: 2, calibrate: false }, clock)
      const { rows, result, outcomes } = await run({
        plan,
        workers: 2,
        deps: { instrument },
        after: { rows: 20, act: () => void instrument.workers[1]!.kill() },
      })
      await instrument.close()
      expectOneRowEach(rows, 300)
      expect(result.stopped).toMatchObject({ why: 'worker_crashed', evidence: { worker: 1 } })
      const crashed = rows.filter(({ error_kind }) => error_kind === 'worker_crashed')
      expect(crashed.length).toBeGreaterThan(0)
      expect(crashed.every((row) => row.outcome === 'failed' && row.worker === 1 && row.sent_ms! > 0)).toBe(
        true,
      )
      expect(outcomes['unsent']).toBeGreaterThan(0)
    },
  )

  it('a server that answers nothing but errors stops the run early, with the share', async () => {
    const { rows, result, outcomes } = await run({
      plan: openPlan(500, 4, { status: 500 }),
      options: { earlyStop: { of: 20, share: 0.9 } },
    })
    expectOneRowEach(rows, 500)
    expect(outcomes['failed']! + outcomes['unsent']!).toBe(500)
    expect(outcomes['unsent']).toBeGreaterThan(0)
    expect(result.stopped).toMatchObject({
      why: 'nearly_everything_failed',
      message: '20 of the last 20 requests (100 %) failed, 20 of them with http_500: stopped early',
    })
  })

  it('a server that goes away in mid-run', async () => {
    const dying = await startFakeServer(clock.originMonotonicNs)
    const { rows, outcomes } = await run({
      plan: openPlan(300, 5, { events: 30 }),
      url: dying.url,
      after: { rows: 10, act: () => void dying.close() },
    })
    expectOneRowEach(rows, 300)
    expect(outcomes['ok']! + outcomes['failed']!).toBe(300)
    expect(outcomes['failed']).toBeGreaterThan(0)
  })
})

describe('what stops a run before it begins', () => {
  it('nothing listens: PLIM_CONNECT, and no row', async () => {
    const server = await listen(() => undefined)
    await server.close()
    await expect(run({ plan: openPlan(5, 1), url: server.url })).rejects.toMatchObject({
      code: 'PLIM_CONNECT',
    })
  })

  it('a closed loop that nothing ends: PLIM_CONFIG', async () => {
    await expect(run({ plan: closedPlan(1, null) })).rejects.toMatchObject({ code: 'PLIM_CONFIG' })
  })

  it('an error of the one who takes the rows comes out of the run', async () => {
    const failing = run({
      plan: openPlan(20, 5),
      deps: {
        onRow: () => {
          throw new Error('disk full')
        },
      },
    })
    await expect(failing).rejects.toThrow('disk full')
  })
})

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => answer(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
