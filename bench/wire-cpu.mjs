// What reading a streamed event costs this client, beside a bare Node socket and undici's dispatch, and how late its stamps are.
//   node bench/wire-cpu.mjs [streams=200] [events=1500] [gapMs=10]
// Each client runs in a process of its own against a sender in another, one after the other; CPU is the client process's user and
// system time from when its connections stand to the end of the last stream.
import { fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const clients = ['bare', 'ours', 'undici', 'ours over undici']

/**
 * One result per client: `{client, cpuUsPerEvent, userUsPerEvent, busyShare, lost}`, and where it stamps events
 * `stampLagMs {p50, p99, max}` behind the sender's write and `ttftErrorP99Ms`.
 */
export async function measureWireCpu({ streams, events, gapMs }, onResult = () => {}) {
  const results = []
  for (const client of clients) {
    const sender = start('stream-sender', { events, gapMs, keepTruth: client.startsWith('ours') })
    const { port } = await next(sender)
    const reader = start('stream-client', [client, port, streams])
    const read = await next(reader)
    const result = {
      client,
      cpuUsPerEvent: (read.userUs + read.systemUs) / read.events,
      userUsPerEvent: read.userUs / read.events,
      busyShare: read.busy,
      lost: streams * events - read.events,
    }
    if (read.stamps !== undefined) {
      sender.send('truth')
      Object.assign(result, lags(read, await next(sender)))
    }
    sender.kill()
    reader.kill()
    results.push(result)
    onResult(result)
  }
  return results
}

function lags({ stamps, originNs }, truth) {
  const shiftMs = Number(BigInt(originNs) - BigInt(truth.originNs)) / 1e6
  const all = []
  const first = []
  for (const [id, times] of Object.entries(stamps)) {
    const writes = truth.writes[id]
    times.forEach((atMs, index) => all.push(atMs + shiftMs - writes[index]))
    first.push(Math.abs(times[0] + shiftMs - writes[0]))
  }
  all.sort((a, b) => a - b)
  first.sort((a, b) => a - b)
  const at = (sorted, share) => sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]
  return {
    stampLagMs: { p50: at(all, 0.5), p99: at(all, 0.99), max: at(all, 1) },
    ttftErrorP99Ms: at(first, 0.99),
  }
}

function start(name, argument) {
  return fork(fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), [JSON.stringify(argument)])
}

function next(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`)))
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [streams = 200, events = 1500, gapMs = 10] = process.argv.slice(2).map(Number)
  console.log(`${streams} streams x ${1000 / gapMs} events/s, ${events} events each`)
  await measureWireCpu({ streams, events, gapMs }, (result) => {
    const { client, cpuUsPerEvent, userUsPerEvent, busyShare, lost, stampLagMs, ttftErrorP99Ms } = result
    const cost = `${cpuUsPerEvent.toFixed(2)} us/event (user ${userUsPerEvent.toFixed(2)})`
    const lag =
      stampLagMs === undefined
        ? ''
        : `  stamp lag p50 ${stampLagMs.p50.toFixed(3)} p99 ${stampLagMs.p99.toFixed(3)} ms, ttft error p99 ${ttftErrorP99Ms.toFixed(3)} ms`
    console.log(`${client.padEnd(17)} ${cost}  busy ${(busyShare * 100).toFixed(0)} %  lost ${lost}${lag}`)
  })
}
