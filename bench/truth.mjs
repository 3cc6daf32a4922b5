// Our stamps against the engine's own record of when it wrote each token, in the run that a user makes (claim: within 1 ms at p99).
//   node bench/truth.mjs [rounds=3]        needs `npm run build` first
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { exportRows, plimsoll, quantile, startEngine } from './product.mjs'

const budgetMs = 1
const [rounds = 3] = process.argv.slice(2).map(Number)
const command = '--request-rate 20 --num-prompts 200 --goodput ttft:500 tpot:30'
console.log(
  `plimsoll run ${command}, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`,
)
const p99s = []
for (let round = 1; round <= rounds; round++) {
  const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-truth-'))
  try {
    p99s.push(await one(folder, round))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const median = p99s.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]
console.log(
  `median p99 ${median.toFixed(3)} ms: ${(median / budgetMs).toFixed(2)} of the limit of ${budgetMs} ms`,
)

async function one(folder, round) {
  const engine = await startEngine(['--truth', 't.ndjson'], folder)
  const { stdout } = await plimsoll(
    ['run', '--url', engine.url, ...command.split(' '), '--json', '-q', '--out', join(folder, 'run')],
    folder,
  )
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
  return quantile(all, 99)
}
