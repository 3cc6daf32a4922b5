// All benches in one run, written to docs/benchmarks.md: the machine, a table of budgets with the worst news first, raw outputs.
//   npm run bench [-- --quick] [--vllm-python PATH] [--only NAME,NAME] [--out FILE]        needs `npm run build` first
// --quick leaves out what takes minutes (stall, idle-valid) and does fewer rounds.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchList } from './budgets.mjs'
import { page } from './page.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'vllm-python': { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    out: { type: 'string', default: fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url)) },
  },
})

const root = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  throw new Error('there is no dist/: run `npm run build` first')
}
const only = flags.only === '' ? null : new Set(flags.only.split(','))
const benches = benchList(flags).filter(({ name }) => only === null || only.has(name))
const results = []
for (const bench of benches) {
  if (flags.quick && bench.slow === true) {
    results.push({ bench, output: '', failure: null, skipped: true, busyBefore: null, seconds: 0 })
    continue
  }
  console.log(`\n## ${bench.name}`)
  results.push(await runBench(bench))
}
writeFileSync(
  flags.out,
  page({
    results,
    quick: flags.quick,
    machine: {
      cpu: os.cpus()[0]?.model ?? 'unknown',
      cores: os.availableParallelism(),
      memoryGib: os.totalmem() / 2 ** 30,
      system: `${os.type()} ${os.release()} ${os.arch()}`,
      node: process.version,
      version: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
      commit: commit(),
      date: new Date().toISOString().slice(0, 10),
    },
  }),
)
console.log(`\nwritten to ${flags.out}`)

/** Runs it as a process, so that no bench inherits another's heap; what it prints is shown and kept. */
async function runBench(bench) {
  const busyBefore = await busyShare(3000)
  const startMs = performance.now()
  const child = spawn(process.execPath, [...(bench.nodeFlags ?? []), ...bench.argv], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      process.stdout.write(text)
    })
  }
  const code = await new Promise((resolve) => child.once('close', resolve))
  return {
    bench,
    output,
    failure: code === 0 ? null : `it ended with ${code}`,
    skipped: false,
    busyBefore,
    seconds: (performance.now() - startMs) / 1000,
  }
}

/** The share of all cores that others use, over a while in which this process sleeps. A load average still holds the last bench. */
async function busyShare(ms) {
  const total = () =>
    os.cpus().reduce(
      ({ idle, all }, { times }) => ({
        idle: idle + times.idle,
        all: all + Object.values(times).reduce((sum, time) => sum + time, 0),
      }),
      { idle: 0, all: 0 },
    )
  const before = total()
  await new Promise((resolve) => setTimeout(resolve, ms))
  const after = total()
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all)
}

function commit() {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : null
}
