import { performance } from 'node:perf_hooks'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startRawServer } from '../../../test/replay/raw-server.mjs'
import { monotonicClock } from '../../base/clock.ts'
import { type Limits, startExchange } from './exchange.ts'
import { createHttp1Transport } from './http1-transport.ts'
import type { ResponseFields } from './response-fields.ts'
import { type EventLoop, timeLimits } from './time-limits.ts'

const clock = monotonicClock(performance, process.hrtime.bigint)
const timers = timeLimits({ setTimeout, clearTimeout, setImmediate } as EventLoop)
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'
const token = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
const ending = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function ask(url: string, limits: Partial<Limits>): Promise<ResponseFields> {
  const none = {
    connectTimeoutMs: null,
    firstTokenTimeoutMs: null,
    idleTimeoutMs: null,
    totalTimeoutMs: null,
    ...limits,
  }
  const transport = createHttp1Transport(new URL(url), { clock, timers, ...none })
  open.push(transport)
  return new Promise((resolve) => {
    startExchange(
      { transport, clock, timers },
      {
        api: 'chat',
        wire: { path: '/v1/chat/completions', headers: {}, body: '{}' },
        plannedMs: clock.nowMs(),
        streamAsked: true,
        keepText: true,
      },
      none,
      resolve,
    )
  })
}

/** Holds the event loop up, as a machine does that gives its core to others. */
function holdUp(ms: number): void {
  const untilMs = clock.nowMs() + ms
  while (clock.nowMs() < untilMs);
}

/** In the phase of a loop's turn that timers follow upon, before anything is read. */
const inTheLastPhase = (act: () => void): unknown => setTimeout(() => setImmediate(act), 10)

describe('a loop that is held up beyond a limit calls nothing late that had arrived in time', () => {
  it.each<[string, Partial<Limits>, readonly string[]]>([
    ['the first token', { firstTokenTimeoutMs: 60 }, [head + token + ending]],
    ['the next token', { idleTimeoutMs: 60 }, [head + token, token + ending]],
    ['the whole answer', { totalTimeoutMs: 60 }, [head + token, ending]],
  ])('%s', async (_, limits, pieces) => {
    const server = await startRawServer((socket: Socket) => {
      const [first, last] = pieces.length === 1 ? ['', pieces[0]!] : [pieces[0]!, pieces[1]!]
      if (first !== '') socket.write(first)
      inTheLastPhase(() => {
        socket.write(last)
        holdUp(100)
      })
    })
    open.push(server)
    expect(await ask(server.url, limits)).toMatchObject({ ok: true, error_kind: null })
  })

  it('the connection', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => socket.end(head + token + ending))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
    const { port } = server.address() as { port: number }
    const fields = await new Promise<ResponseFields>((resolve) => {
      inTheLastPhase(() => {
        void ask(`http://127.0.0.1:${port}`, { connectTimeoutMs: 60 }).then(resolve)
        // Once the system has been asked to connect, which it does at once.
        process.nextTick(() => holdUp(100))
      })
    })
    expect(fields).toMatchObject({ ok: true, error_kind: null })
  })
})

describe('what did not come in time', () => {
  it('is late, held up or not, and says when it was given up', async () => {
    const server = await startRawServer((socket: Socket) => void socket.write(head + token))
    open.push(server)
    const fields = await ask(server.url, { idleTimeoutMs: 40 })
    expect(fields).toMatchObject({ ok: false, error_kind: 'timeout_idle', n_output_chunks: 1 })
    expect(fields.done_ms! - fields.ttft_ms!).toBeGreaterThanOrEqual(39)
  })

  it('is never called late once it was cleared, though its time was up', async () => {
    let struck = false
    const limit = timers.setTimeout(() => (struck = true), 1)
    // Runs after the limit's own timer, before what it left for later.
    setTimeout(() => timers.clearTimeout(limit), 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(struck).toBe(false)
  })
})
