// How long `plimsoll --help` takes beside a Node that does nothing (budget: 40 ms more). Each is started in turn, so that both meet
// the same moments of the machine.
//   node bench/start-up.mjs [rounds=20]        needs `npm run build` first
import { spawnSync } from 'node:child_process'
import os from 'node:os'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { main } from './product.mjs'

const budgetMs = 40
const [rounds = 20] = process.argv.slice(2).map(Number)
// Reading a bundle of further certificates at the start is Node's cost, and not small.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
const commands = {
  'node -e 0': ['-e', '0'],
  'plimsoll --help': [main, '--help'],
  'plimsoll run --help': [main, 'run', '--help'],
}
const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const [name, argv] of Object.entries(commands)) {
    const startMs = performance.now()
    const { status } = spawnSync(process.execPath, argv, { env, stdio: 'ignore' })
    if (status !== 0) throw new Error(`${name} ended with ${status}`)
    times[name].push(performance.now() - startMs)
  }
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const bare = median(times['node -e 0'])
console.log(`${rounds} rounds, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`)
for (const [name, values] of Object.entries(times)) {
  console.log(
    `${name.padEnd(20)} median ${median(values).toFixed(1)} ms, least ${Math.min(...values).toFixed(1)} ms, ${(median(values) - bare).toFixed(1)} ms over node -e 0`,
  )
}
const over = median(times['plimsoll --help']) - bare
console.log(
  `median over node -e 0 ${over.toFixed(1)} ms: ${(over / budgetMs).toFixed(2)} of the budget of ${budgetMs} ms`,
)
console.log(
  `least over node -e 0 ${(Math.min(...times['plimsoll --help']) - Math.min(...times['node -e 0'])).toFixed(1)} ms`,
)
