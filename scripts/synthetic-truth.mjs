// An engine whose coefficients are known, measured over HTTP, fitted, and asked about three loads that the fit has not seen; then they
// are measured too. Five minutes, of which nobody else should want the machine.
//   node scripts/synthetic-truth.mjs [PRESET]
// One JSON document on stdout; npm run simulation makes the table of docs/simulation.md of it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const main = join(root, 'dist/cli/main.js')

/** None of them is a load of the calibration: other lengths, and arrivals that do not wait for answers. */
const loads = [
  { name: '1,024 in, 128 out', prompt: '1024', output: '128', users: 64 },
  {
    name: 'chat: 500 in, 120 out (medians)',
    prompt: 'lognormal median 500 p99 2500',
    output: 'lognormal median 120 p99 400',
    users: 64,
  },
  { name: '3,000 in, 60 out', prompt: '3000', output: '60', users: 24 },
]

function cli(args, cwd) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  // A run that its judge calls DEGRADED or INVALID is still a measurement: the table says what it was.
  if (stdout === '' || status === 2 || status === null)
    throw new Error(`plimsoll ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const { enginePreset } = await import('../dist/simulate/engine/presets.js')
const { lengthMoments, meanFieldWalls } = await import('../dist/simulate/calibrate/mean-field.js')
const { drawnLengths } = await import('../dist/simulate/calibrate/predict.js')
const { parseLength } = await import('../dist/flows/options/length-text.js')
const { parseDurationMs } = await import('../dist/base/units.js')

/** What the preset's own coefficients give, by the same formula and the same lengths as `model predict`. */
function capacityOfCoefficients(preset, prompt, output, tpot) {
  const lengths = drawnLengths({
    promptTokens: parseLength(prompt, 'prompt'),
    outputTokens: parseLength(output, 'output'),
    requests: 1000,
    seed: '1',
  })
  return meanFieldWalls(enginePreset(preset).config, lengthMoments(lengths), {
    tpotLimitMs: parseDurationMs(tpot),
  }).capacityPerSecond
}

export function syntheticTruth(preset = 'h100-8b', tpot = '20ms') {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-truth-'))
  const engine = ['--engine', `preset=${preset}`]
  try {
    const measured = cli(
      ['model', 'measure', ...engine, '--tpot', tpot, '--out', 'model.json', '--json', '--quiet'],
      folder,
    )
    const rows = loads.map(({ name, prompt, output, users }, i) => {
      const lengths = ['--prompt', prompt, '--output', output]
      const foretold = cli(
        ['model', 'predict', 'model.json', '--rate', '1/s', ...lengths, '--tpot', tpot, '--json'],
        folder,
      )
      const rate = 0.5 * foretold.capacity_per_s.value
      const measure = (kind, load) => {
        const out = `${kind}-${i}`
        const run = cli(['run', ...engine, ...load, ...lengths, '--out', out, '--json', '--quiet'], folder)
        return { kind, out, verdict: run.verdict.status }
      }
      const runs = [
        measure('closed', ['--concurrency', String(users), '--warmup', '5s', '--duration', '15s']),
        measure('open', ['--request-rate', rate.toFixed(2), '--warmup', '3s', '--duration', '17s']),
      ]
      const truth = capacityOfCoefficients(preset, prompt, output, tpot)
      return { name, users, rate, truth, foretold: foretold.capacity_per_s, runs }
    })
    const score = cli(
      ['model', 'score', 'model.json', ...rows.flatMap(({ runs }) => runs.map((run) => run.out)), '--json'],
      folder,
    )
    const model = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'))
    return { preset, tpot, measured, model, rows, score }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(syntheticTruth(process.argv[2]), null, 1))
}
