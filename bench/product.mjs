// The built command as the benches use it: as processes.
import { spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

export const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

function start(argv, cwd) {
  const child = spawn(process.execPath, [main, ...argv], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => (said[name] += text))
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...said }))
  })
  return { child, said, ended }
}

/** Runs it to its end. */
export function plimsoll(argv, cwd) {
  return start(argv, cwd).ended
}

/** `plimsoll engine` at a free port. */
export async function startEngine(argv, cwd) {
  const { child, said, ended } = start(['engine', '--port', '0', '--json', ...argv], cwd)
  await Promise.race([
    new Promise((resolve) => child.stdout.once('data', resolve)),
    ended.then(({ stderr }) => Promise.reject(new Error(`the engine ended: ${stderr}`))),
  ])
  const { url, clock } = JSON.parse(said.stdout)
  return {
    url,
    pid: child.pid,
    originNs: clock.origin_monotonic_ns,
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}

/** Rows of a run folder. */
export async function exportRows(folder, cwd) {
  const { stdout } = await plimsoll(['export', folder, '-q'], cwd)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Nearest rank. `values` need not be sorted. */
export function quantile(values, percent) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]
}
