import { connect, type IncomingHttpHeaders } from 'node:http2'
import { Client, credentials } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveScaler, type ServeConfig } from '../src/flows/scale-serve.ts'
import { scalerService } from '../src/operate/scale/external-scaler.ts'
import { readFields, stringField, writeBytes } from '../src/operate/scale/protobuf.ts'
import { liveDeps, pageServer, vllmPage } from './fixtures/pages.ts'

async function serving(over: Partial<ServeConfig>): Promise<{ address: string; notices: string[] }> {
  const stop = new AbortController()
  const notices: string[] = []
  const config: ServeConfig = {
    urls: [],
    prometheusUrl: null,
    keyEnv: 'NONE',
    host: '127.0.0.1',
    port: 0,
    tls: null,
    target: 20,
    reserve: 0,
    intervalMs: 50,
    holdMs: 400,
    ...over,
  }
  let ended: Promise<void> = Promise.resolve()
  const listening = new Promise<string>((resolve, reject) => {
    ended = serveScaler(config, { ...liveDeps(stop.signal, notices), onListening: resolve })
    ended.catch(reject)
  })
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => {})
  })
  return { address: await listening, notices }
}

interface Answer {
  readonly status: string
  readonly message: string
  readonly body: Buffer
}

/** A call by hand over HTTP/2: what any client's comes down to. */
function call(address: string, method: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://${address}`)
    session.once('error', reject)
    const stream = session.request({
      ':method': 'POST',
      ':path': scalerService + method,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const pieces: Buffer[] = []
    let status = ''
    let message = ''
    const read = (headers: IncomingHttpHeaders): void => {
      status = [headers['grpc-status'] ?? status].flat().join()
      message = [headers['grpc-message'] ?? message].flat().join()
    }
    stream.on('response', read)
    stream.on('trailers', read)
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.once('end', () => {
      session.close()
      resolve({ status, message, body: Buffer.concat(pieces).subarray(5) })
    })
    const head = Buffer.alloc(5)
    head.writeUInt32BE(body.length, 1)
    stream.end(Buffer.concat([head, body]))
  })
}

const ask = Buffer.concat([writeBytes(1, Buffer.alloc(0)), writeBytes(2, 'mine')])

/** The double of the one MetricSpec or MetricValue; 0 where it was left out. */
function amount(body: Buffer): number {
  const [field] = readFields(body)
  const inner = readFields(field?.value as Buffer)
  return Number(inner.find(({ number }) => number === 3)?.value ?? 0)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it never became so')
}

