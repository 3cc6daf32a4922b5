import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  Bench,
  deaf,
  exchange,
  implementations,
  ok,
  post,
  refusingUrl,
  until,
} from '../../../test/replay/transport-probe.ts'

describe.each(implementations)('failures through a transport: %s', (_name, create) => {
  const bench = new Bench(create)
  afterEach(() => bench.close())

  it('tells a reset inside a body from a clean close', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'
    const { transport } = await bench.serve((socket, { connection }) => {
      socket.write(head)
      setTimeout(() => (connection === 0 ? socket.resetAndDestroy() : socket.end()), 20)
    })
    expect(await exchange(transport)).toMatchObject({
      body: 'abc',
      end: 'connection_reset',
      facts: { bytesReceived: true },
    })
    expect(await exchange(transport)).toMatchObject({
      body: 'abc',
      end: 'truncated',
      facts: { bytesReceived: true },
    })
  })

  it('calls a close between chunks a truncation', async () => {
    const { transport } = await bench.serve((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    )
    expect(await exchange(transport)).toMatchObject({ body: 'a', end: 'truncated' })
  })

  it.each([
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
    ['a close', (socket: Socket) => socket.end()],
  ])('knows %s before any byte, on a fresh and on a reused connection', async (_, close) => {
    const { transport } = await bench.serve((socket, { index, connection }) => {
      if (connection === 0 || index > 0) close(socket)
      else socket.write(ok('a', 'keep-alive: timeout=5, max=100\r\n'))
    })
    expect(await exchange(transport)).toMatchObject({
      end: 'connection_reset',
      facts: { bytesReceived: false, reusedSocket: false },
    })
    expect((await exchange(transport)).end).toBe('end')
    expect(await exchange(transport)).toMatchObject({
      end: 'connection_reset',
      facts: { bytesReceived: false, reusedSocket: true },
    })
  })

  it('does not use a connection that the server closed while it was idle', async () => {
    const { transport, server } = await bench.serve((socket) => {
      socket.write(ok('a'))
      setTimeout(() => socket.end(), 10)
    })
    await exchange(transport)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await exchange(transport)).end).toBe('end')
    expect(server.connections()).toBe(2)
  })

  it('does not wait for the end of a greeting that is not HTTP', async () => {
    const { transport } = await bench.serve((socket) => socket.write('SSH-2.0-OpenSSH_9\r\n'))
    expect(await exchange(transport)).toMatchObject({ end: 'protocol' })
  })

  it('names a refused connection', async () => {
    const transport = await bench.connect(await refusingUrl())
    expect(await exchange(transport)).toMatchObject({
      end: 'connection_refused',
      facts: { bytesReceived: false, reusedSocket: false, code: 'ECONNREFUSED' },
    })
  })

  it('names a host that is not there', async () => {
    const transport = await bench.connect('http://no-such-host.invalid:1')
    expect((await exchange(transport)).end).toBe('dns')
  })

  it('tries both address families', async () => {
    const { server } = await bench.serve((socket) => socket.write(ok('a')))
    const transport = await bench.connect(`http://localhost:${server.port}`)
    expect((await exchange(transport)).body).toBe('a')
  })

  it('gives up connecting after its time', async () => {
    // 192.0.2.0/24 is for documentation: packets go nowhere, or the network says at once that it cannot be reached.
    const transport = await bench.connect('http://192.0.2.1:9', { connectTimeoutMs: 80 })
    expect((await exchange(transport)).end).toMatch(
      /^(timeout_connect|unreachable|connection_refused|connection_reset)$/,
    )
  })

  it.each([
    ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['a chunk size that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\n${'x-y: zzzzzzzzzzzzzzzzzzzz\r\n'.repeat(8_000)}`],
  ])('refuses %s', async (_, wire) => {
    const { transport } = await bench.serve((socket) => void socket.write(wire))
    expect((await exchange(transport)).end).toBe('protocol')
  })

  it('says nothing more after an abort, and frees its place', async () => {
    const { transport, server } = await bench.serve(
      (socket, { connection }) =>
        connection === 0 ? socket.write('HTTP/1.1 200 OK\r\n\r\nabc') : socket.write(ok('b')),
      { maxConnections: 1 },
    )
    let calls = 0
    const count = (): void => void calls++
    const running = transport.send(post, deaf({ onEnd: count, onError: count }))
    await until(() => server.connections() === 1)
    const next = exchange(transport)
    running.abort()
    expect((await next).body).toBe('b')
    expect(calls).toBe(0)
  })

  it('keeps a released connection if its body ends soon', async () => {
    let endBody = (): Promise<void> => Promise.reject(new Error('no request came'))
    const { transport, server } = await bench.serve((socket, { index }) => {
      socket.write(index > 0 ? ok('a') : 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na')
      endBody = () => new Promise((written) => void socket.write('b', () => written()))
    })
    let released = false
    const running = transport.send(post, deaf({ onData: () => void (released = true) }))
    await until(() => released)
    running.release()
    await endBody()
    // It lies in the socket now: the next turns of the loop read it.
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
    await exchange(transport)
    expect(server.connections()).toBe(1)
  })

  it('refuses headers and paths that would break the request', async () => {
    const { transport } = await bench.serve(() => {})
    const sink = deaf()
    expect(() => transport.send({ ...post, headers: { 'content-type': 'b\r\nc: d' } }, sink)).toThrow(
      /header/,
    )
    expect(() => transport.send({ ...post, path: '/a b' }, sink)).toThrow(/path/)
  })
})
