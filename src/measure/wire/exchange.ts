import type { Clock } from '../../base/clock.ts'
import { formatBytes } from '../../base/format.ts'
import type { RowFlag } from '../record/request-row.ts'
import { readerOf } from './answer-reader.ts'
import type { ApiKind } from './api.ts'
import { codingOf, ContentDecoder, type DecodedSink } from './content-decoder.ts'
import type { ErrorKind } from './error-kinds.ts'
import { type ExchangeEnd, type ExchangeFailure, observedFields } from './observed-fields.ts'
import type { ResponseFields } from './response-fields.ts'
import { ResponseObserver } from './response-observer.ts'
import { retryAfterMs } from './retry-after.ts'
import type {
  Exchange,
  FailureFacts,
  HeaderLookup,
  ResponseSink,
  Timers,
  Transport,
  TransportErrorKind,
  WireRequest,
} from './transport.ts'

/** Time limits of one exchange, ms from the actual send; null: none. */
export interface Limits {
  readonly connectTimeoutMs: number | null
  /** No output event by then; comments and pings do not count. */
  readonly firstTokenTimeoutMs: number | null
  /** Between output events. */
  readonly idleTimeoutMs: number | null
  readonly totalTimeoutMs: number | null
}

export interface ExchangeDeps {
  readonly transport: Transport
  readonly clock: Clock
  readonly timers: Timers
  /** The wall clock, for `Retry-After` dates of servers that send no `Date`. */
  readonly wallNowMs?: () => number
}

export interface ExchangeRequest {
  readonly api: ApiKind
  readonly wire: WireRequest
  /** Intended send, on the run's clock. */
  readonly plannedMs: number
  readonly streamAsked: boolean
  readonly keepText: boolean
  /** Name of the response header that says which replica answered. */
  readonly replicaHeader?: string
  /** Largest event or unstreamed body; 16 MiB unless given. */
  readonly maxEventBytes?: number
  /** Send once more on a fresh socket when a reused one turns out closed before any byte of the answer. On unless false. */
  readonly retryStale?: boolean
}

export interface RunningExchange {
  /** Ends it now; `onFinish` is called before this returns, unless it was before. */
  abort(why: 'censored' | 'cancelled'): void
}

const defaultMaxEventBytes = 16 * 1024 * 1024
/** After a finish reason or an error, how long usage, the end marker or the close may still take, ms. */
const tailMs = 5_000

/**
 * Sends one request and watches its answer to the end: exactly one call of `onFinish`, whatever becomes of it. A 307 or 308 within
 * the origin is followed once with the POST repeated; other redirects are failures. Costs at most one running timer.
 */
export function startExchange(
  deps: ExchangeDeps,
  request: ExchangeRequest,
  limits: Limits,
  onFinish: (fields: ResponseFields) => void,
): RunningExchange {
  const run = new ExchangeRun(deps, request, limits, onFinish)
  run.start()
  return run
}

class ExchangeRun implements ResponseSink, DecodedSink, RunningExchange {
  readonly #deps: ExchangeDeps
  readonly #request: ExchangeRequest
  readonly #limits: Limits
  readonly #onFinish: (fields: ResponseFields) => void
  readonly #observer: ResponseObserver
  readonly #flags: RowFlag[] = []
  #exchange: Exchange | null = null
  #decoder: ContentDecoder | null = null
  #timer: unknown = null
  /** 0 before the first output, 1 after it, 2 when only the tail is to come: each has its own time limit. */
  #phase = 0
  #path: string
  #sentMs: number | null = null
  #status: number | null = null
  #retryAfterMs: number | null = null
  #replica: string | null = null
  #note: string | null = null
  #finishing = false
  #finished = false

