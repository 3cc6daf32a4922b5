// How often the client of an idle machine is believed: short light runs against an engine process, and their verdicts (claim: VALID
// in at least 95 of 100). A machine that others use is not idle: runs during which it was over half busy are counted apart, and
// made up for, up to three times as many.
//   node bench/idle-valid.mjs [runs=40] [seconds=4]        needs `npm run build` first
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { plimsoll, startEngine } from './product.mjs'

/** The runs themselves use about a tenth of two cores. */
const idleShare = 0.5
const [runs = 40, seconds = 4] = process.argv.slice(2).map(Number)
const load = `-r 10 -d ${seconds}s --prompt 64 --output 32 --json -q`
const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-idle-'))
const engine = await startEngine([], folder)
const count = () => ({ all: 0, VALID: 0, DEGRADED: 0, INVALID: 0 })
const idle = count()
const busy = count()
console.log(`plimsoll run ${load}, load average ${os.loadavg()[0].toFixed(2)} on ${os.cpus().length} cores`)
try {
  for (let i = 1; idle.all < runs && i <= 3 * runs; i++) {
    const { stdout, stderr, code } = await plimsoll(['run', '--url', engine.url, ...load.split(' ')], folder)
    if (!stdout.startsWith('{')) throw new Error(`a run ended with ${code}: ${stderr}`)
    const { verdict, client } = JSON.parse(stdout)
    const kind = client.cpu.machine <= idleShare ? idle : busy
    kind.all++
    kind[verdict.status]++
    const state = `machine ${(client.cpu.machine * 100).toFixed(0)} % busy`
    for (const { message } of verdict.reasons)
      console.log(`  run ${i}: ${verdict.status}, ${message} (${state})`)
  }
} finally {
  await engine.stop()
  rmSync(folder, { recursive: true, force: true })
}
const text = ({ all, VALID, DEGRADED, INVALID }) =>
  `${VALID} of ${all} VALID, ${DEGRADED} DEGRADED, ${INVALID} INVALID`
console.log(text(idle))
console.log(`not counted, while others used the machine: ${text(busy)}`)
