import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher, ProxyAgent } from 'undici'
import { maxHeadBytes } from './http1-head.ts'
import type { ConnectionFailure, ConnectionOwner, PooledConnection } from './pooled-transport.ts'
import { failureKind } from './socket-failure.ts'
import type { ResponseSink, TransportErrorKind, TransportOptions } from './transport.ts'

export interface UndiciTarget {
  readonly target: URL
  readonly connector: buildConnector.connector
  readonly proxy: string | null
  readonly tls: buildConnector.BuildOptions
  readonly http2: boolean
}

/** undici keeps an idle connection this long unless the server says less: as long as a run may pause. */
const keepAliveMs = 600_000

/** One undici dispatcher that holds at most one socket and one exchange at a time. */
export class UndiciConnection implements PooledConnection<Dispatcher.DispatchOptions> {
  gone = false
  stale = false
  failure: ConnectionFailure | null = null
  /** Exchanges begun on the present socket; undici replaces one that was closed while idle. */
  served = 0
  readonly expiresAtMs: number = Number.POSITIVE_INFINITY
  readonly #owner: ConnectionOwner<UndiciConnection>
  readonly #options: TransportOptions
  readonly #dispatcher: Dispatcher
  readonly #target: UndiciTarget
  #socket: Socket | null = null
  /** A socket that was opened ahead and waits to be asked for. */
  #opened: Socket | null = null
  #connected = false
  #connectTimer: unknown = null
  #drainTimer: unknown = null
  readonly #connectTimeoutMs: number | null
  #exchange: UndiciExchange | null = null

  constructor(
    target: UndiciTarget,
    connectTimeoutMs: number | null,
    owner: ConnectionOwner<UndiciConnection>,
    options: TransportOptions,
  ) {
    this.#target = target
    this.#owner = owner
    this.#options = options
    this.#connectTimeoutMs = connectTimeoutMs
    const common = {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maxHeadBytes,
      allowH2: target.http2,
    }
    if (target.proxy === null) {
      this.#dispatcher = new Client(target.target.origin, {
        ...common,
        connect: (opts, callback) => this.#giveSocket(opts, callback),
      })
    } else {
      this.#dispatcher = new ProxyAgent({
        ...common,
        uri: target.proxy,
        connections: 1,
        // Many proxies refuse CONNECT to other ports than 443: plain HTTP goes through them as it is.
        proxyTunnel: target.target.protocol === 'https:',
        requestTls: target.tls,
        proxyTls: target.tls,
      })
    }
    this.#dispatcher.on('connect', () => this.#onConnect())
    this.#dispatcher.on('disconnect', () => {
      this.#connected = false
      this.served = 0
    })
  }

  /** Connects ahead of need: the socket waits for the dispatcher to ask for it. Through a proxy that is left to the first exchange. */
  whenConnected(callback: () => void): void {
    if (this.#target.proxy !== null || this.#connected) return callback()
    const { hostname, host, protocol, port } = this.#target.target
    this.#armConnectTimer()
    const options = { hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port }
    this.#target.connector(options, (error, socket) => {
      this.#clearTimers()
      if (error !== null) return this.#lost(failureKind(error, false))
      if (this.gone) return void socket.destroy()
      this.#opened = socket
      socket.on('error', () => {})
      callback()
    })
  }

  start(request: Dispatcher.DispatchOptions, sink: ResponseSink, sentAtMs: number): void {
    const exchange = new UndiciExchange(this, sink, this.#options, this.#socket?.bytesRead ?? 0)
    this.#exchange = exchange
    this.served++
    if (!this.#connected) this.#armConnectTimer()
    this.#dispatcher.dispatch(request, exchange)
    sink.onSent(sentAtMs)
  }

  carries(sink: ResponseSink): boolean {
    return this.#exchange?.sink === sink
  }

  drain(withinMs: number): void {
    const exchange = this.#exchange
    if (exchange === null) return
    exchange.sink = null
    this.#drainTimer = this.#options.timers.setTimeout(() => this.destroy(), withinMs)
  }

  destroy(): void {
    if (this.#exchange !== null) this.#exchange.sink = null
    this.#close()
  }

  /** Whether bytes of the response came, as far as can be told: through a proxy only its head tells. */
  bytesSince(bytesRead: number): boolean {
    return this.#socket !== null && this.#socket.bytesRead > bytesRead
  }

  onExchangeEnd(): void {
    this.#clearTimers()
    this.#exchange = null
    if (!this.gone) this.#owner.onIdle(this)
  }

  onExchangeError(error: Error, exchange: UndiciExchange): void {
    const sink = exchange.sink
    const bytesReceived = exchange.started || this.bytesSince(exchange.bytesBefore)
    const reusedSocket = this.served > 1
    const failure = bodyFailure(failureKind(error, this.#connected), exchange.started)
    this.stale = reusedSocket && !bytesReceived
    this.#exchange = null
    this.failure = failure
    const atMs = this.#options.clock.nowMs()
    this.#close()
    sink?.onError(failure.kind, failure.message, atMs, { bytesReceived, reusedSocket, code: failure.code })
  }

  /** undici wants a socket: the one that was opened ahead, if it still stands, else a new one. */
  #giveSocket(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const opened = this.#opened
    this.#opened = null
    if (opened !== null && !opened.destroyed && opened.readable) {
      this.#socket = opened
      // Not at once: undici would not look at its queue again from inside its own call.
      return queueMicrotask(() => callback(null, opened))
    }
    this.#target.connector(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      this.#socket = socket
      callback(null, socket)
    })
  }

  #onConnect(): void {
    this.#connected = true
    this.#clearTimers()
    this.served = this.#exchange === null ? 0 : 1
  }

  #armConnectTimer(): void {
    const limitMs = this.#connectTimeoutMs
    if (limitMs === null || this.#connectTimer !== null) return
    this.#connectTimer = this.#options.timers.setTimeout(() => {
      this.#lost({ kind: 'timeout_connect', message: `no connection within ${limitMs} ms`, code: null })
    }, limitMs)
  }

  #lost(failure: ConnectionFailure): void {
    if (this.gone) return
    const sink = this.#exchange?.sink ?? null
    this.#exchange = null
    this.failure = failure
    const atMs = this.#options.clock.nowMs()
    this.#close()
    sink?.onError(failure.kind, failure.message, atMs, {
      bytesReceived: false,
      reusedSocket: false,
      code: failure.code,
    })
  }

  #close(): void {
    if (this.gone) return
    this.gone = true
    this.#clearTimers()
    if (this.#exchange !== null) this.#exchange.sink = null
    this.#exchange = null
    this.#dispatcher.destroy().catch(() => {})
    this.#opened?.destroy()
    this.#socket?.destroy()
    this.#owner.onGone(this)
  }

  #clearTimers(): void {
    if (this.#connectTimer !== null) this.#options.timers.clearTimeout(this.#connectTimer)
    if (this.#drainTimer !== null) this.#options.timers.clearTimeout(this.#drainTimer)
    this.#connectTimer = null
    this.#drainTimer = null
  }
}

