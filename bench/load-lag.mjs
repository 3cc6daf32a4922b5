// How late an open loop's sends are (budget: p99 of 1 ms for Poisson at 1,000 requests/s on an idle machine), beside what this
// machine does at the same moment: a thread that only sleeps until the same times, and an event loop's own timers.
//   node bench/load-lag.mjs [requestsPerSecond=1000] [seconds=4] [rounds=3]        needs `npm run build` first
import { lookup } from 'node:dns/promises'
import os from 'node:os'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { monotonicClock } from '../dist/base/clock.js'
import { exponential, randomStream } from '../dist/base/random.js'
import { startFakeServer } from '../dist/measure/load/calibration.js'
import { systemHost } from '../dist/measure/load/host.js'
import { runLoad } from '../dist/measure/load/run-load.js'

const budgetMs = 1

if (isMainThread) await main(...process.argv.slice(2).map(Number))
else if (workerData.kind === 'sleep') sleepOnly(workerData.times)
else timersOnly(workerData.times)

async function main(rate = 1000, seconds = 4, rounds = 3) {
  const random = randomStream(1, 'load-lag')
  const times = []
  for (let at = exponential(random) / rate; at < seconds; at += exponential(random) / rate)
    times.push(at * 1000)
  console.log(
    `Poisson, ${rate} requests/s, ${times.length} sends, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
  )
  const p99s = { sleep: [], timers: [], own: [] }
  for (let round = 1; round <= rounds; round++) {
    console.log(`round ${round} of ${rounds}`)
    p99s.sleep.push(show('a thread that only sleeps', await inThread('sleep', times)))
    p99s.timers.push(show('timers of an event loop, nothing sent', await inThread('timers', times)))
    const { lags, health } = await ours(times)
    p99s.own.push(show('plimsoll, requests sent and answers read', lags))
    console.log(
      `  worker ${(health.cpu.worker_max * 100).toFixed(0)} % of a core, loop delay p99 ${health.loop_delay_ms.p99.toFixed(2)} ms, machine ${(health.cpu.machine * 100).toFixed(0)} % busy`,
    )
  }
  const [own, sleep, timers] = [p99s.own, p99s.sleep, p99s.timers].map(median)
  console.log(
    `median p99 ${own.toFixed(3)} ms: ${(own / budgetMs).toFixed(2)} of the budget of ${budgetMs} ms, ${(own / sleep).toFixed(2)} of a bare sleep, ${(own / timers).toFixed(2)} of timers`,
  )
}

async function ours(times) {
  const clock = monotonicClock(performance, process.hrtime.bigint)
  const host = systemHost({ os, cpuUsage: () => process.cpuUsage(), lookup })
  const fake = await startFakeServer(clock.originMonotonicNs)
  const lags = []
  const body = JSON.stringify({
    events: 2,
    gap_ms: 5,
    first_ms: 5,
    messages: [{ role: 'user', content: 'word '.repeat(200) }],
  })
  const { health } = await runLoad(
    {
      target: { url: fake.url, api: 'chat', headers: { 'content-type': 'application/json' } },
      limits: {
        connectTimeoutMs: 5000,
        firstTokenTimeoutMs: null,
        idleTimeoutMs: null,
        totalTimeoutMs: 10_000,
      },
      keepText: false,
      replicaHeader: null,
      plan: {
        kind: 'open',
        requests: times.map((plannedMs, index) => ({
          index,
          plannedMs,
          thinkTimeMs: 0,
          body,
          promptId: null,
          segment: null,
          session: null,
          turn: null,
          askedOutputTokens: 2,
          plannedPromptTokens: 200,
        })),
      },
      workers: 1,
      window: { warmupMs: 0, measureMs: null, drainMs: 5000 },
      maxConnections: null,
      idPrefix: 'lag-',
      earlyStop: null,
    },
    { clock, host, onRow: (row) => lags.push(row.lag_ms) },
  )
  await fake.close()
  return { lags, health }
}

function inThread(kind, times) {
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: { kind, times } })
  return new Promise((resolve, reject) => thread.on('message', resolve).on('error', reject))
}

function sleepOnly(times) {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const startMs = performance.now() + 50
  const lags = times.map((atMs) => {
    const waitMs = startMs + atMs - performance.now()
    if (waitMs > 0) Atomics.wait(cell, 0, 0, waitMs)
    return performance.now() - startMs - atMs
  })
  parentPort.postMessage(lags)
}

function timersOnly(times) {
  const startMs = performance.now() + 50
  const lags = []
  function step() {
    while (lags.length < times.length && times[lags.length] <= performance.now() - startMs) {
      lags.push(performance.now() - startMs - times[lags.length])
    }
    if (lags.length === times.length) parentPort.postMessage(lags)
    else setTimeout(step, startMs + times[lags.length] - performance.now())
  }
  step()
}

function show(name, lags) {
  const sorted = lags.toSorted((a, b) => a - b)
  const at = (percent) => sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]
  console.log(
    `${name.padEnd(42)} lag p50 ${at(50).toFixed(3)}  p99 ${at(99).toFixed(3)}  max ${at(100).toFixed(3)} ms`,
  )
  return at(99)
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
