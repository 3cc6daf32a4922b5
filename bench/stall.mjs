// A server that stands still for 3 s in a constant load of 5 requests/s for 60 s: what an open loop says of it, and what a client
// says that waits for its answers and counts from when it sent. 15 requests meet the stall and wait for 3.0, 2.8, ... 0.2 s; the P99 of 300 is the fourth from
// above, 2.4 s and the service time, if the stall begins at a send. Tries until it does.
//   node bench/stall.mjs [seconds=60]        needs `npm run build` first; over two minutes
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { spawn } from 'node:child_process'
import os from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { exportRows, main, plimsoll, quantile, startEngine } from './product.mjs'

const [seconds = 60] = process.argv.slice(2).map(Number)
const stall = { ms: 3000, atMs: 10_000 }
const everyMs = 200
const lengths = ['--prompt', '32', '--output', '2']

const open = await aligned(['--pacer', 'constant 5/s'])
const waiting = await aligned(['--pacer', 'constant 5/s', '-c', '1'])
console.log(`$ plimsoll engine --fault 'stall 3s at 10s'`)
print(`plimsoll run --pacer 'constant 5/s' -d ${seconds}s`, open)
print(`the same with -c 1: a client that waits for its answer before it sends again`, waiting)
console.log('')
sum('open loop', open)
sum('waiting client', waiting)

function sum(name, { fromIntended, fromSent, phaseMs }) {
  const p99 = quantile(fromIntended, 99) / 1000
  console.log(
    `${name}: p99 ${p99.toFixed(3)} s from the intended send (expected 2.4 s and the service time: ${p99 >= 2.3 && p99 <= 2.6 ? 'within' : 'NOT within'} 2.3 to 2.6 s), ` +
      `${(quantile(fromSent, 99) / 1000).toFixed(3)} s from the actual send; service time p50 ${quantile(fromSent, 50).toFixed(1)} ms; a send lay ${phaseMs.toFixed(1)} ms behind the beginning of the stall`,
  )
}

/** The open loop, begun anew until a send falls on the first 40 ms of the stall. */
async function aligned(load) {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-stall-'))
    const engine = await startEngine(['--fault', 'stall 3s at 10s', '--truth', 't.ndjson'], folder)
    const child = spawn(process.execPath, [main, ...arguments_(engine.url, folder, load)], {
      cwd: folder,
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    try {
      const sentNs = await Promise.race([
        firstOfRun(join(folder, 't.ndjson')),
        ended.then((code) => Promise.reject(new Error(`the run ended with ${code}`))),
      ])
      const stallNs = engine.originNs + stall.atMs * 1e6
      // Nothing was late when the first request was received: sends are each 200 ms from there on.
      const phaseMs = ((((sentNs - stallNs) / 1e6) % everyMs) + everyMs) % everyMs
      if (phaseMs > 40) {
        child.kill('SIGKILL')
        continue
      }
      await ended
      return { ...(await measured(folder)), phaseMs, attempt }
    } finally {
      await ended
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  throw new Error('no send fell on the beginning of a stall in 20 attempts')
}

function arguments_(url, folder, load) {
  return ['run', '--url', url, ...load, '-d', `${seconds}s`, ...lengths, '-q', '--out', join(folder, 'run')]
}

/** When the engine received the first request of the run, whose id ends with "-0". */
async function firstOfRun(path) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
    const first = lines.map((line) => JSON.parse(line)).find(({ id }) => /^[0-9a-f]+-0$/.test(id))
    if (first !== undefined) return first.received_ns
  }
}

async function measured(folder) {
  const rows = (await exportRows(join(folder, 'run'), folder)).filter(({ ok }) => ok)
  const { stdout } = await plimsoll(['show', join(folder, 'run')], folder)
  return {
    fromIntended: rows.map(({ e2e_ms }) => e2e_ms),
    fromSent: rows.map(({ e2e_ms, lag_ms }) => e2e_ms - lag_ms),
    report: stdout.replaceAll(join(folder, 'run'), 'runs/stall'),
  }
}

function print(name, { fromIntended, fromSent, report }) {
  console.log(`\n${name}\n${report.trimEnd().replace(/^/gm, '  ')}`)
  for (const [from, values] of [
    ['intended', fromIntended],
    ['actual', fromSent],
  ]) {
    const at = [50, 90, 99, 100].map((p) => quantile(values, p).toFixed(1))
    console.log(
      `  from the ${from} send, ${values.length} requests: p50 / p90 / p99 / max ${at.join(' / ')} ms`,
    )
  }
}
