// What the simulated server costs: requests a second of one replica in virtual time, and the CPU of a streamed event over HTTP.
//   node bench/engine-cost.mjs [requests=20000] [users=50]        needs `npm run build` first
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { exponential, randomStream } from '../dist/base/random.js'
import { createEngine } from '../dist/simulate/engine/engine.js'
import { defaultEngineConfig } from '../dist/simulate/engine/engine-config.js'
import { runVirtual } from '../dist/simulate/engine/run-virtual.js'
import { plimsoll, startEngine } from './product.mjs'

const [requests = 20_000, users = 50] = process.argv.slice(2).map(Number)
console.log(`load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`)
virtual()
await overHttp()

function* arrivals(ratePerSecond) {
  const random = randomStream(1, 'engine-cost')
  let arrivalMs = 0
  for (let id = 0; id < requests; id++) {
    arrivalMs += (exponential(random) / ratePerSecond) * 1000
    yield { id, arrivalMs, promptTokenIds: { length: 512 }, outputTokens: 128, maxTokens: 128 }
  }
}

function virtual() {
  for (const ratePerSecond of [2, 6]) {
    const engine = createEngine(defaultEngineConfig, randomStream(1, 'engine'), { events: 'requests' })
    const usage = process.cpuUsage()
    const startMs = performance.now()
    const results = runVirtual(engine, { arrivals: arrivals(ratePerSecond) })
    const wallS = (performance.now() - startMs) / 1000
    const { user, system } = process.cpuUsage(usage)
    const tokens = results.reduce((sum, { facts }) => sum + facts.outputTokens, 0)
    console.log(
      `virtual time, one replica at ${ratePerSecond} requests/s: ${results.length} requests in ${wallS.toFixed(2)} s, ${Math.round(results.length / wallS)} requests/s, ${((user + system) / tokens).toFixed(3)} us CPU a token`,
    )
  }
}

async function overHttp() {
  const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-engine-'))
  const engine = await startEngine([], folder)
  try {
    const before = cpuMs(engine.pid)
    const { stdout } = await plimsoll(
      [
        'run',
        '--url',
        engine.url,
        '-c',
        String(users),
        '-d',
        '5s',
        '--prompt',
        '32',
        '--output',
        '128',
        '--json',
        '-q',
      ],
      folder,
    )
    const { client, throughput } = JSON.parse(stdout)
    const usedMs = cpuMs(engine.pid) - before
    console.log(
      `over HTTP, ${users} users: ${client.events} events, ${Math.round(throughput.output_tokens_per_s)} tok/s, ${((usedMs * 1000) / client.events).toFixed(1)} us CPU of the server an event`,
    )
  } finally {
    await engine.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** User and system time of a process so far; ticks are 10 ms. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
