// A server over bare sockets, for what no HTTP library would send: each request is handed over with its socket.
import { createServer } from 'node:net'

/**
 * `onRequest(socket, {path, head, body, index, connection})` per whole request; `index` counts the requests of one connection,
 * `connection` the connections. Gives `{url, port, connections(), close()}`.
 */
export async function startRawServer(onRequest, host = '127.0.0.1') {
  const sockets = new Set()
  let connections = 0
  const server = createServer((socket) => {
    const connection = connections++
    let index = 0
    let received = Buffer.alloc(0)
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      for (;;) {
        const end = received.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = received.toString('latin1', 0, end)
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
        const whole = end + 4 + length
        if (received.length < whole) return
        const body = received.toString('utf8', end + 4, whole)
        received = received.subarray(whole)
        onRequest(socket, { path: /^\S+ (\S+)/.exec(head)[1], head, body, index: index++, connection })
      }
    })
  })
  await new Promise((resolve) => server.listen(0, host, resolve))
  const { port } = server.address()
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(resolve)
      }),
  }
}
