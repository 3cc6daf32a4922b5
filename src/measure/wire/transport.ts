import type { Clock } from '../../base/clock.ts'

/** One POST. Header names are sent as given; the transport adds `host`, `content-length` and `connection`. */
export interface WireRequest {
  /** Path and query, beginning with a slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
  /** `POST` unless given. */
  readonly method?: string
}

/** Looks up a response header by its lower-case name; several of one name are joined with a comma. */
export type HeaderLookup = (name: string) => string | undefined

export interface FailureFacts {
  /** Whether any byte of the response had arrived. */
  readonly bytesReceived: boolean
  /** Whether the socket had served an earlier request. */
  readonly reusedSocket: boolean
  /** The system's or library's code (`ECONNRESET`), where there is one. */
  readonly code: string | null
}

/**
 * What a transport tells of one exchange, in this order: `onSent`, `onHeaders`, any number of `onData`, then `onEnd`; or at any
 * time once `onError`, after which nothing follows. All stamps are of the transport's clock; those of the response are read at
 * the socket, before anything is parsed.
 */
export interface ResponseSink {
  /** The request was handed to a socket (a connecting one too: connecting is the server's and the network's time). */
  onSent(atMs: number): void
  onHeaders(status: number, headers: HeaderLookup, atMs: number): void
  /** Body bytes `chunk[start, end)`, framing removed. The chunk is only valid during the call: its buffer is reused. */
  onData(chunk: Uint8Array, start: number, end: number, atMs: number): void
  onEnd(atMs: number): void
  onError(kind: TransportErrorKind, message: string, atMs: number, facts: FailureFacts): void
}

/**
 * Why a transport gave up. `connection_reset`: RST, or closed before any byte of the response. `truncated`: a clean close inside
 * the body's framing. `protocol`: not HTTP, or beyond a size limit. `client_sockets`: this machine ran out of them.
 */
export type TransportErrorKind =
  | 'connection_refused'
  | 'connection_reset'
  | 'timeout_connect'
  | 'truncated'
  | 'protocol'
  | 'dns'
  | 'unreachable'
  | 'tls'
  | 'client_sockets'

export interface Exchange {
  /** Drops the exchange and its socket. The sink hears nothing more. */
  abort(): void
  /** The sink wants no more; the socket is kept if the body ends soon. */
  release(): void
}

export interface SendOptions {
  /** Never on a socket that has served before. */
  readonly freshSocket?: boolean
  /** Instead of the transport's own. */
  readonly connectTimeoutMs?: number | null
}

/** Sends requests to one origin over connections that it owns. */
export interface Transport {
  /** `http://host:port`, to compare redirects with. */
  readonly origin: string
  /** Opens up to `count` idle connections ahead of need. Connections that fail are left out; the first failure is thrown only if all do. */
  open(count: number): Promise<void>
  send(request: WireRequest, sink: ResponseSink, options?: SendOptions): Exchange
  /** Destroys every connection; running exchanges hear nothing more. */
  close(): Promise<void>
}

/** The two timer functions of the platform, so that tests may bring their own. */
export interface Timers {
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(timer: unknown): void
}

export interface TransportOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Connections at once; more requests wait, and their wait shows in `onSent`. Null: no limit. */
  readonly maxConnections?: number | null
  /** Null: no limit but the system's. */
  readonly connectTimeoutMs: number | null
}
