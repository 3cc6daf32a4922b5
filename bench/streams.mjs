// Many streams on one load thread (budget: 1,000 streams x 100 tok/s, no event lost, TTFT error p99 of 5 ms), beside a thread
// that reads the same streams from bare sockets. Errors are our stamp - the moment that the sender wrote into the event.
//   node bench/streams.mjs [streams=1000] [seconds=4] [rounds=3]        needs `npm run build` first
import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import os from 'node:os'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { monotonicClock } from '../dist/base/clock.js'
import { stampErrors } from '../dist/measure/load/calibration-reader.js'
import { startFakeServer } from '../dist/measure/load/calibration.js'
import { systemHost } from '../dist/measure/load/host.js'
import { runLoad } from '../dist/measure/load/run-load.js'

const gapMs = 10
const staggerMs = 500
const budgetMs = 5

if (isMainThread) await main(...process.argv.slice(2).map(Number))
else bareReader(workerData)

async function main(streams = 1000, seconds = 4, rounds = 3) {
  const events = (seconds * 1000) / gapMs
  const clock = monotonicClock(performance, process.hrtime.bigint)
  const fake = await startFakeServer(clock.originMonotonicNs)
  const body = JSON.stringify({ events, gap_ms: gapMs, first_ms: staggerMs })
  console.log(
    `${streams} streams x ${1000 / gapMs} events/s, ${events} events each, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
  )
  const rows = []
  for (let round = 1; round <= rounds; round++) {
    const bare = await bareSockets({ port: fake.port, originNs: clock.originMonotonicNs, streams, body })
    const own = await ours(clock, fake.url, streams, body)
    rows.push({
      bare: show('bare sockets', bare, streams * events),
      own: show('plimsoll', own, streams * events),
    })
  }
  await fake.close()
  const mid = (of) => median(rows.map(of))
  const [first, bareFirst] = [mid(({ own }) => own.firstP99), mid(({ bare }) => bare.firstP99)]
  const [cpu, bareCpu] = [mid(({ own }) => own.cpuUs), mid(({ bare }) => bare.cpuUs)]
  console.log(
    `medians: TTFT error p99 ${first.toFixed(3)} ms, ${(first / budgetMs).toFixed(2)} of the budget of ${budgetMs} ms, ${(first / bareFirst).toFixed(2)} of bare sockets; ` +
      `CPU per event ${cpu.toFixed(1)} us, ${(cpu / bareCpu).toFixed(2)} of bare sockets`,
  )
}

async function ours(clock, url, streams, body) {
  const host = systemHost({ os, cpuUsage: () => process.cpuUsage(), lookup })
  const rows = []
  const result = await runLoad(
    {
      target: { url, api: 'chat', headers: {} },
      limits: {
        connectTimeoutMs: 5000,
        firstTokenTimeoutMs: null,
        idleTimeoutMs: null,
        totalTimeoutMs: 120_000,
      },
      keepText: true,
      replicaHeader: null,
      plan: {
        kind: 'closed',
        users: streams,
        count: streams,
        staggerMs,
        requestAt: (index) => ({
          index,
          plannedMs: null,
          thinkTimeMs: 0,
          body,
          promptId: null,
          segment: null,
          session: null,
          turn: null,
          askedOutputTokens: null,
          plannedPromptTokens: null,
        }),
      },
      workers: 1,
      window: { warmupMs: 0, measureMs: null, drainMs: 60_000 },
      maxConnections: null,
      idPrefix: 'stream-',
      earlyStop: null,
    },
    { clock, host, onRow: (row) => rows.push(row) },
  )
  const errors = rows.map((row) => stampErrors(row).map((ms) => ms + result.startedAtMs))
  const spanMs = result.endedAtMs
  return {
    errors: errors.flat(),
    firstErrors: errors.map((list) => list[0]),
    events: result.health.events,
    spanMs,
    cpuMs: result.health.cpu.worker_max * spanMs,
  }
}

function bareSockets(data) {
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: data })
  return new Promise((resolve, reject) => thread.on('message', resolve).on('error', reject))
}

/** Reads a chunk, notes the time, finds the stamps in it: the least that a client can do. */
function bareReader({ port, originNs, streams, body }) {
  const clock = monotonicClock(performance, process.hrtime.bigint, originNs)
  const cpuMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  const buffer = Buffer.allocUnsafeSlow(65_536)
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`
  const reads = []
  const firstErrors = []
  let over = 0
  const startMs = clock.nowMs()
  const startCpuMs = cpuMs()
  for (let stream = 0; stream < streams; stream++) {
    setTimeout(
      () => {
        let begun = false
        const socket = connect({
          port,
          host: '127.0.0.1',
          noDelay: true,
          onread: {
            buffer,
            callback(count) {
              const atMs = clock.nowMs()
              const text = buffer.latin1Slice(0, count)
              for (
                let at = text.indexOf('"content":" ');
                at >= 0;
                at = text.indexOf('"content":" ', at + 12)
              ) {
                const error = atMs - Number.parseFloat(text.slice(at + 12, at + 28))
                reads.push(error)
                if (!begun) firstErrors.push(error)
                begun = true
              }
              if (!text.includes('[DONE]')) return true
              socket.destroy()
              if (++over === streams) {
                parentPort.postMessage({
                  errors: reads,
                  firstErrors,
                  events: reads.length,
                  spanMs: clock.nowMs() - startMs,
                  cpuMs: cpuMs() - startCpuMs,
                })
              }
              return true
            },
          },
        })
        socket.write(head + body)
      },
      (stream * staggerMs) / streams,
    )
  }
}

function quantiles(values) {
  const sorted = Float64Array.from(values).sort()
  const at = (percent) => sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]
  return { p50: at(50), p99: at(99) }
}

function show(name, { errors, firstErrors, events, spanMs, cpuMs }, sent) {
  const all = quantiles(errors)
  const first = quantiles(firstErrors)
  console.log(
    `${name.padEnd(14)} ${events} events (${sent - events} lost), ${Math.round((events * 1000) / spanMs)}/s over all, ${((cpuMs / events) * 1000).toFixed(1)} us CPU an event; ` +
      `error p50 ${all.p50.toFixed(3)} p99 ${all.p99.toFixed(3)}, of the first event p50 ${first.p50.toFixed(3)} p99 ${first.p99.toFixed(3)} ms`,
  )
  return { firstP99: first.p99, cpuUs: (cpuMs / events) * 1000 }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
