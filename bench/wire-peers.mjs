// bench/wire-cpu.mjs several times over, its clients in turn, with the streaming client of vLLM's `bench serve` among them where a
// Python with vllm is given. Medians of the rounds at the end.
//   node bench/wire-peers.mjs [rounds=3] [python]        needs `npm run build` first
import { fork, spawn } from 'node:child_process'
import os from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { measureWireCpu } from './wire-cpu.mjs'

const load = { streams: 200, events: 400, gapMs: 10 }
const budget = { cpuUs: 8, times: 4, stampLagMs: 0.5 }
const [rounds = '3', python = ''] = process.argv.slice(2)
console.log(
  `${load.streams} streams x ${1000 / load.gapMs} events/s, ${load.events} events each, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
)
const seen = new Map()
for (let round = 1; round <= Number(rounds); round++) {
  console.log(`round ${round} of ${rounds}`)
  await measureWireCpu(load, note)
  if (python !== '') note({ client: 'vLLM, Python', ...(await vllm()) })
}
const mid = (client, of) => {
  const values = (seen.get(client) ?? []).map(of).toSorted((a, b) => a - b)
  return values[Math.floor(values.length / 2)]
}
const cost = (client) => mid(client, ({ cpuUsPerEvent }) => cpuUsPerEvent)
const own = cost('ours')
console.log(
  `median CPU per event ${own.toFixed(2)} us: ${(own / budget.cpuUs).toFixed(2)} of the budget of ${budget.cpuUs} us, ${(own / cost('bare')).toFixed(2)} of a bare socket, ${(own / cost('undici')).toFixed(2)} of undici`,
)
const lagMs = mid('ours', ({ stampLagMs }) => stampLagMs.p99)
console.log(
  `median stamp lag p99 ${lagMs.toFixed(3)} ms: ${(lagMs / budget.stampLagMs).toFixed(2)} of the budget of ${budget.stampLagMs} ms`,
)
if (python === '') console.log('vLLM: absent (give its Python with --vllm-python PATH)')
else {
  const times = cost('vLLM, Python') / own
  console.log(
    `vLLM ${seen.get('vLLM, Python')[0].version}: ${cost('vLLM, Python').toFixed(1)} us an event, ${times.toFixed(2)} times ours (budget: ${budget.times} times)`,
  )
}

function note(result) {
  seen.set(result.client, [...(seen.get(result.client) ?? []), result])
  const { client, cpuUsPerEvent, busyShare, lost, stampLagMs, ttftErrorP99Ms } = result
  const lag =
    stampLagMs === undefined
      ? ''
      : `  stamp lag p50 ${stampLagMs.p50.toFixed(3)} p99 ${stampLagMs.p99.toFixed(3)} ms, TTFT error p99 ${ttftErrorP99Ms.toFixed(3)} ms`
  console.log(
    `  ${client.padEnd(17)} ${cpuUsPerEvent.toFixed(2).padStart(7)} us an event  busy ${(busyShare * 100).toFixed(0)} %  lost ${lost}${lag}`,
  )
}

async function vllm() {
  const sender = fork(fileURLToPath(new URL('stream-sender.mjs', import.meta.url)), [
    JSON.stringify({ events: load.events, gapMs: load.gapMs, keepTruth: false }),
  ])
  const { port } = await new Promise((resolve) => sender.once('message', resolve))
  const script = fileURLToPath(new URL('vllm-client.py', import.meta.url))
  const child = spawn(python, [script, String(port), String(load.streams)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, errors] = ['', '']
  child.stdout.on('data', (text) => (out += text))
  child.stderr.on('data', (text) => (errors += text))
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  sender.kill()
  if (code !== 0) throw new Error(`vLLM's client ended with ${code}: ${errors.trim().split('\n').at(-1)}`)
  const result = JSON.parse(out.trim().split('\n').at(-1))
  return { ...result, lost: load.streams * load.events - result.events }
}
