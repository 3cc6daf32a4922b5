// `plimsoll compare --run` on engines over HTTP: one against itself, and two whose steps are 3.5 % apart, whose runs spread as those
// of a real server do (4 % from run to run). Few runs cannot tell, thirty can, and A against A is not called different.
//   node bench/compare.mjs [runs=30]        needs `npm run build` first; about six minutes
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { plimsoll, startEngine } from './product.mjs'

const [many = 30] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(os.tmpdir(), 'plimsoll-compare-'))
/** A run is 60 steps, each with a spread of 30 %: its mean has one of 4 %. */
const load = '-c 1 -n 2 --prompt 64 --output 31 --metrics tpot_mean --json'
const slow = 'c0=19ms'
const engines = await Promise.all(
  [slow, slow, 'c0=18.3ms'].map((step, i) =>
    startEngine(['--jitter', '0.3', '--seed', String(i + 1), '--step-time', step], folder),
  ),
)
const [a, same, faster] = engines
const percent = (share) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)} %`

async function compare(name, b, runs) {
  const { stdout, stderr, code } = await plimsoll(
    ['compare', '--run', a.url, b.url, '--runs', String(runs), ...load.split(' ')],
    folder,
  )
  if (!stdout.startsWith('{')) throw new Error(`compare ended with ${code}: ${stderr}`)
  const [{ verdict, change, interval }] = JSON.parse(stdout).metrics
  const ends = interval.map(percent).join(', ')
  console.log(`${name}, ${runs} runs an arm: ${verdict}, ${percent(change)} [${ends}]`)
}

try {
  await compare('A against A', same, many)
  await compare('3.5 % apart', faster, 5)
  await compare('3.5 % apart', faster, many)
} finally {
  for (const engine of engines) await engine.stop()
  rmSync(folder, { recursive: true, force: true })
}
