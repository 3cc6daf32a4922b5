import { PlimsollError } from '../../base/errors.ts'
import type {
  Exchange,
  ResponseSink,
  SendOptions,
  Transport,
  TransportErrorKind,
  TransportOptions,
  WireRequest,
} from './transport.ts'

/** One connection, whatever makes it: carries at most one exchange at a time. `Prepared` is a request ready for it. */
export interface PooledConnection<Prepared> {
  readonly gone: boolean
  /** Exchanges begun on it. */
  readonly served: number
  /** It had served before, and was closed before any byte of the next response. */
  readonly stale: boolean
  /** When, idle, it is no longer to be used. */
  readonly expiresAtMs: number
  /** Why it ended. */
  readonly failure: ConnectionFailure | null
  /** Calls back once connected, at once if it is; never if it fails. */
  whenConnected(callback: () => void): void
  start(request: Prepared, sink: ResponseSink, sentAtMs: number): void
  /** Whether the exchange of `sink` is the one that runs here. */
  carries(sink: ResponseSink): boolean
  /** Reads the rest of the running body for nobody, and gives up on it after `withinMs`. */
  drain(withinMs: number): void
  destroy(): void
}

export interface ConnectionFailure {
  readonly kind: TransportErrorKind
  readonly message: string
  readonly code: string | null
}

/** How a connection tells its pool what becomes of it. */
export interface ConnectionOwner<Connection> {
  /** The exchange is over and the connection can serve another. Called before the sink's `onEnd`. */
  onIdle(connection: Connection): void
  onGone(connection: Connection): void
}

/** What a kind of connection brings along. */
export interface ConnectionMaker<Prepared> {
  readonly origin: string
  /** Checks a request and makes it ready. @throws PlimsollError */
  prepare(request: WireRequest): Prepared
  connect(
    connectTimeoutMs: number | null,
    owner: ConnectionOwner<PooledConnection<Prepared>>,
  ): PooledConnection<Prepared>
}

/** How long the tail of a body that nobody wants is read for the sake of its connection, ms. */
const drainMs = 1_000
/** After so many reused connections in a row that turned out closed, the server's keep-alive is not believed any more. */
const staleBeforeDistrust = 3

interface Waiting<Prepared> {
  readonly request: Prepared
  readonly options: SendOptions
  readonly exchange: PooledExchange<Prepared>
}

/**
 * A transport over a pool of connections. Idle ones are reused last in, first out, so that as few as possible stay warm; those
 * that the server has closed, or whose time is over, are not. With a limit, requests beyond it wait in order.
 */
