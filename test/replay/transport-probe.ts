import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { monotonicClock } from '../../src/base/clock.ts'
import { createHttp1Transport } from '../../src/measure/wire/http1-transport.ts'
import type {
  FailureFacts,
  ResponseSink,
  SendOptions,
  Transport,
  TransportOptions,
  WireRequest,
} from '../../src/measure/wire/transport.ts'
import { createUndiciTransport } from '../../src/measure/wire/undici-transport.ts'
import { type RawRequest, type RawServer, startRawServer } from './raw-server.mjs'

const clock = monotonicClock(performance, process.hrtime.bigint)
const timers = { setTimeout, clearTimeout } as TransportOptions['timers']
export const post: WireRequest & { readonly body: string } = {
  path: '/v1/x',
  headers: { 'content-type': 'application/json' },
  body: '{"a":"é"}',
}
export const ok = (body: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`

export interface Heard {
  status: number | null
  headers: (name: string) => string | undefined
  body: string
  /** `end`, or the kind of error. */
  end: string
  message: string
  facts: FailureFacts | null
  stamps: number[]
  order: string[]
}

/** Sends and gathers what the sink hears until the end. */
export function exchange(
  transport: Transport,
  options?: SendOptions,
  request: WireRequest = post,
): Promise<Heard> {
  const heard: Heard = {
    status: null,
    headers: () => undefined,
    body: '',
    end: '',
    message: '',
    facts: null,
    stamps: [],
    order: [],
  }
  const bytes: Buffer[] = []
  return new Promise((resolve) => {
    const hear = (what: string, atMs: number): void => {
      if (heard.order.at(-1) !== what) heard.order.push(what)
      heard.stamps.push(atMs)
    }
    const finish = (): void => {
      heard.body = Buffer.concat(bytes).toString('utf8')
      resolve(heard)
    }
    const sink: ResponseSink = {
      onSent: (atMs) => hear('sent', atMs),
      onHeaders: (status, headers, atMs) => {
        hear('headers', atMs)
        heard.status = status
        heard.headers = headers
      },
      onData: (chunk, start, end, atMs) => {
        hear('data', atMs)
        bytes.push(Buffer.from(chunk.subarray(start, end)))
      },
      onEnd: (atMs) => {
        hear('end', atMs)
        heard.end = 'end'
        finish()
      },
      onError: (kind, message, atMs, facts) => {
        hear('error', atMs)
        heard.end = kind
        heard.message = message
        heard.facts = facts
        finish()
      },
    }
    transport.send(request, sink, options)
  })
}

export const implementations: [
  string,
  (url: string, options?: Partial<TransportOptions>) => Promise<Transport>,
][] = [
  [
    'lean HTTP/1.1',
    (url, options) =>
      Promise.resolve(
        createHttp1Transport(new URL(url), { clock, timers, connectTimeoutMs: null, ...options }),
      ),
  ],
  [
    'undici',
    (url, options) =>
      createUndiciTransport(new URL(url), { clock, timers, connectTimeoutMs: null, ...options }),
  ],
]

/** A sink that does not listen, but for what is given. */
export const deaf = (listens: Partial<ResponseSink> = {}): ResponseSink => ({
  onSent() {},
  onHeaders() {},
  onData() {},
  onEnd() {},
  onError() {},
  ...listens,
})

/** Servers and transports of one test, closed after it. */
export class Bench {
  readonly #open: (Transport | RawServer)[] = []

  constructor(create: (typeof implementations)[number][1]) {
    this.create = create
  }

  readonly create: (typeof implementations)[number][1]

  async serve(
    answer: (socket: Socket, request: RawRequest) => void,
    options?: Partial<TransportOptions>,
  ): Promise<{ server: RawServer; transport: Transport }> {
    const server = await startRawServer(answer)
    return { server, transport: await this.connect(server.url, options, server) }
  }

  async connect(url: string, options?: Partial<TransportOptions>, ...also: RawServer[]): Promise<Transport> {
    const transport = await this.create(url, options)
    this.#open.push(transport, ...also)
    return transport
  }

  async close(): Promise<void> {
    for (const one of this.#open.splice(0)) await one.close()
  }
}

/** Sends in pieces of one to three bytes, each in its own turn of the loop. */
export function trickle(socket: Socket, wire: string): void {
  let at = 0
  const step = (): void => {
    if (socket.destroyed || at >= wire.length) return
    const size = 1 + (at % 3)
    socket.write(wire.slice(at, at + size))
    at += size
    setImmediate(step)
  }
  step()
}

/** An address on which nothing listens. */
export async function refusingUrl(): Promise<string> {
  const server = await startRawServer(() => {})
  await server.close()
  return server.url
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2))
}
