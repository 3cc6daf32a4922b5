import type { Clock } from '../base/clock.ts'
import { createTransport } from '../measure/wire/choose-transport.ts'
import type { FailureFacts, Transport, TransportErrorKind } from '../measure/wire/transport.ts'
import type { UndiciOptions } from '../measure/wire/undici-transport.ts'

/** One question to a server outside of any measurement. */
export interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The whole answer, or why there is none. Times on the clock, ms. */
export type Answer =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly header: (name: string) => string | undefined
      readonly body: string
      readonly sentMs: number
      readonly firstByteMs: number | null
      readonly endMs: number
    }
  | {
      readonly kind: 'failed'
      readonly error: TransportErrorKind | 'timeout'
      readonly message: string
      readonly facts: FailureFacts | null
    }

/** Asks one origin, with the headers that every question carries. */
export interface Asker {
  ask(question: Question): Promise<Answer>
  close(): Promise<void>
}

export interface AskerOptions {
  readonly clock: Clock
  readonly headers: Readonly<Record<string, string>>
  readonly tls: UndiciOptions
  readonly timeoutMs: number
}

/** Bodies beyond this are cut: no server's models or metrics are as long. */
const mostBytes = 32 * 1024 * 1024

/** Each question goes on a fresh connection, so that no kept-alive one can be found closed. */
export async function openAsker(origin: URL, options: AskerOptions): Promise<Asker> {
  const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) }
  const transport = await createTransport(origin, {
    ...options.tls,
    clock: options.clock,
    timers,
    connectTimeoutMs: options.timeoutMs,
  })
  return {
    ask: (question) => askOnce(transport, question, options),
    close: () => transport.close(),
  }
}

function askOnce(transport: Transport, question: Question, options: AskerOptions): Promise<Answer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    let status = 0
    let header: (name: string) => string | undefined = () => undefined
    let sentMs = options.clock.nowMs()
    let firstByteMs: number | null = null
    const timer = setTimeout(() => {
      exchange.abort()
      const message = `no answer within ${options.timeoutMs / 1000} s`
      resolve({ kind: 'failed', error: 'timeout', message, facts: null })
    }, options.timeoutMs)
    const exchange = transport.send(
      {
        method: question.method,
        path: question.path,
        headers: { ...options.headers, ...question.headers },
        body: question.body ?? '',
      },
      {
        onSent(atMs) {
          sentMs = atMs
        },
        onHeaders(code, lookup) {
          status = code
          header = lookup
        },
        onData(chunk, start, end, atMs) {
          firstByteMs ??= atMs
          bytes += end - start
          if (bytes <= mostBytes) pieces.push(Buffer.from(chunk.subarray(start, end)))
        },
        onEnd(atMs) {
          clearTimeout(timer)
          const body = Buffer.concat(pieces).toString('utf8')
          resolve({ kind: 'answer', status, header, body, sentMs, firstByteMs, endMs: atMs })
        },
        onError(error, message, _atMs, facts) {
          clearTimeout(timer)
          resolve({ kind: 'failed', error, message, facts })
        },
      },
      { freshSocket: true },
    )
  })
}
