// A server that stands still for 3 s in a constant load of 5 requests/s for 60 s: what an open loop says of it, and what a client
// says that waits for its answers. 15 requests meet the stall and wait for 3.0, 2.8, ... 0.2 s; the P99 of 300 is the fourth from
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
const lengths = ['--prompt', '16', '--output', '2']

const open = await aligned(['--pacer', 'constant 5/s'])
const closed = await whole(['--pacer', 'users 1 think 200ms'])
console.log(`$ plimsoll engine --fault 'stall 3s at 10s'`)
print('open loop, constant 5/s', open)
print('closed loop, one user who waits, thinks 200 ms', closed)
const p99 = quantile(open.fromIntended, 99)
console.log(
  `open loop p99 ${(p99 / 1000).toFixed(3)} s, expected 2.4 s and the service time (${quantile(open.fromIntended, 50).toFixed(1)} ms), the first of the stalled sends ${open.phaseMs.toFixed(1)} ms into the stall: ${p99 >= 2300 && p99 <= 2600 ? 'within 2.3 to 2.6 s' : 'NOT within 2.3 to 2.6 s'}`,
)
console.log(
  `waiting client p99 from the actual send ${quantile(closed.fromSent, 99).toFixed(1)} ms, its p50 ${quantile(closed.fromSent, 50).toFixed(1)} ms: the stall is hidden but for one request of ${closed.fromSent.length}`,
)

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
      const sentNs = await firstOfRun(join(folder, 't.ndjson'))
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

async function whole(load) {
  const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-stall-'))
  const engine = await startEngine(['--fault', 'stall 3s at 10s'], folder)
  try {
    await plimsoll(arguments_(engine.url, folder, load), folder)
    return await measured(folder)
  } finally {
    await engine.stop()
    rmSync(folder, { recursive: true, force: true })
  }
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
    report: stdout,
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