describe('scale serve', () => {
  it('tells the load, holds on silence, and refuses to say what it has not known for long', async () => {
    const [a, b] = [
      await pageServer(vllmPage({ running: 20, waiting: 5 })),
      await pageServer(vllmPage({ running: 4, waiting: 1 })),
    ]
    const { address, notices } = await serving({ urls: [a.url, b.url], reserve: 20, holdMs: 1000 })
    const value = await call(address, 'GetMetrics', ask)
    expect([value.status, amount(value.body)]).toEqual(['0', 50])
    expect(stringField(readFields(readFields(value.body)[0]?.value as Buffer), 1)).toBe('mine')
    expect((await call(address, 'IsActive', Buffer.alloc(0))).body.toString('hex')).toBe('0801')

    // One replica is not scraped, and the other grows idle: nothing is given back.
    b.text = null
    a.text = vllmPage({ running: 0, waiting: 0 })
    await until(() => Promise.resolve(notices.some((text) => text.startsWith('held'))))
    expect(amount((await call(address, 'GetMetrics', ask)).body)).toBe(50)
    await until(async () => (await call(address, 'GetMetrics', ask)).status === '14')
    const refused = await call(address, 'GetMetrics', ask)
    expect(refused.message).toContain('unknown, not idle')
    expect((await call(address, 'IsActive', Buffer.alloc(0))).body.toString('hex')).toBe('0801')

    b.text = vllmPage({ running: 0, waiting: 0 })
    await until(async () => (await call(address, 'GetMetrics', ask)).status === '0')
    expect(amount((await call(address, 'GetMetrics', ask)).body)).toBe(20)
    expect((await call(address, 'IsActive', Buffer.alloc(0))).body).toHaveLength(0)
    expect(notices.at(-1)).toBe('known again: 0 requests in flight')
  })

  it('NaN is not a load', async () => {
    const page = await pageServer(vllmPage({ running: 'NaN', waiting: 0 }))
    const { address } = await serving({ urls: [page.url] })
    expect((await call(address, 'GetMetrics', ask)).status).toBe('14')
  })

  it("takes a trigger's target, and refuses one that is none", async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0 }))
    const { address } = await serving({ urls: [page.url] })
    const ref = (target: string): Buffer =>
      writeBytes(3, Buffer.concat([writeBytes(1, 'target'), writeBytes(2, target)]))
    expect(amount((await call(address, 'GetMetricSpec', Buffer.alloc(0))).body)).toBe(20)
    expect(amount((await call(address, 'GetMetricSpec', ref('12.5'))).body)).toBe(12.5)
    expect(await call(address, 'GetMetricSpec', ref('zero'))).toMatchObject({ status: '3' })
    expect((await call(address, 'GetMetricSpec', Buffer.from([0x0a, 0x05]))).status).toBe('3')
    expect((await call(address, 'Nothing', Buffer.alloc(0))).status).toBe('12')
  })

  it('reads a fleet through a Prometheus server', async () => {
    const labelled = ['a:8000', 'b:8000'].map((instance) =>
      [
        `vllm:num_requests_running{instance="${instance}",job="x"} 3`,
        `vllm:num_requests_waiting{instance="${instance}",job="x"} 1`,
      ].join('\n'),
    )
    const page = await pageServer(`${labelled.join('\n')}\n`)
    const { address } = await serving({ prometheusUrl: page.url })
    expect(amount((await call(address, 'GetMetrics', ask)).body)).toBe(8)
    expect(page.asked[0]).toMatch(/^\/federate\?match\[\]=/)
  })

  it('a port that is taken is said', async () => {
    const page = await pageServer(vllmPage({ running: 1, waiting: 0 }))
    const { address } = await serving({ urls: [page.url] })
    await expect(serving({ urls: [page.url], port: Number(address.split(':')[1]) })).rejects.toThrow(
      'cannot listen',
    )
  })

  it('speaks with @grpc/grpc-js: unary calls, errors and both streams', async () => {
    const page = await pageServer(vllmPage({ running: 3, waiting: 2 }))
    const { address } = await serving({ urls: [page.url] })
    const client = new Client(address, credentials.createInsecure())
    const same = (bytes: Buffer): Buffer => bytes
    const unary = (method: string, body: Buffer): Promise<Buffer | string> =>
      new Promise((resolve) =>
        client.makeUnaryRequest(scalerService + method, same, same, body, (error, answer) =>
          resolve(error === null ? (answer ?? Buffer.alloc(0)) : `${error.code} ${error.details}`),
        ),
      )
    expect(amount((await unary('GetMetrics', ask)) as Buffer)).toBe(5)
    const active: string[] = []
    const specs: number[] = []
    const stream = client.makeServerStreamRequest(
      `${scalerService}StreamIsActive`,
      same,
      same,
      Buffer.alloc(0),
    )
    stream.on('data', (message: Buffer) => void active.push(message.toString('hex')))
    stream.on('error', () => {})
    const spec = client.makeServerStreamRequest(
      `${scalerService}StreamMetricSpec`,
      same,
      same,
      Buffer.alloc(0),
    )
    spec.on('data', (message: Buffer) => void specs.push(amount(message)))
    spec.on('error', () => {})
    await until(() => Promise.resolve(active.length === 1 && specs.length === 1))
    page.text = vllmPage({ running: 0, waiting: 0 })
    await until(() => Promise.resolve(active.length === 2))
    page.text = null
    await until(async () => typeof (await unary('GetMetrics', ask)) === 'string')
    expect(await unary('GetMetrics', ask)).toContain('14 ')
    expect(await unary('GetMetrics', ask)).toContain('does not tell: unknown, not idle')
    expect([active, specs]).toEqual([['0801', '', '0801'], [20]])
    stream.cancel()
    spec.cancel()
    client.close()
  })
})
