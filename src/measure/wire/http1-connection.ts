import { connect, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from 'node:net'
import { ChunkedBody } from './chunked-body.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { HeadError, maxHeadBytes, parseHead, type ResponseHead } from './http1-head.ts'
import type { ConnectionFailure, ConnectionOwner, PooledConnection } from './pooled-transport.ts'
import { failureKind } from './socket-failure.ts'
import type { ResponseSink, TransportErrorKind, TransportOptions } from './transport.ts'

/** A request ready for the wire. */
export interface Http1Request {
  readonly head: string
  readonly body: Buffer | string
}

const inHead = 0
const inBody = 1

const nobody: ResponseSink = {
  onSent() {},
  onHeaders() {},
  onData() {},
  onEnd() {},
  onError() {},
}

/** One HTTP/1.1 connection: a socket that reads into a shared buffer, and at most one exchange at a time. */
export class Http1Connection implements PooledConnection<Http1Request> {
  /** It had served before, and was closed before any byte of the next response. */
  stale = false
  /** Requests handed to this socket so far. */
  served = 0
  connected = false
  gone = false
  failure: ConnectionFailure | null = null
  /** When an idle connection is no longer trusted, by the server's own `Keep-Alive: timeout`. */
  expiresAtMs: number = Number.POSITIVE_INFINITY
  readonly #owner: ConnectionOwner<Http1Connection>
  readonly #options: TransportOptions
  readonly #socket: Socket
  #connectTimer: unknown = null
  #drainTimer: unknown = null
  #onConnected: (() => void) | null = null
  #sink: ResponseSink | null = null
  #busy = false
  #probing = false
  #bytesReceived = false
  #state = inHead
  readonly #head = new GrowingBytes(1024)
  /** Bytes in the line of the head that is being read. */
  #lineBytes = 0
  #response: ResponseHead | null = null
  /** Body bytes still to come where the length is known; infinite where the close ends it. */
  #remaining = 0
  #chunked: ChunkedBody | null = null
  #atMs = 0
  readonly #forward = (bytes: Uint8Array, start: number, end: number): void => {
    this.#sink?.onData(bytes, start, end, this.#atMs)
  }

  constructor(
    address: TcpNetConnectOpts | IpcNetConnectOpts,
    buffer: Uint8Array,
    connectTimeoutMs: number | null,
    owner: ConnectionOwner<Http1Connection>,
    options: TransportOptions,
  ) {
    this.#owner = owner
    this.#options = options
    this.#socket = connect({
      ...address,
      noDelay: true,
      // Only so that `#ended` may still write.
      allowHalfOpen: true,
      autoSelectFamily: true,
      onread: {
        buffer,
        callback: (bytes: number, into: Uint8Array): boolean => {
          this.#atMs = this.#options.clock.nowMs()
          this.#onBytes(into, bytes)
          return true
        },
      },
    })
    this.#socket.on('connect', () => this.#connectedNow())
    this.#socket.on('error', (error) => this.#failed(error))
    this.#socket.on('end', () => this.#ended())
    this.#socket.on('close', () => this.#ended())
    if (connectTimeoutMs !== null) {
      this.#connectTimer = options.timers.setTimeout(() => {
        this.#lost('timeout_connect', `no connection within ${connectTimeoutMs} ms`, null)
      }, connectTimeoutMs)
    }
  }

  /** Calls back once connected (at once if so already); never if the connection fails. */
  whenConnected(callback: () => void): void {
    if (this.connected) callback()
    else this.#onConnected = callback
  }

  /** Sends one request. The connection must be idle. */
  start(request: Http1Request, sink: ResponseSink, sentAtMs: number): void {
    this.#sink = sink
    this.#busy = true
    this.#bytesReceived = false
    this.#state = inHead
    this.#response = null
    this.served++
    if (typeof request.body === 'string') {
      this.#socket.write(request.head + request.body, 'utf8')
    } else {
      this.#socket.cork()
      this.#socket.write(request.head, 'latin1')
      this.#socket.write(request.body)
      this.#socket.uncork()
    }
    sink.onSent(sentAtMs)
  }

  /** Whether the exchange of `sink` is the one that runs here. */
  carries(sink: ResponseSink): boolean {
    return this.#sink === sink
  }

  /** Reads the rest of the running body for nobody, and gives up on it after `withinMs`. */
  drain(withinMs: number): void {
    this.#sink = nobody
    this.#drainTimer = this.#options.timers.setTimeout(() => this.destroy(), withinMs)
  }

  destroy(): void {
    this.#sink = null
    this.#close()
  }

  #connectedNow(): void {
    this.connected = true
    this.#clearTimers()
    this.#onConnected?.()
    this.#onConnected = null
  }

  #onBytes(bytes: Uint8Array, count: number): void {
    if (this.gone) return
    if (!this.#busy) {
      // Bytes that nobody asked for: the connection cannot be trusted.
      this.#close()
      return
    }
    this.#bytesReceived = true
    let i = 0
    while (i < count && this.#state === inHead) {
      const stop = this.#headEnd(bytes, i, count)
      if (stop === -1) return
      i = stop
      if (!this.#onHead()) return
    }
    if (this.#state === inBody) this.#onBody(bytes, i, count)
  }

  /** Collects head bytes; returns where the head ends in `bytes`, or -1 when it is not complete or was refused. */
  #headEnd(bytes: Uint8Array, start: number, end: number): number {
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (byte === 10) {
        if (this.#lineBytes === 0 && this.#head.length + i > start) {
          this.#head.append(bytes, start, i + 1)
          return i + 1
        }
        this.#lineBytes = 0
      } else if (byte !== 13) {
        this.#lineBytes++
      }
    }
    this.#head.append(bytes, start, end)
    // A server of another protocol (SSH, SMTP) greets and waits: the end of such a head never comes.
    const begins = this.#head.bytes.toString('latin1', 0, Math.min(this.#head.length, 40))
    if (!'HTTP/1.'.startsWith(begins.slice(0, 7))) {
      this.#lost('protocol', `the answer is not HTTP/1.1: ${JSON.stringify(begins)}`, null)
      return -1
    }
    if (this.#head.length > maxHeadBytes) {
      this.#lost('protocol', `the response head is longer than ${maxHeadBytes} bytes`, null)
    }
    return -1
  }

  /** A whole head has come. False: it was the end of the exchange. */
  #onHead(): boolean {
    const text = this.#head.bytes.toString('latin1', 0, this.#head.length)
    this.#head.clear()
    this.#lineBytes = 0
    let response: ResponseHead
    try {
      response = parseHead(text)
    } catch (error) {
      this.#lost('protocol', error instanceof HeadError ? error.message : String(error), null)
      return false
    }
    if (response.status === 101) {
      this.#lost('protocol', 'the server switched protocols (101) unasked', null)
      return false
    }
    if (response.status < 200) return true
    this.#response = response
    this.#state = inBody
    const framing = response.framing
    this.#chunked = framing.kind === 'chunked' ? new ChunkedBody() : null
    this.#remaining =
      framing.kind === 'length' ? framing.bytes : framing.kind === 'none' ? 0 : Number.POSITIVE_INFINITY
    this.#sink?.onHeaders(response.status, (name) => response.headers.get(name), this.#atMs)
    return !this.gone
  }

  #onBody(bytes: Uint8Array, start: number, end: number): void {
    let i = start
    const chunked = this.#chunked
    if (chunked !== null) {
      i = chunked.push(bytes, i, end, this.#forward)
      if (this.gone) return
      if (chunked.problem !== null) return this.#lost('protocol', chunked.problem, null)
      if (chunked.done) this.#complete(i === end)
      return
    }
    const stop = Math.min(end, i + this.#remaining)
    this.#remaining -= stop - i
    if (stop > i) this.#forward(bytes, i, stop)
    if (this.#remaining === 0 && !this.gone) this.#complete(stop === end)
  }

  /** The body is whole. `clean`: nothing came after it, so the connection may go on. */
  #complete(clean: boolean): void {
    const sink = this.#sink
    const response = this.#response
    this.#clearTimers()
    this.#sink = null
    this.#busy = false
    this.#state = inHead
    this.#chunked = null
    if (clean && response !== null && response.keepAlive && this.#socket.writable) {
      // A second less than the server will wait: its close must not cross our next request.
      if (response.idleMs !== null)
        this.expiresAtMs = this.#atMs + Math.max(response.idleMs / 2, response.idleMs - 1000)
      this.#owner.onIdle(this)
    } else {
      this.#close()
    }
    sink?.onEnd(this.#atMs)
  }

  /**
   * The other side is done. Inside a response it may also have been reset: when data and RST are both waiting, the event loop's
   * library reports the data and then an end as if it were clean. A write tells: it fails on a connection that was reset.
   */
  #ended(): void {
    if (this.gone || this.#probing) return
    if (!this.#busy || !this.#bytesReceived) {
      return this.#lost('connection_reset', 'the connection was closed before a response', null)
    }
    this.#probing = true
    const atMs = this.#options.clock.nowMs()
    this.#socket.write('\r\n', (error) => {
      if (this.gone || error) return
      this.#atMs = atMs
      if (this.#state === inBody && this.#response?.framing.kind === 'close') this.#complete(false)
      else this.#lost('truncated', 'the connection was closed inside the response', null, atMs)
    })
  }

  #failed(error: Error): void {
    const { kind, message, code } = failureKind(error, this.connected)
    this.#lost(kind, message, code)
  }

  #lost(
    kind: TransportErrorKind,
    message: string,
    code: string | null,
    atMs: number = this.#options.clock.nowMs(),
  ): void {
    if (this.gone) return
    this.failure = { kind, message, code }
    this.stale = this.#busy && this.served > 1 && !this.#bytesReceived
    const sink = this.#sink
    this.#sink = null
    this.#close()
    const facts = { bytesReceived: this.#bytesReceived, reusedSocket: this.served > 1, code }
    sink?.onError(kind, message, atMs, facts)
  }

  #close(): void {
    if (this.gone) return
    this.gone = true
    this.#busy = false
    this.#clearTimers()
    this.#socket.destroy()
    this.#owner.onGone(this)
  }

  #clearTimers(): void {
    if (this.#connectTimer !== null) this.#options.timers.clearTimeout(this.#connectTimer)
    if (this.#drainTimer !== null) this.#options.timers.clearTimeout(this.#drainTimer)
    this.#connectTimer = null
    this.#drainTimer = null
  }
}
