// The reading side of bench/wire-cpu.mjs, in a process of its own: argv is [client, port, streams], the answer a message.
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import process from 'node:process'

const requestBody = '{"model":"demo-8b","stream":true,"messages":[]}'
const clients = { bare, undici, ours, 'ours over undici': ours }
const [kind, port, streams] = JSON.parse(process.argv[2])

// A first round of short streams, so that what is measured is compiled code; then the one that counts.
const round = await clients[kind](port, streams, kind)
await round('/warm')
const stop = meter()
const seen = await round('/v1/chat/completions')
process.send({ ...stop(), ...seen })

function meter() {
  const usage = process.cpuUsage()
  const startMs = performance.now()
  return () => {
    const used = process.cpuUsage(usage)
    const busy = (used.user + used.system) / 1000 / (performance.now() - startMs)
    return { userUs: used.user, systemUs: used.system, busy }
  }
}

async function bare(port, streams) {
  const buffer = Buffer.alloc(65_536)
  let events = 0
  const sockets = []
  for (let i = 0; i < streams; i++) {
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback(length, bytes) {
          for (let at = 0; at < length; at++)
            if (bytes[at] === 10 && at + 1 < length && bytes[at + 1] === 10) events++
          if (bytes[length - 5] === 48 && bytes[length - 4] === 13) socket.emit('whole')
          return true
        },
      },
    })
    sockets.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  return async (path) => {
    events = 0
    await Promise.all(
      sockets.map((socket) => {
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`)
        return new Promise((resolve) => socket.once('whole', resolve))
      }),
    )
    return { events: events - 3 * streams }
  }
}

async function undici(port, streams) {
  const { Pool } = await import('undici')
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: streams, pipelining: 1 })
  let events = 0
  const one = (path) =>
    new Promise((resolve, reject) =>
      pool.dispatch(
        { path, method: 'POST', body: requestBody },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData(_, bytes) {
            for (let at = 0; at < bytes.length; at++)
              if (bytes[at] === 10 && at + 1 < bytes.length && bytes[at + 1] === 10) events++
          },
          onResponseEnd: resolve,
          onResponseError: (_, error) => reject(error),
        },
      ),
    )
  return async (path) => {
    events = 0
    await Promise.all(Array.from({ length: streams }, () => one(path)))
    return { events: events - 3 * streams }
  }
}

async function ours(port, streams, kind) {
  const dist = new URL('../dist/', import.meta.url)
  const { startExchange } = await import(new URL('measure/wire/exchange.js', dist))
  const { createHttp1Transport } = await import(new URL('measure/wire/http1-transport.js', dist))
  const { monotonicClock } = await import(new URL('base/clock.js', dist))
  const clock = monotonicClock(performance, process.hrtime.bigint)
  const timers = { setTimeout, clearTimeout }
  const options = { clock, timers, connectTimeoutMs: null }
  const target = new URL(`http://127.0.0.1:${port}`)
  const transport =
    kind === 'ours'
      ? createHttp1Transport(target, options)
      : await (
          await import(new URL('measure/wire/undici-transport.js', dist))
        ).createUndiciTransport(target, options)
  await transport.open(streams)
  const one = (path, index) =>
    new Promise((resolve) =>
      startExchange(
        { transport, clock, timers },
        {
          api: 'chat',
          wire: {
            path,
            headers: { 'content-type': 'application/json', 'x-request-id': `r${index}` },
            body: requestBody,
          },
          plannedMs: clock.nowMs(),
          streamAsked: true,
          keepText: false,
        },
        {
          connectTimeoutMs: null,
          firstTokenTimeoutMs: 30_000,
          idleTimeoutMs: 30_000,
          totalTimeoutMs: 120_000,
        },
        resolve,
      ),
    )
  return async (path) => {
    const rows = await Promise.all(Array.from({ length: streams }, (_, index) => one(path, index)))
    const stamps = {}
    let events = 0
    rows.forEach((row, index) => {
      if (!row.ok) throw new Error(`${row.error_kind}: ${row.error_message}`)
      events += row.n_output_chunks
      let at = row.planned_ms + row.ttft_ms
      stamps[`r${index}`] = [at, ...row.gaps_ms.map((gap) => (at += gap))]
    })
    return { events, stamps, originNs: String(clock.originMonotonicNs) }
  }
}
