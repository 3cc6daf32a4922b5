// npm run cases -- DIR: replays every sse-* case of a directory to the built product and compares the rows. Ends with
// `N passed, N failed`; exits 1 if any failed. Other kinds of cases in the directory are named and not counted.
import { existsSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { readCases, runCases } from '../test/replay/run-cases.mjs'

const directory = process.argv[2]
if (directory === undefined || !existsSync(directory)) {
  console.error('usage: npm run cases -- DIR   (a directory of sse-*.json sidecars with their .sse bodies)')
  process.exit(2)
}
const dist = new URL('../dist/', import.meta.url)
if (!existsSync(dist)) {
  console.error('there is no dist/: run `npm run build` first')
  process.exit(2)
}
const { createTransport } = await import(new URL('measure/wire/choose-transport.js', dist))
const { startExchange } = await import(new URL('measure/wire/exchange.js', dist))
const { timeLimits } = await import(new URL('measure/wire/time-limits.js', dist))
const { monotonicClock } = await import(new URL('base/clock.js', dist))

const clock = monotonicClock(performance, process.hrtime.bigint)
const { cases, others } = readCases(directory)
const results = await runCases(
  cases,
  { createTransport, startExchange, clock, timers: timeLimits({ setTimeout, clearTimeout, setImmediate }) },
  ({ id, passed, reasons }) => {
    console.log(`${passed ? 'pass' : 'FAIL'}  ${id}`)
    for (const reason of reasons) console.log(`      ${reason}`)
  },
)
if (others.length > 0) console.log(`not run here (other kinds): ${others.join(', ')}`)
const failed = results.filter((result) => !result.passed).length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
