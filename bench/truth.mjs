// Our stamps against the engine's own record of when it wrote each token, in the run that a user makes (claim: within 1 ms at p99).
// Beside it a thread that only sleeps for 5 ms, again and again, says how late this machine wakes anyone at the time.
//   node bench/truth.mjs [rounds=3]        needs `npm run build` first
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { exportRows, plimsoll, quantile, startEngine } from './product.mjs'

const budgetMs = 1
const sleepMs = 5
const command = '--request-rate 20 --num-prompts 200 --goodput ttft:500 tpot:30'

if (isMainThread) await main(...process.argv.slice(2).map(Number))
else sleepUntilTold(workerData)

async function main(rounds = 3) {
  console.log(
    `plimsoll run ${command}, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
  )
  const p99s = []
  const sleeps = []
  for (let round = 1; round <= rounds; round++) {
    const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-truth-'))
    try {
      const result = await one(folder, round)
      p99s.push(result.p99)
      sleeps.push(result.sleepP99)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const median = quantile(p99s, 50)
  const sleep = quantile(sleeps, 50)
  console.log(
    `median p99 ${median.toFixed(3)} ms: ${(median / budgetMs).toFixed(2)} of the limit of ${budgetMs} ms, ${(median / sleep).toFixed(2)} of a bare sleep's ${sleep.toFixed(3)} ms`,
  )
}

/** How late each of many sleeps ended, until cell 0 is set. */
function sleepUntilTold(over) {
  const lags = []
  while (Atomics.load(over, 0) === 0) {
    const startMs = performance.now()
    Atomics.wait(over, 0, 0, sleepMs)
    lags.push(performance.now() - startMs - sleepMs)
  }
  parentPort.postMessage(lags)
}

function startSleeper() {
  const over = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: over })
  const lags = new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
  return () => {
    Atomics.store(over, 0, 1)
    return lags
  }
}

async function one(folder, round) {
  const engine = await startEngine(['--truth', 't.ndjson'], folder)
  const wake = startSleeper()
  const { stdout } = await plimsoll(
    ['run', '--url', engine.url, ...command.split(' '), '--json', '-q', '--out', join(folder, 'run')],
    folder,
  )
  const sleeps = await wake()
  await engine.stop()
  const document = JSON.parse(stdout)
  const truths = new Map(
    readFileSync(join(folder, 't.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((truth) => [truth.id, truth]),
  )
  const all = []
  const first = []
  let unmatched = 0
  for (const row of await exportRows(join(folder, 'run'), folder)) {
    const truth = truths.get(row.id)
    if (truth?.writes_ns.length !== row.n_output_chunks) {
      unmatched++
      continue
    }
    let atMs = row.planned_ms + row.ttft_ms
    truth.writes_ns.forEach((writeNs, event) => {
      if (event > 0) atMs += row.gaps_ms[event - 1]
      const error = atMs - (writeNs - document.clock.origin_monotonic_ns) / 1e6
      all.push(error)
      if (event === 0) first.push(error)
    })
  }
  const { counts, goodput, client, verdict } = document
  const text = (values) => [50, 99, 100].map((p) => quantile(values, p).toFixed(3)).join(' / ')
  console.log(
    `round ${round}: ${verdict.status}; ${counts.planned} planned = ${counts.ok} ok + ${counts.failed} failed + ${counts.shed} shed + ${counts.censored} cut + ${counts.unsent} unsent, ` +
      `${unmatched} rows without their truth; goodput ${goodput.good} of ${goodput.attempts}`,
  )
  console.log(
    `  stamp - write over ${all.length} events p50 / p99 / max ${text(all)} ms, of first events ${text(first)} ms; least ${quantile(all, 0).toFixed(3)} ms`,
  )
  console.log(
    `  stated by the run itself: own error p50 ${client.own_error_ms.p50?.toFixed(3)} p99 ${client.own_error_ms.p99?.toFixed(3)} ms, send lag p99 ${client.lag_ms.p99.toFixed(3)} ms, event loop p99 ${client.loop_delay_ms.p99.toFixed(3)} ms`,
  )
  console.log(`  a thread that only slept: late by p50 / p99 / max ${text(sleeps)} ms`)
  return { p99: quantile(all, 99), sleepP99: quantile(sleeps, 99) }
}
