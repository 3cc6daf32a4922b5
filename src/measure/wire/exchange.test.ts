import { performance } from 'node:perf_hooks'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { RawRequest, RawServer } from '../../../test/replay/raw-server.mjs'
import { startRawServer } from '../../../test/replay/raw-server.mjs'
import { monotonicClock } from '../../base/clock.ts'
import { type ExchangeRequest, type Limits, type RunningExchange, startExchange } from './exchange.ts'
import { createHttp1Transport } from './http1-transport.ts'
import type { ResponseFields } from './response-fields.ts'
import type { Transport, TransportOptions } from './transport.ts'

const clock = monotonicClock(performance, process.hrtime.bigint)
const timers = { setTimeout, clearTimeout } as TransportOptions['timers']
const noLimits: Limits = {
  connectTimeoutMs: null,
  firstTokenTimeoutMs: null,
  idleTimeoutMs: null,
  totalTimeoutMs: null,
}
const event = (content: string, more = ''): string =>
  `data: {"choices":[{"delta":{"content":"${content}"}${more}}]}\n\n`
const ending = `${event('', ',"finish_reason":"stop"')}data: [DONE]\n\n`
const answer = (body: string | Buffer, head = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${head}\r\n`,
    ),
    Buffer.from(body as string),
  ])

const open: (Transport | RawServer)[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function target(
  serve: (socket: Socket, request: RawRequest) => void,
  options: Partial<TransportOptions> = {},
): Promise<{ transport: Transport; server: RawServer }> {
  const server = await startRawServer(serve)
  const transport = createHttp1Transport(new URL(server.url), {
    clock,
    timers,
    connectTimeoutMs: null,
    ...options,
  })
  open.push(transport, server)
  return { transport, server }
}

function run(
  transport: Transport,
  more: Partial<ExchangeRequest> = {},
  limits: Partial<Limits> = {},
  started: (running: RunningExchange) => void = () => {},
): Promise<ResponseFields> {
  return new Promise((resolve, reject) => {
    let calls = 0
    const running = startExchange(
      { transport, clock, timers },
      {
        api: 'chat',
        wire: { path: '/v1/chat/completions', headers: {}, body: '{}' },
        plannedMs: clock.nowMs(),
        streamAsked: true,
        keepText: true,
        ...more,
      },
      { ...noLimits, ...limits },
      (fields) => {
        if (calls++ > 0) reject(new Error('finished twice'))
        else setTimeout(() => resolve(fields), 5)
      },
    )
    started(running)
  })
}

/** Each piece in its own turn of the loop. */
function writeInPieces(socket: Socket, bytes: Buffer, size: number, at = 0): void {
  if (socket.destroyed || at >= bytes.length) return
  socket.write(bytes.subarray(at, at + size))
  setImmediate(() => writeInPieces(socket, bytes, size, at + size))
}

describe('an exchange', () => {
  it('fills every column, text only when asked', async () => {
    const { transport } = await target((socket) =>
      socket.write(answer(event('hi') + ending, 'x-pod: p7\r\n')),
    )
    const fields = await run(transport, { keepText: false, replicaHeader: 'X-Pod' })
    expect(fields).toMatchObject({
      ok: true,
      outcome: 'ok',
      http_status: 200,
      replica: 'p7',
      flags: [],
      tokens_source: 'events',
      completion_tokens: 1,
    })
    expect(Object.keys(fields)).not.toContain('text')
    expect(fields.lag_ms).toBe(fields.sent_ms! - fields.planned_ms!)
    expect(Object.values(fields).some((value) => value === undefined || Number.isNaN(value))).toBe(false)
  })

  it("uses its connection again when the end marker and the body's end come together", async () => {
    const { transport, server } = await target((socket) => socket.write(answer(event('hi') + ending)))
    for (let i = 0; i < 3; i++) expect((await run(transport)).ok).toBe(true)
    expect(server.connections()).toBe(1)
  })

  it('takes the next request on the freed connection from within onFinish', async () => {
    const { transport, server } = await target((socket) => socket.write(answer(event('hi') + ending)))
    await new Promise<void>((resolve) => {
      const again = (left: number): void => {
        startExchange(
          { transport, clock, timers },
          {
            api: 'chat',
            wire: { path: '/', headers: {}, body: '' },
            plannedMs: 0,
            streamAsked: true,
            keepText: false,
          },
          noLimits,
          () => (left > 0 ? again(left - 1) : resolve()),
        )
      }
      again(5)
    })
    expect(server.connections()).toBe(1)
  })

  it('sends once more when a reused connection was closed before any byte, and says so', async () => {
    // Like llama-server: promises to keep the connection, then closes it.
    const { transport, server } = await target((socket, { index }) => {
      if (index === 0) socket.write(answer(event('hi') + ending, 'keep-alive: timeout=5, max=100\r\n'))
      else socket.end()
    })
    expect((await run(transport)).flags).toEqual([])
    expect(await run(transport)).toMatchObject({ ok: true, flags: ['stale_connection_retried'] })
    expect(server.connections()).toBe(2)
  })

  it('calls it stale_connection where it may not be sent again', async () => {
    const { transport } = await target((socket, { index }) => {
      if (index === 0) socket.write(answer(event('hi') + ending))
      else socket.resetAndDestroy()
    })
    await run(transport)
    expect(await run(transport, { retryStale: false })).toMatchObject({
      ok: false,
      error_kind: 'stale_connection',
      http_status: null,
    })
  })

  it('does not take a reset after the first byte for a stale connection', async () => {
    const { transport } = await target((socket, { index }) => {
      socket.write(index === 0 ? answer(event('hi') + ending) : 'HTTP/1.1 200')
      if (index > 0) setTimeout(() => socket.resetAndDestroy(), 10)
    })
    await run(transport)
    expect(await run(transport)).toMatchObject({ error_kind: 'connection_reset', flags: [] })
  })

  it('stops reusing connections of a server that closes them all', async () => {
    const { transport } = await target((socket, { index }) => {
      if (index === 0) socket.write(answer(event('hi') + ending))
      else socket.end()
    })
    const flags: string[] = []
    for (let i = 0; i < 12; i++) flags.push(...(await run(transport)).flags)
    expect(flags).toHaveLength(3)
  })

  it.each([307, 308])('repeats the POST after a %i within the origin, once', async (status) => {
    const seen: string[] = []
    const { transport } = await target((socket, { path, body }) => {
      seen.push(`${path} ${body}`)
      if (path === '/new?x=1') socket.write(answer(event('hi') + ending))
      else socket.write(`HTTP/1.1 ${status} Moved\r\nlocation: /new?x=1\r\ncontent-length: 0\r\n\r\n`)
    })
    expect(await run(transport)).toMatchObject({ ok: true, flags: ['redirected'], http_status: 200 })
    expect(seen).toEqual(['/v1/chat/completions {}', '/new?x=1 {}'])
  })

  it.each([
    ['301', 'HTTP/1.1 301 Moved\r\nlocation: /new', 'http_301'],
    ['302', 'HTTP/1.1 302 Found\r\nlocation: /new', 'http_302'],
    ['303', 'HTTP/1.1 303 See Other\r\nlocation: /new', 'http_303'],
    ['a 307 to another origin', 'HTTP/1.1 307 Moved\r\nlocation: http://elsewhere.example/', 'http_307'],
    ['a 308 to nowhere', 'HTTP/1.1 308 Moved', 'http_308'],
    ['a second 307', 'HTTP/1.1 307 Moved\r\nlocation: /again', 'http_307'],
  ])('does not follow %s', async (_, head, kind) => {
    const { transport } = await target((socket) => socket.write(`${head}\r\ncontent-length: 0\r\n\r\n`))
    expect(await run(transport)).toMatchObject({ ok: false, outcome: 'failed', error_kind: kind })
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['x-gzip', gzipSync],
  ])('reads %s, cut anywhere', async (coding, compress) => {
    const bytes = answer(
      compress(Buffer.from(event('a') + event('b'.repeat(100_000)) + ending)),
      `content-encoding: ${coding}\r\n`,
    )
    const { transport } = await target((socket) => writeInPieces(socket, bytes, 37))
    const fields = await run(transport)
    expect([fields.ok, fields.text?.length, fields.n_output_chunks]).toEqual([true, 100_001, 2])
  })

  it('refuses a coding that it does not know', async () => {
    const { transport } = await target((socket) => socket.write(answer('x', 'content-encoding: zstd\r\n')))
    expect(await run(transport)).toMatchObject({
      error_kind: 'protocol',
      error_message: 'content-encoding zstd is not understood',
    })
  })

  it('gives up on an event beyond its limit', async () => {
    const { transport } = await target((socket) => socket.write(answer(event('x'.repeat(200_000)) + ending)))
    expect(await run(transport, { maxEventBytes: 100_000 })).toMatchObject({ error_kind: 'protocol' })
  })

  it('is censored with what it has when aborted, once', async () => {
    const { transport } = await target((socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${event('a')}`))
    const fields = await run(transport, {}, {}, (running) => {
      setTimeout(() => {
        running.abort('censored')
        running.abort('cancelled')
      }, 40)
    })
    expect(fields).toMatchObject({
      ok: false,
      outcome: 'censored',
      error_kind: null,
      text: 'a',
      n_output_chunks: 1,
      tpot_ms: null,
      flags: [],
    })
  })

  it('is marked when the client cancelled it, before it was sent too', async () => {
    const { transport } = await target(() => {}, { maxConnections: 1 })
    const first = run(transport, {}, { totalTimeoutMs: 80 })
    const waiting = run(transport, {}, {}, (running) => setTimeout(() => running.abort('cancelled'), 20))
    expect(await waiting).toMatchObject({
      outcome: 'censored',
      sent_ms: null,
      lag_ms: null,
      flags: ['cancelled_by_client'],
    })
    expect(await first).toMatchObject({ error_kind: 'timeout_total' })
  })

  it('counts what it waits for a connection as lag', async () => {
    const { transport } = await target(
      (socket) => setTimeout(() => socket.write(answer(event('a') + ending)), 40),
      { maxConnections: 1 },
    )
    const [first, second] = await Promise.all([run(transport), run(transport)])
    expect(first.lag_ms).toBeLessThan(second.lag_ms! - 20)
    expect(second.ttft_ms).toBeGreaterThan(first.ttft_ms! + 20)
  })

  it('does not wait for ever for what follows an error or a finish reason', async () => {
    const { transport } = await target((socket, { path }) => {
      if (path === '/busy') socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 100\r\n\r\nmodel is loading')
      else if (path === '/error') socket.write('HTTP/1.1 200 OK\r\n\r\ndata: {"error":{"message":"m"}}\n\n')
      else socket.write(`HTTP/1.1 200 OK\r\n\r\n${event('a', ',"finish_reason":"stop"')}`)
    })
    const at = (path: string): Promise<ResponseFields> =>
      run(transport, { wire: { path, headers: {}, body: '' } })
    const [busy, error, finished] = await Promise.all([at('/busy'), at('/error'), at('/')])
    expect(busy).toMatchObject({ error_kind: 'http_503', outcome: 'shed', error_message: 'model is loading' })
    expect(error).toMatchObject({ error_kind: 'in_band_error', error_message: 'm' })
    expect(finished).toMatchObject({ ok: true })
    // They end when their last byte came, not when the wait was given up.
    expect(Math.max(busy.done_ms!, error.done_ms!, finished.done_ms!)).toBeLessThan(4_000)
  })

  it('does not call a whole answer unstreamed where no stream was asked', async () => {
    const body = JSON.stringify({
      choices: [{ message: { content: 'hi', reasoning_content: 'r' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    })
    const { transport } = await target((socket) => socket.write(answer(body)))
    expect(await run(transport, { streamAsked: false })).toMatchObject({
      ok: true,
      flags: [],
      text: 'hi',
      reasoning_text: 'r',
      completion_tokens: 2,
      tokens_source: 'server',
      ttft_ms: null,
      tpot_ms: null,
    })
  })

  it('reads a completion that was not streamed', async () => {
    const { transport } = await target((socket) =>
      socket.write(answer('{"choices":[{"text":"hi","finish_reason":"length"}]}')),
    )
    expect(await run(transport)).toMatchObject({
      ok: true,
      flags: ['not_streamed'],
      text: 'hi',
      completion_tokens: null,
      tokens_source: null,
    })
  })
})

describe('an answer that ends well and holds nothing says what it held instead', () => {
  it.each([
    [
      'a page of a proxy or a login',
      ' <!doctype html><html><body>Log in</body></html>',
      'the answer is a web page, no stream',
    ],
    ['no body', '', 'the answer has no body'],
    ['an end marker alone', 'data: [DONE]\n\n', 'the stream held no output event'],
  ])('%s', async (_, body, message) => {
    const { transport } = await target((socket) => socket.write(answer(body)))
    expect(await run(transport)).toMatchObject({ ok: false, error_kind: 'no_output', error_message: message })
  })
})
