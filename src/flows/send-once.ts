import type { Clock } from '../base/clock.ts'
import { PlimsollError } from '../base/errors.ts'
import type { ProbeAnswer, ProbeFailure, ProbeRequest, SendOnce } from '../measure/load/probe.ts'
import type { ApiKind } from '../measure/wire/api.ts'
import { type AwsSigner, awsSignature } from '../measure/wire/aws-signature.ts'
import { createTransport } from '../measure/wire/choose-transport.ts'
import { startExchange } from '../measure/wire/exchange.ts'
import type { ResponseFields } from '../measure/wire/response-fields.ts'
import { timeLimits } from '../measure/wire/time-limits.ts'
import type { HeaderLookup, ResponseSink, Timers, Transport } from '../measure/wire/transport.ts'
import type { UndiciOptions } from '../measure/wire/undici-transport.ts'

/** Asks one origin outside of any measurement. */
export interface Asker {
  readonly sendOnce: SendOnce
  /** The same until `signal`: then what is under way is dropped, and PLIM_INTERRUPTED is thrown. */
  readonly askUntil: (signal: AbortSignal) => SendOnce
  close(): Promise<void>
}

export interface AskerOptions {
  readonly clock: Clock
  readonly api: ApiKind
  readonly headers: Readonly<Record<string, string>>
  readonly tls: UndiciOptions
  /** Requests are signed as they are sent. */
  readonly signer?: AwsSigner | null
  readonly wallClock?: () => number
  readonly timeoutMs: number
}

/** Bodies beyond this are cut: no server's list of models or metrics is as long. */
const mostBytes = 32 * 1024 * 1024
/**
 * An answer to a probe, which asks for a few tokens, is heard no further: its server obeys no limit, and may never end. Far more than
 * a server makes that puts each character into an event.
 */
const mostEvents = 128

const systemLimits: Timers = timeLimits({
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setImmediate,
})

export async function openAsker(origin: URL, options: AskerOptions): Promise<Asker> {
  const transport = await createTransport(origin, {
    ...options.tls,
    clock: options.clock,
    timers: systemLimits,
    connectTimeoutMs: Math.min(options.timeoutMs, 10_000),
  })
  return {
    sendOnce: (request) => sendOnce(transport, request, options, null),
    askUntil: (signal) => (request) => sendOnce(transport, request, options, signal),
    close: () => transport.close(),
  }
}

/** The exchange of the load generator with a copy of what came over the wire: probes are read as requests are. */
function sendOnce(
  transport: Transport,
  request: ProbeRequest,
  options: AskerOptions,
  stop: AbortSignal | null,
): Promise<ProbeAnswer | ProbeFailure> {
  const copy = new AnswerCopy()
  const copying: Transport = {
    ...transport,
    origin: transport.origin,
    open: (count) => transport.open(count),
    close: () => transport.close(),
    send: (wire, sink) => transport.send(wire, copy.beside(sink), { freshSocket: true }),
  }
  return new Promise((resolve, reject) => {
    if (stop?.aborted === true) {
      reject(interrupted())
      return
    }
    const exchange = startExchange(
      { transport: copying, clock: options.clock, timers: systemLimits },
      {
        api: options.api,
        wire: {
          method: request.method,
          path: request.path,
          headers: headersOf(transport, request, options),
          body: request.body ?? '',
        },
        plannedMs: options.clock.nowMs(),
        streamAsked: request.stream,
        keepText: true,
      },
      {
        connectTimeoutMs: Math.min(options.timeoutMs, 10_000),
        firstTokenTimeoutMs: null,
        idleTimeoutMs: null,
        totalTimeoutMs: options.timeoutMs,
      },
      (fields) => {
        stop?.removeEventListener('abort', drop)
        resolve(copy.answer(fields, request.stream || request.answer === true, options.timeoutMs))
      },
    )
    copy.onTooLong = () => exchange.abort('cancelled')
    function drop(): void {
      reject(interrupted())
      exchange.abort('cancelled')
    }
    stop?.addEventListener('abort', drop, { once: true })
  })
}

function headersOf(
  transport: Transport,
  { method, path, body }: ProbeRequest,
  { headers, signer, wallClock }: AskerOptions,
): Readonly<Record<string, string>> {
  if (signer === undefined || signer === null || wallClock === undefined) return headers
  const { host } = new URL(transport.origin)
  return {
    ...headers,
    ...awsSignature(signer, { method, host, path, headers, body: body ?? '' }, wallClock()),
  }
}

function interrupted(): PlimsollError {
  return new PlimsollError('PLIM_INTERRUPTED', 'ended before anything was measured')
}

const dataField = Buffer.from('data:')

/** Lines of data in `chunk[start, end)`; one whose name a piece cuts is not counted, and one in a text is. */
function dataLines(chunk: Uint8Array, start: number, end: number): number {
  const piece = Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start)
  let lines = 0
  for (let at = piece.indexOf(dataField); at !== -1; at = piece.indexOf(dataField, at + 5)) {
    const before = piece[at - 1]
    if (before === undefined || before === 10 || before === 13) lines++
  }
  return lines
}

class AnswerCopy {
  onTooLong: () => void = () => undefined
  #status: number | null = null
  #header: HeaderLookup = () => undefined
  #pieces: Buffer[] = []
  #bytes = 0
  #events = 0
  #failure: ProbeFailure['failure'] | null = null

  beside(sink: ResponseSink): ResponseSink {
    return {
      onSent: (atMs) => sink.onSent(atMs),
      onHeaders: (status, header, atMs) => {
        this.#status = status
        this.#header = header
        // What a redirect said that was followed is no part of the answer.
        this.#pieces = []
        this.#bytes = 0
        this.#events = 0
        sink.onHeaders(status, header, atMs)
      },
      onData: (chunk, start, end, atMs) => {
        this.#bytes += end - start
        if (this.#bytes <= mostBytes) this.#pieces.push(Buffer.from(chunk.subarray(start, end)))
        this.#events += dataLines(chunk, start, end)
        sink.onData(chunk, start, end, atMs)
        if (this.#events > mostEvents) this.onTooLong()
      },
      onEnd: (atMs) => sink.onEnd(atMs),
      onError: (kind, message, atMs, facts) => {
        const begun = this.#status === 200 && this.#bytes > 0
        const heard = begun ? { heard: { events: this.#events, bytes: this.#bytes } } : {}
        this.#failure = { kind, message, ...heard }
        sink.onError(kind, message, atMs, facts)
      },
    }
  }

  answer(fields: ResponseFields, isAnswer: boolean, timeoutMs: number): ProbeAnswer | ProbeFailure {
    // What comes after the end of an answer takes nothing from it.
    const whole = isAnswer && fields.error_kind === null
    if (this.#failure !== null && !whole) return { failure: this.#failure }
    if (this.#status === null) {
      const kind = fields.error_kind ?? 'timeout_total'
      const message = fields.error_message ?? `no answer within ${timeoutMs / 1000} s`
      return { failure: { kind, message, ...(kind === 'timeout_total' ? { withinMs: timeoutMs } : {}) } }
    }
    return {
      status: this.#status,
      header: this.#header,
      bodyText: Buffer.concat(this.#pieces).toString('utf8'),
      fields: isAnswer ? fields : null,
    }
  }
}