export class PooledTransport<Prepared> implements Transport {
  readonly origin: string
  readonly #maker: ConnectionMaker<Prepared>
  readonly #options: TransportOptions
  readonly #all = new Set<PooledConnection<Prepared>>()
  readonly #idle: PooledConnection<Prepared>[] = []
  readonly #waiting: Waiting<Prepared>[] = []
  readonly #owner: ConnectionOwner<PooledConnection<Prepared>> = {
    onIdle: (connection) => this.#onIdle(connection),
    onGone: (connection) => this.#onGone(connection),
  }
  #staleInARow = 0
  #closed = false

  constructor(maker: ConnectionMaker<Prepared>, options: TransportOptions) {
    this.origin = maker.origin
    this.#maker = maker
    this.#options = options
  }

  async open(count: number): Promise<void> {
    const limit = this.#options.maxConnections ?? null
    const room = limit === null ? count : Math.min(count, limit - this.#all.size)
    const opened: Promise<ConnectionFailure | null>[] = []
    for (let i = this.#idle.length; i < room; i++) opened.push(this.#openOne())
    const failures = await Promise.all(opened)
    const first = failures.find((failure) => failure !== null)
    if (first !== undefined && !failures.includes(null)) {
      throw new PlimsollError(
        first.kind === 'tls' ? 'PLIM_TLS' : 'PLIM_CONNECT',
        `nothing answers at ${this.origin}`,
        {
          received: `${first.kind}: ${first.message}`,
          hint:
            first.kind === 'tls'
              ? 'give the certificate authority, or use --insecure'
              : 'start the server, or correct the address',
        },
      )
    }
  }

  send(request: WireRequest, sink: ResponseSink, options: SendOptions = {}): Exchange {
    if (this.#closed) throw new PlimsollError('PLIM_INTERNAL', 'a closed transport was asked to send')
    const exchange = new PooledExchange<Prepared>(sink)
    const waiting = { request: this.#maker.prepare(request), options, exchange }
    const limit = this.#options.maxConnections ?? null
    const reused = options.freshSocket === true ? null : this.#takeIdle()
    if (reused !== null) this.#start(reused, waiting)
    else if (limit !== null && this.#all.size >= limit && !this.#makeRoom()) this.#waiting.push(waiting)
    else this.#startFresh(waiting)
    return exchange
  }

  close(): Promise<void> {
    this.#closed = true
    this.#waiting.length = 0
    for (const connection of this.#all) connection.destroy()
    return Promise.resolve()
  }

  #connect(timeoutMs: number | null): PooledConnection<Prepared> {
    const connection = this.#maker.connect(timeoutMs, this.#owner)
    this.#all.add(connection)
    return connection
  }

  #openOne(): Promise<ConnectionFailure | null> {
    return new Promise((resolve) => {
      const connection = this.#maker.connect(this.#options.connectTimeoutMs, {
        onIdle: (self) => this.#onIdle(self),
        onGone: (self) => {
          this.#onGone(self)
          resolve(self.failure)
        },
      })
      this.#all.add(connection)
      connection.whenConnected(() => {
        this.#onIdle(connection)
        resolve(null)
      })
    })
  }

  #start(connection: PooledConnection<Prepared>, { request, exchange }: Waiting<Prepared>): void {
    exchange.connection = connection
    connection.start(request, exchange.sink, this.#options.clock.nowMs())
  }

  #startFresh(waiting: Waiting<Prepared>): void {
    const asked = waiting.options.connectTimeoutMs
    this.#start(this.#connect(asked === undefined ? this.#options.connectTimeoutMs : asked), waiting)
  }

  #takeIdle(): PooledConnection<Prepared> | null {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) return null
      if (connection.gone) continue
      if (this.#options.clock.nowMs() < connection.expiresAtMs) return connection
      connection.destroy()
    }
  }

  /** At the limit with an idle connection that may not be used (a fresh one is wanted): it makes room. */
  #makeRoom(): boolean {
    const oldest = this.#idle.shift()
    oldest?.destroy()
    return oldest !== undefined
  }

  #onIdle(connection: PooledConnection<Prepared>): void {
    if (connection.served > 1) this.#staleInARow = 0
    const distrusted = connection.served > 0 && this.#staleInARow >= staleBeforeDistrust
    if (this.#closed || distrusted) return connection.destroy()
    const next = this.#nextWaiting()
    if (next === null) {
      this.#idle.push(connection)
    } else if (next.options.freshSocket === true) {
      this.#waiting.unshift(next)
      connection.destroy()
    } else {
      this.#start(connection, next)
    }
  }

  #onGone(connection: PooledConnection<Prepared>): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (connection.stale) this.#staleInARow++
    const next = this.#closed ? null : this.#nextWaiting()
    if (next !== null) this.#startFresh(next)
  }

  #nextWaiting(): Waiting<Prepared> | null {
    for (;;) {
      const next = this.#waiting.shift()
      if (next === undefined) return null
      if (!next.exchange.dropped) return next
    }
  }
}

class PooledExchange<Prepared> implements Exchange {
  connection: PooledConnection<Prepared> | null = null
  dropped = false
  readonly sink: ResponseSink

  constructor(sink: ResponseSink) {
    this.sink = sink
  }

  abort(): void {
    this.dropped = true
    if (this.connection?.carries(this.sink) === true) this.connection.destroy()
  }

  release(): void {
    this.dropped = true
    if (this.connection?.carries(this.sink) === true) this.connection.drain(drainMs)
  }
}
