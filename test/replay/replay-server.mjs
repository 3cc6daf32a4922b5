// A server that answers each request by a script: the bytes of a case's body, in the network chunks, at the times and with the
// end that its sidecar says. It speaks HTTP over a bare socket, so that it can do what a well-behaved server would not.
import { createServer } from 'node:net'

/**
 * Starts on a free port of the loopback. `scripts` maps a path prefix (`/name`) to a script; whatever lies below the prefix
 * plays it. `latenessMs` tells how late a script was played for a request of `sentMs`: its times count from there, but the server
 * counts them from when it has heard of it, which may be later, or not yet.
 */
export async function startReplayServer(now) {
  const scripts = new Map()
  /** When a script began, and how late its writes were, by name. */
  const played = new Map()
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    let received = Buffer.alloc(0)
    let done = false
    const timers = []
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      for (const timer of timers) clearTimeout(timer)
    })
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const name = done ? null : requestName(received)
      if (name === null) return
      done = true
      const script = scripts.get(name)
      if (script === undefined) socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
      else {
        const startedMs = now()
        const { firstMs, lateMs } = played.get(name) ?? { firstMs: startedMs, lateMs: 0 }
        played.set(name, { firstMs, lateMs })
        play(script, socket, { timers, now, startedMs }, (ms) => {
          played.set(name, { firstMs, lateMs: Math.max(played.get(name).lateMs, ms) })
        })
      }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    add: (name, script) => {
      scripts.set(name, script)
    },
    latenessMs: (name, sentMs) => {
      const { firstMs, lateMs } = played.get(name) ?? { firstMs: now(), lateMs: 0 }
      return Math.max(lateMs, firstMs - sentMs)
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(resolve)
      }),
  }
}

/** The first segment of the path, once the whole request has come. */
function requestName(received) {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = received.toString('latin1', 0, end)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  if (received.length < end + 4 + length) return null
  return /^\S+ \/([^/? ]+)/.exec(head)?.[1] ?? null
}

function play({ http, headersAtMs, chunks, body, end }, socket, { timers, now, startedMs }, onLate) {
  const deeds = []
  const at = (atMs, write) => deeds.push({ atMs, write })
  // A body goes out as it is where the case frames it itself, else in chunks of HTTP, one for each of the network's.
  const codedAlready = http.raw === true || /^[0-9a-f]+(;[^\r\n]*)?\r\n/i.test(body.toString('latin1', 0, 64))
  const headers = Object.entries(http.headers ?? {}).filter(
    ([name]) => codedAlready || !/^transfer-encoding$/i.test(name),
  )
  const framed = codedAlready || headers.some(([name]) => /^content-length$/i.test(name))
  const reason = http.status === 200 ? 'OK' : 'Status'
  let head = `HTTP/1.1 ${http.status} ${reason}\r\n`
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`
  if (!framed) head += 'transfer-encoding: chunked\r\n'
  // Without a time the head never comes.
  if (headersAtMs !== null) at(headersAtMs, () => socket.write(`${head}\r\n`, 'latin1'))
  for (const chunk of chunks) {
    const bytes = body.subarray(chunk.offset, chunk.offset + chunk.bytes)
    if (bytes.length === 0) continue
    const wire = framed
      ? bytes
      : Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    at(chunk.at_ms, () => socket.write(wire))
  }
  if (end.kind === 'eof') at(end.at_ms, () => socket.end(framed || headersAtMs === null ? '' : '0\r\n\r\n'))
  if (end.kind === 'reset') at(end.at_ms, () => socket.resetAndDestroy())
  // One after the other: a timer for each would be cut to whole ms on its own, and the end of 30 ms could come before the bytes of 30 ms.
  deeds.sort((a, b) => a.atMs - b.atMs)
  const playOn = () => {
    while (deeds.length > 0 && !socket.destroyed) {
      const { atMs, write } = deeds[0]
      const lateMs = now() - startedMs - atMs
      if (lateMs <= -1) {
        timers.push(setTimeout(playOn, -lateMs))
        return
      }
      deeds.shift()
      onLate(lateMs)
      write()
      // What comes at another time is another read, although the loop was held up for as long as lies between the two.
      if (deeds.length > 0 && deeds[0].atMs > atMs) {
        setImmediate(playOn)
        return
      }
    }
  }
  playOn()
}
