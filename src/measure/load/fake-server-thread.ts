import { type AddressInfo, createServer, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { monotonicClock } from '../../base/clock.ts'

/**
 * A loopback server that streams chat events on time and writes into each the moment of its write (ms on the clock whose zero
 * was given), so that a reader's delay is its stamp − that. A request may say `events`, `gap_ms` and `first_ms`; otherwise it
 * gets `max_tokens` events, 10 ms apart, the first after 10 ms. `status` other than 200 is answered with an error, `hang` with
 * a head and nothing more.
 */
interface Stream {
  readonly socket: Socket
  readonly events: number
  readonly gapMs: number
  sent: number
  nextMs: number
}

const clock = monotonicClock(
  performance,
  process.hrtime.bigint,
  (workerData as { originNs: bigint }).originNs,
)
const streams = new Set<Stream>()
const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n'
let ticking = false

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const headEnd = pending.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = /\r\ncontent-length: *(\d+)/i.exec(pending.toString('latin1', 0, headEnd + 2))
      const end = headEnd + 4 + Number(length?.[1] ?? 0)
      if (pending.length < end) return
      answer(socket, pending.toString('utf8', headEnd + 4, end))
      pending = pending.subarray(end)
    }
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    for (const stream of streams) if (stream.socket === socket) streams.delete(stream)
  })
})

function answer(socket: Socket, body: string): void {
  const asked = JSON.parse(body || '{}') as Record<string, unknown>
  const number = (name: string, otherwise: number): number => {
    const value = asked[name]
    return typeof value === 'number' ? value : otherwise
  }
  const status = number('status', 200)
  if (status !== 200) {
    const text = JSON.stringify({ error: { message: 'as asked', type: 'fake', code: status } })
    socket.write(
      `HTTP/1.1 ${status} As Asked\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    )
    return
  }
  socket.write(head)
  if (asked['hang'] === true) return
  const gapMs = number('gap_ms', 10)
  const events = number('events', number('max_tokens', 16))
  streams.add({ socket, events, gapMs, sent: 0, nextMs: clock.nowMs() + number('first_ms', 10) })
  if (!ticking) {
    ticking = true
    setImmediate(tick)
  }
}

/** One event to each stream that is due; a stream that fell behind gets its events one a tick, as an engine's steps would. */
function tick(): void {
  let soonest = Number.POSITIVE_INFINITY
  const tickMs = clock.nowMs()
  for (const stream of streams) {
    if (stream.nextMs <= tickMs) {
      if (stream.sent < stream.events) {
        stream.socket.write(event(` ${clock.nowMs().toFixed(3)}`), 'latin1')
        stream.sent++
        stream.nextMs += stream.gapMs
      }
      if (stream.sent >= stream.events) {
        streams.delete(stream)
        stream.socket.write(tail(stream.events), 'latin1')
        continue
      }
    }
    if (stream.nextMs < soonest) soonest = stream.nextMs
  }
  ticking = streams.size > 0
  if (!ticking) return
  const waitMs = soonest - clock.nowMs()
  // A millisecond late is as good: what counts is the moment that is written into the event.
  if (waitMs <= 0) setImmediate(tick)
  else setTimeout(tick, waitMs)
}

function event(content: string): string {
  return chunked(
    `data: {"id":"fake","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`,
  )
}

function tail(tokens: number): string {
  return `${chunked(
    'data: {"id":"fake","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n' +
      `data: {"id":"fake","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":${tokens},"total_tokens":${tokens + 1}}}\n\n` +
      'data: [DONE]\n\n',
  )}0\r\n\r\n`
}

function chunked(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
