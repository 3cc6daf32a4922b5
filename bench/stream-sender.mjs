// A server process that streams chat events as fast as asked and remembers when it wrote each: the truth for bench/wire-cpu.mjs.
// argv is {events, gapMs, keepTruth}; it answers {port}, and the message `truth` with the times of its writes, ms, per request id.
import { createServer } from 'node:net'
import process from 'node:process'

const { events, gapMs, keepTruth } = JSON.parse(process.argv[2])
const prefix =
  '{"id":"chatcmpl-bench-0123456789","object":"chat.completion.chunk","created":1700000000,"model":"demo-8b",'
const chunk = (json) => {
  const data = `data: ${json}\n\n`
  return Buffer.from(`${data.length.toString(16)}\r\n${data}\r\n`)
}
const token = chunk(
  `${prefix}"choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`,
)
const ending = Buffer.concat([
  chunk(`${prefix}"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]}`),
  chunk(
    `${prefix}"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":${events},"total_tokens":${events + 9}}}`,
  ),
  chunk('[DONE]'),
  Buffer.from('0\r\n\r\n'),
])
const head = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
)

const streams = new Set()
const truth = new Map()
let accepted = 0
const nowNs = () => process.hrtime.bigint()
const origin = nowNs()
const nowMs = () => Number(nowNs() - origin) / 1e6

createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
    if (!text.includes('\r\n\r\n')) return
    const id = /x-request-id: (\S+)/.exec(text)?.[1] ?? ''
    const count = text.includes(' /warm ') ? 50 : events
    text = ''
    const writes = keepTruth ? new Float64Array(count) : null
    if (writes !== null) truth.set(id, writes)
    socket.write(head)
    // Streams begin spread over a gap, as those of independent requests are.
    streams.add({ socket, sent: 0, dueMs: nowMs() + gapMs + (accepted++ % 64) * (gapMs / 64), count, writes })
  })
}).listen(0, '127.0.0.1', function () {
  process.send({ port: this.address().port })
})

setInterval(() => {
  const now = nowMs()
  for (const stream of streams) {
    while (stream.dueMs <= now) {
      if (stream.sent === stream.count) {
        stream.socket.write(ending)
        streams.delete(stream)
        break
      }
      if (stream.writes !== null) stream.writes[stream.sent] = nowMs()
      stream.socket.write(token)
      stream.sent++
      stream.dueMs += gapMs
    }
  }
}, 1)

process.on('message', (message) => {
  if (message !== 'truth') return
  process.send({
    originNs: String(origin),
    writes: Object.fromEntries([...truth].map(([id, writes]) => [id, [...writes]])),
  })
})