  constructor(
    deps: ExchangeDeps,
    request: ExchangeRequest,
    limits: Limits,
    onFinish: (fields: ResponseFields) => void,
  ) {
    this.#deps = deps
    this.#request = request
    this.#limits = limits
    this.#onFinish = onFinish
    this.#path = request.wire.path
    this.#observer = new ResponseObserver({
      keepText: request.keepText,
      maxEventBytes: request.maxEventBytes ?? defaultMaxEventBytes,
      reader: readerOf(request.api),
    })
  }

  start(): void {
    this.#send(false)
  }

  abort(why: 'censored' | 'cancelled'): void {
    if (this.#finished) return
    this.#exchange?.abort()
    this.#finish(null, this.#deps.clock.nowMs(), why)
  }

  #send(freshSocket: boolean): void {
    const wire = this.#request.wire
    this.#exchange = this.#deps.transport.send(
      this.#path === wire.path ? wire : { ...wire, path: this.#path },
      this,
      { freshSocket, connectTimeoutMs: this.#limits.connectTimeoutMs },
    )
  }

  onSent(atMs: number): void {
    // The lag is that of the first send: what a retry or a redirect takes is the server's time.
    if (this.#sentMs !== null) return
    this.#sentMs = atMs
    this.#armTimer(atMs)
  }

  onHeaders(status: number, headers: HeaderLookup, atMs: number): void {
    if (this.#finished) return
    this.#status = status
    const replicaHeader = this.#request.replicaHeader
    if (replicaHeader !== undefined) this.#replica = headers(replicaHeader.toLowerCase()) ?? null
    if (status > 299 && status < 400) {
      const location = headers('location')
      if ((status === 307 || status === 308) && this.#follow(location)) return
      this.#note = `redirected to ${location ?? 'nowhere'}, which is not followed`
    }
    if (status < 200 || status > 299) {
      this.#observer.expectRefusal(atMs)
      this.#enterPhase(atMs)
      this.#retryAfterMs = retryAfterMs(headers, this.#deps.wallNowMs ?? null)
    }
    const encoding = headers('content-encoding')
    const coding = codingOf(encoding)
    if (coding === 'unknown') {
      this.#exchange?.abort()
      this.#finish(failure('protocol', `content-encoding ${encoding} is not understood`), atMs, null)
    } else if (coding !== 'none') {
      this.#decoder = new ContentDecoder(coding, this)
    }
  }

  onData(chunk: Uint8Array, start: number, end: number, atMs: number): void {
    if (this.#decoder === null) this.onDecoded(chunk, start, end, atMs)
    else this.#decoder.push(chunk, start, end, atMs)
  }

  onDecoded(chunk: Uint8Array, start: number, end: number, atMs: number): void {
    if (this.#finished) return
    const observer = this.#observer
    if (!observer.onBody(chunk, start, end, atMs)) {
      this.#exchange?.abort()
      const most = formatBytes(this.#request.maxEventBytes ?? defaultMaxEventBytes)
      this.#finish(failure('protocol', `an event is larger than ${most}`), atMs, null)
    } else if (observer.endMarkerAtMs !== null) {
      this.#finishSoon(observer.endMarkerAtMs)
    } else {
      this.#enterPhase(atMs)
    }
  }

  onDecodeError(message: string, atMs: number): void {
    this.#exchange?.abort()
    this.#finish(failure('protocol', message), atMs, null)
  }

  onEnd(atMs: number): void {
    if (this.#decoder === null) this.#finish(null, atMs, null)
    else this.#decoder.drained(() => this.#finish(null, atMs, null))
  }

  onError(kind: TransportErrorKind, message: string, atMs: number, facts: FailureFacts): void {
    if (this.#finished) return
    const stale =
      facts.reusedSocket && !facts.bytesReceived && (kind === 'connection_reset' || kind === 'truncated')
    if (stale && this.#request.retryStale !== false && !this.#flags.includes('stale_connection_retried')) {
      this.#flags.push('stale_connection_retried')
      return this.#send(true)
    }
    const end: ExchangeFailure = { kind: stale ? 'stale_connection' : kind, message, code: facts.code }
    if (this.#decoder === null) this.#finish(end, atMs, null)
    else this.#decoder.drained(() => this.#finish(end, atMs, null))
  }

  /** Repeats the POST where a redirect within the origin leads, once. */
  #follow(location: string | undefined): boolean {
    if (location === undefined || this.#flags.includes('redirected')) return false
    const origin = this.#deps.transport.origin
    let target: URL
    try {
      target = new URL(location, `${origin}${this.#path}`)
    } catch {
      return false
    }
    if (target.origin !== origin) return false
    this.#flags.push('redirected')
    this.#path = target.pathname + target.search
    this.#exchange?.release()
    this.#status = null
    this.#send(false)
    return true
  }

  /**
   * Finishes at the end marker. If the body's own end is in the same read, it comes first, so that the connection is free again
   * when `onFinish` sends the next request; a server that leaves the connection open is not waited for.
   */
  #finishSoon(atMs: number): void {
    if (this.#finishing) return
    this.#finishing = true
    queueMicrotask(() => {
      if (this.#finished) return
      this.#exchange?.release()
      this.#finish(null, atMs, null)
    })
  }

  /** A new phase has another time limit, which may be nearer than the timer that runs. */
  #enterPhase(atMs: number): void {
    const phase = this.#observer.settling ? 2 : this.#observer.stamps.length > 0 ? 1 : 0
    if (phase === this.#phase) return
    this.#phase = phase
    this.#armTimer(atMs)
  }

  #armTimer(nowMs: number): void {
    if (this.#timer !== null) this.#deps.timers.clearTimeout(this.#timer)
    const due = this.#dueMs()
    this.#timer =
      due === null
        ? null
        : this.#deps.timers.setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(due.atMs - nowMs)))
  }

  #onTimer(): void {
    this.#timer = null
    if (this.#finished) return
    const nowMs = this.#deps.clock.nowMs()
    const due = this.#dueMs()
    if (due === null || nowMs < due.atMs - 0.5) return this.#armTimer(nowMs)
    this.#exchange?.abort()
    if (due.kind === null) this.#finish(null, this.#observer.lastByteAtMs, null)
    else this.#finish(failure(due.kind, due.message), nowMs, null)
  }

  /** The next time limit; moved on by what has been seen, so that the timer need not be set anew for each event. */
  #dueMs(): { readonly atMs: number; readonly kind: ErrorKind | null; readonly message: string } | null {
    const sent = this.#sentMs ?? 0
    const { firstTokenTimeoutMs, idleTimeoutMs, totalTimeoutMs } = this.#limits
    const last = this.#observer.stamps.at(-1)
    let due: { atMs: number; kind: ErrorKind | null; message: string } | null = null
    if (this.#observer.settling) {
      due = { atMs: this.#observer.lastByteAtMs + tailMs, kind: null, message: '' }
    } else if (last === undefined && firstTokenTimeoutMs !== null) {
      const message = `no output within ${firstTokenTimeoutMs} ms`
      due = { atMs: sent + firstTokenTimeoutMs, kind: 'timeout_first_token', message }
    } else if (last !== undefined && idleTimeoutMs !== null) {
      due = { atMs: last + idleTimeoutMs, kind: 'timeout_idle', message: `no output for ${idleTimeoutMs} ms` }
    }
    if (totalTimeoutMs !== null && (due === null || sent + totalTimeoutMs < due.atMs)) {
      due = {
        atMs: sent + totalTimeoutMs,
        kind: 'timeout_total',
        message: `not done within ${totalTimeoutMs} ms`,
      }
    }
    return due
  }

  #finish(end: ExchangeFailure | null, atMs: number, aborted: ExchangeEnd['aborted']): void {
    if (this.#finished) return
    this.#finished = true
    if (this.#timer !== null) this.#deps.timers.clearTimeout(this.#timer)
    this.#decoder?.close()
    this.#observer.close(aborted === null && (end === null || end.kind === 'truncated'), atMs)
    this.#onFinish(
      observedFields(this.#observer, {
        plannedMs: this.#request.plannedMs,
        sentMs: this.#sentMs,
        endedAtMs: atMs,
        httpStatus: this.#status,
        failure: end,
        note: this.#note,
        aborted,
        streamAsked: this.#request.streamAsked,
        keepText: this.#request.keepText,
        retryAfterMs: this.#retryAfterMs,
        replica: this.#replica,
        flags: this.#flags,
      }),
    )
  }
}

function failure(kind: ErrorKind, message: string): ExchangeFailure {
  return { kind, message, code: null }
}
