import { afterEach, describe, expect, it } from 'vitest'
import {
  Bench,
  deaf,
  exchange,
  implementations,
  ok,
  post,
  refusingUrl,
  trickle,
  until,
} from '../../../test/replay/transport-probe.ts'
import type { RawRequest } from '../../../test/replay/raw-server.mjs'
import type { ResponseSink } from './transport.ts'

describe.each(implementations)('a transport: %s', (_name, create) => {
  const bench = new Bench(create)
  afterEach(() => bench.close())

  it('sends the request as given and tells the answer in order', async () => {
    const seen: RawRequest[] = []
    const { transport } = await bench.serve((socket, request) => {
      seen.push(request)
      socket.write(ok('hello', 'X-Replica: a\r\nx-two: 1\r\nx-two: 2\r\n'))
    })
    const heard = await exchange(transport)
    expect(heard).toMatchObject({
      status: 200,
      body: 'hello',
      end: 'end',
      order: ['sent', 'headers', 'data', 'end'],
    })
    expect([heard.headers('x-replica'), heard.headers('x-two'), heard.headers('none')]).toEqual([
      'a',
      '1, 2',
      undefined,
    ])
    expect(heard.stamps).toEqual(heard.stamps.toSorted((a, b) => a - b))
    expect(seen[0]).toMatchObject({ path: '/v1/x', body: '{"a":"é"}' })
    expect(seen[0]!.head.toLowerCase()).toContain('content-type: application/json')
    expect(seen[0]!.head).toMatch(/^POST \/v1\/x HTTP\/1\.1/)
  })

  it('sends a body that is bytes', async () => {
    const { transport } = await bench.serve((socket, { body }) => socket.write(ok(body)))
    const bytes = { ...post, body: Buffer.from('é'.repeat(70_000)) as unknown as string }
    expect((await exchange(transport, {}, bytes)).body).toBe('é'.repeat(70_000))
  })

  it.each([
    ['a length', ok('abc')],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    [
      'chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\nt: v\r\n\r\n',
    ],
    ['an informational answer first', `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ok('abc')}`],
  ])('reads a body with %s, cut anywhere', async (_, wire) => {
    const { transport, server } = await bench.serve((socket) => trickle(socket, wire))
    for (let again = 0; again < 2; again++) {
      const heard = await exchange(transport)
      expect(heard.end).toBe('end')
      expect(heard.body).toBe(wire.startsWith('HTTP/1.1 204') ? '' : 'abc')
    }
    expect(server.connections()).toBe(1)
  })

  it('reads a body that the close ends', async () => {
    const { transport } = await bench.serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'))
    expect(await exchange(transport)).toMatchObject({ body: 'abc', end: 'end' })
  })

  it('reads 3 MB as they come', async () => {
    const body = 'x'.repeat(3_000_000)
    const { transport } = await bench.serve((socket) => socket.write(ok(body)))
    expect((await exchange(transport)).body).toHaveLength(3_000_000)
  })

  it('reuses connections, the last one first', async () => {
    const { transport, server } = await bench.serve((socket, { connection }) =>
      socket.write(ok(String(connection))),
    )
    await Promise.all([exchange(transport), exchange(transport)])
    const last = await exchange(transport)
    expect((await exchange(transport)).body).toBe(last.body)
    expect(server.connections()).toBe(2)
  })

  it('opens connections ahead', async () => {
    const { transport, server } = await bench.serve((socket, { connection }) =>
      socket.write(ok(String(connection))),
    )
    await transport.open(3)
    await until(() => server.connections() === 3)
    await Promise.all([exchange(transport), exchange(transport), exchange(transport)])
    expect(server.connections()).toBe(3)
  })

  it('says so when nothing can be opened', async () => {
    const transport = await bench.connect(await refusingUrl())
    await expect(transport.open(2)).rejects.toMatchObject({ code: 'PLIM_CONNECT' })
  })

  it('frees the connection before it says that the exchange is over', async () => {
    const { transport, server } = await bench.serve((socket) => socket.write(ok('a')))
    await new Promise<void>((resolve) => {
      const sink = (onEnd: () => void): ResponseSink => deaf({ onEnd })
      transport.send(
        post,
        sink(() => transport.send(post, sink(resolve))),
      )
    })
    expect(server.connections()).toBe(1)
  })

  it('honours connection: close', async () => {
    const { transport, server } = await bench.serve((socket) => socket.end(ok('a', 'connection: close\r\n')))
    expect((await exchange(transport)).body).toBe('a')
    expect((await exchange(transport)).body).toBe('a')
    expect(server.connections()).toBe(2)
  })

  it('opens a fresh connection when asked', async () => {
    const { transport, server } = await bench.serve((socket) => socket.write(ok('a')))
    await exchange(transport)
    await exchange(transport, { freshSocket: true })
    expect(server.connections()).toBe(2)
  })

  it('lets requests beyond the limit wait in order, and stamps them when they are sent', async () => {
    const { transport, server } = await bench.serve((socket) => setTimeout(() => socket.write(ok('a')), 30), {
      maxConnections: 1,
    })
    const all = await Promise.all([exchange(transport), exchange(transport), exchange(transport)])
    const sent = all.map((heard) => heard.stamps[0]!)
    expect(sent[1]! - sent[0]!).toBeGreaterThan(20)
    expect(sent[2]! - sent[1]!).toBeGreaterThan(20)
    expect(server.connections()).toBe(1)
  })
})

describe('the lean transport alone', () => {
  const bench = new Bench(implementations[0]![1])
  afterEach(() => bench.close())

  it.each([
    ['content-length: 100', 'inside a body'],
    ['x: y', 'where the close would end the body'],
  ])('knows a reset that comes right behind data, with %s: %s', async (field) => {
    const { transport } = await bench.serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${field}\r\n\r\nabc`)
      socket.resetAndDestroy()
    })
    for (let i = 0; i < 50; i++) expect((await exchange(transport)).end).toBe('connection_reset')
  })

  it('passes over an unasked 100', async () => {
    const { transport } = await bench.serve((socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\n${ok('abc')}`),
    )
    expect((await exchange(transport)).body).toBe('abc')
  })

  it('closes a connection on which bytes come unasked', async () => {
    const { transport, server } = await bench.serve((socket) =>
      socket.write(`${ok('a')}HTTP/1.1 408 Request Timeout\r\n\r\n`),
    )
    expect((await exchange(transport)).body).toBe('a')
    expect((await exchange(transport)).body).toBe('a')
    expect(server.connections()).toBe(2)
  })

  it('does not wait as long as the server says it will', async () => {
    const { transport, server } = await bench.serve((socket) =>
      socket.write(ok('a', 'keep-alive: timeout=0\r\n')),
    )
    await exchange(transport)
    await exchange(transport)
    expect(server.connections()).toBe(2)
  })
})
