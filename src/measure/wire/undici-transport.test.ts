import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { afterEach, describe, expect, it } from 'vitest'
import { exchange } from '../../../test/replay/transport-probe.ts'
import { monotonicClock } from '../../base/clock.ts'
import { type ChosenTransportOptions, createTransport } from './choose-transport.ts'
import type { Transport } from './transport.ts'

const pem = (name: string): string =>
  readFileSync(new URL(`../../../test/replay/localhost-${name}.pem`, import.meta.url), 'utf8')
const identity = { key: pem('key'), cert: pem('cert') }
const base: ChosenTransportOptions = {
  clock: monotonicClock(performance, process.hrtime.bigint),
  timers: { setTimeout, clearTimeout } as ChosenTransportOptions['timers'],
  connectTimeoutMs: 5_000,
}

const open: (Transport | (() => void))[] = []
afterEach(async () => {
  for (const one of open.splice(0)) {
    if (typeof one === 'function') one()
    else await one.close()
  }
})

async function listen(server: NetServer): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function transportTo(url: string, options: Partial<ChosenTransportOptions>): Promise<Transport> {
  const transport = await createTransport(new URL(url), { ...base, ...options })
  open.unshift(transport)
  return transport
}

describe('the transport for TLS, proxies and HTTP/2', () => {
  const hello = (): ReturnType<typeof createTlsServer> =>
    createTlsServer(identity, (request, response) => {
      request.resume()
      request.on('end', () => response.end(`tls ${request.httpVersion}`))
    })

  it('refuses a certificate that it does not know, by name', async () => {
    const transport = await transportTo(`https://localhost:${await listen(hello())}`, {})
    expect((await exchange(transport)).end).toBe('tls')
    await expect(transport.open(1)).rejects.toMatchObject({ code: 'PLIM_TLS' })
  })

  it('takes it with its authority, or when told not to look', async () => {
    const url = `https://localhost:${await listen(hello())}`
    expect((await exchange(await transportTo(url, { ca: identity.cert }))).body).toBe('tls 1.1')
    expect((await exchange(await transportTo(url, { insecure: true }))).body).toBe('tls 1.1')
  })

  it('opens TLS connections ahead and uses them', async () => {
    const server = hello()
    let connections = 0
    server.on('secureConnection', () => connections++)
    const transport = await transportTo(`https://localhost:${await listen(server)}`, { ca: identity.cert })
    await transport.open(2)
    const two = await Promise.all([exchange(transport), exchange(transport)])
    expect(two.map((heard) => heard.body)).toEqual(['tls 1.1', 'tls 1.1'])
    expect(connections).toBe(2)
  })

  it('says tls when TLS is spoken to a plain port', async () => {
    const port = await listen(createHttpServer((_, response) => response.end()))
    expect((await exchange(await transportTo(`https://localhost:${port}`, { insecure: true }))).end).toMatch(
      /tls|connection_reset/,
    )
  })

  it('speaks HTTP/2 where it is offered and wanted', async () => {
    const server = createSecureServer({ ...identity, allowHTTP1: true }, (request, response) => {
      request.resume()
      request.on('end', () => response.end(`h${request.httpVersion}`))
    })
    const url = `https://localhost:${await listen(server)}`
    const transport = await transportTo(url, { insecure: true, http2: true })
    for (let again = 0; again < 2; again++) {
      expect(await exchange(transport)).toMatchObject({ end: 'end', status: 200, body: 'h2.0' })
    }
    expect((await exchange(await transportTo(url, { insecure: true }))).body).toBe('h1.1')
  })

  it('goes through a proxy: CONNECT for TLS, and for plain HTTP too', async () => {
    const seen: string[] = []
    const proxy: Server = createHttpServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      request.resume()
      request.on('end', () => response.end('by the proxy'))
    })
    proxy.on('connect', (request, client: Socket) => {
      seen.push(`CONNECT ${request.url}`)
      const upstream = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      upstream.on('error', () => client.destroy())
      client.on('error', () => upstream.destroy())
    })
    const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`
    const port = await listen(hello())
    const secure = await transportTo(`https://localhost:${port}`, { insecure: true, proxy: proxyUrl })
    expect((await exchange(secure)).body).toBe('tls 1.1')
    expect((await exchange(secure)).body).toBe('tls 1.1')
    expect(seen).toEqual([`CONNECT localhost:${port}`])
    const plainPort = await listen(createHttpServer((_, response) => response.end('plain')))
    const plain = await transportTo(`http://localhost:${plainPort}`, { proxy: proxyUrl })
    expect((await exchange(plain)).body).toBe('by the proxy')
    expect(seen[1]).toBe(`POST http://localhost:${plainPort}/v1/x`)
  })
})