/** undici's handler of one exchange. Its sink is taken away when nobody listens any more. */
class UndiciExchange implements Dispatcher.DispatchHandler {
  sink: ResponseSink | null
  started = false
  /** Bytes that the socket had read before this exchange. */
  readonly bytesBefore: number
  readonly #connection: UndiciConnection
  readonly #options: TransportOptions

  constructor(
    connection: UndiciConnection,
    sink: ResponseSink,
    options: TransportOptions,
    bytesBefore: number,
  ) {
    this.#connection = connection
    this.sink = sink
    this.#options = options
    this.bytesBefore = bytesBefore
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.started = true
    if (status < 200) return
    this.sink?.onHeaders(
      status,
      (name) => {
        const value = headers[name]
        return Array.isArray(value) ? value.join(', ') : value
      },
      this.#options.clock.nowMs(),
    )
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.sink?.onData(chunk, 0, chunk.length, this.#options.clock.nowMs())
  }

  onResponseEnd(): void {
    const atMs = this.#options.clock.nowMs()
    const sink = this.sink
    this.sink = null
    this.#connection.onExchangeEnd()
    sink?.onEnd(atMs)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#connection.onExchangeError(error, this)
  }
}

/** undici has one code for every socket that the other side closed: inside a body a clean close is a truncation. */
function bodyFailure(failure: ConnectionFailure, started: boolean): ConnectionFailure {
  const kind: TransportErrorKind =
    started && failure.code === 'UND_ERR_SOCKET' && /closed/.test(failure.message)
      ? 'truncated'
      : failure.kind
  return { ...failure, kind }
}
