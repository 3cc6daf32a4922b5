// Whether memory stays flat: a closed loop of many streams for a long time, the client's resident memory looked at each second
// (claim: the last third holds at most a tenth more than the second). Not part of `npm run bench`, for its length.
//   node bench/soak.mjs [minutes=30] [streams=200]        needs `npm run build` first
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { main, quantile, startEngine } from './product.mjs'

const [minutes = 30, streams = 200] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-soak-'))
// A step of 100 ms: ten tokens a second a stream, for any number of streams.
const engine = await startEngine(['--step-time', 'c0=100ms,c1=0,c4=0', '--kv-tokens', '400000'], folder)
const load = ['-c', String(streams), '-d', `${minutes}m`, '--prompt', '64', '--output', '200']
const run = join(folder, 'run')
console.log(
  `plimsoll run ${load.join(' ')}, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
)
const child = spawn(
  process.execPath,
  [main, 'run', '--url', engine.url, ...load, '--json', '-q', '--out', run],
  {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  },
)
let [stdout, stderr] = ['', '']
child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
const looks = []
const startMs = Date.now()
const timer = setInterval(() => {
  const mib = residentMib(child.pid)
  if (mib === null) return
  looks.push({ atMs: Date.now() - startMs, mib })
  if (looks.length % 300 === 0) console.log(`  after ${looks.length / 60} min ${mib.toFixed(0)} MiB`)
}, 1000)
const code = await new Promise((resolve) => child.once('close', resolve))
clearInterval(timer)
const wholeMs = minutes * 60_000
const third = (from, to) =>
  quantile(
    looks.filter(({ atMs }) => atMs >= from * wholeMs && atMs < to * wholeMs).map(({ mib }) => mib),
    50,
  )
const [first, second, last] = [third(0, 1 / 3), third(1 / 3, 2 / 3), third(2 / 3, 1)]
const { counts, verdict, throughput, client } = JSON.parse(stdout)
console.log(
  `${verdict.status}, exit ${code}; ${counts.planned} planned = ${counts.ok} ok + ${counts.failed} failed + ${counts.shed} shed + ${counts.censored} cut + ${counts.unsent} unsent; ` +
    `${throughput.output_tokens_per_s.toFixed(0)} tok/s; send lag p99 ${client.lag_ms.p99.toFixed(1)} ms`,
)
console.log(
  `resident memory, medians of the thirds: ${first.toFixed(0)}, ${second.toFixed(0)}, ${last.toFixed(0)} MiB (the last ${(last / second).toFixed(3)} of the second; most while measuring ${Math.max(...looks.filter(({ atMs }) => atMs < wholeMs).map(({ mib }) => mib)).toFixed(0)}, while the answers are judged ${Math.max(...looks.map(({ mib }) => mib)).toFixed(0)})`,
)
if (stderr !== '') console.log(stderr.trim())
await engine.stop()
rmSync(folder, { recursive: true, force: true })
if (last > 1.1 * second) process.exitCode = 1

function residentMib(pid) {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024
  } catch {
    return null
  }
}
