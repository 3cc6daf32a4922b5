// Rewrites the tables of docs/simulation.md between their marks.
//   npm run simulation [-- REAL_RUNS_DIR] [-- --no-measure]
// The measured table takes five minutes of a quiet machine, the others two; --no-measure leaves it as it is.
// Without REAL_RUNS_DIR (folders of real runs, each with meta.json and requests.jsonl, and workload-*.jsonl files beside them) the
// table of real runs stays as it is.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { syntheticTruth } from './synthetic-truth.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const page = join(root, 'docs/simulation.md')
const words = process.argv.slice(2)
const measure = !words.includes('--no-measure')
const [runsDir] = words.filter((word) => word !== '--no-measure')

function node(args) {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0 && status !== 3) throw new Error(`${args.join(' ')}: ${stderr}`)
  return stdout
}

const percent = (share) => {
  if (share === null || share === undefined) return '–'
  return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(100 * share).toFixed(1)} %`
}
const row = (cells) => `| ${cells.join(' | ')} |`

function realTable(folder) {
  const workloads = readdirSync(folder).filter((name) => /^workload-.*\.jsonl$/.test(name))
  const keys = ['ttft_mean', 'tpot_mean', 'e2e_mean', 'ttft_p99', 'e2e_p99', 'tpot_p90']
  const lines = [
    row(['run', 'by', ...keys.map((key) => key.replace('_', ' ')), 'idle TPOT left open']),
    row(['---', '---', ...keys.map(() => '---'), '---']),
  ]
  for (const name of readdirSync(folder).filter((entry) => existsSync(join(folder, entry, 'meta.json')))) {
    const model = /-(llama.*|qwen.*)$/.exec(name)?.[1] ?? name
    const workload = workloads.find((file) => file === `workload-${model}.jsonl`)
    if (workload === undefined) continue
    const document = JSON.parse(node(['scripts/real.mjs', join(folder, name), join(folder, workload)]))
    const { low, high } = document.open.idle_tpot_ms
    lines.push(
      row([
        name,
        'plimsoll',
        ...keys.map((key) => percent(document.errors[key])),
        `${low.toFixed(1)}–${high.toFixed(1)} ms`,
      ]),
    )
    const peer = document.errors_of_llmservingsim
    if (peer !== null)
      lines.push(row(['', 'LLMServingSim, of itself', ...keys.map((key) => percent(peer[key])), '']))
  }
  return lines.join('\n')
}

function stories() {
  const folder = join(root, 'examples/fleet')
  const lines = [row(['file', 'what it says']), row(['---', '---'])]
  for (const name of readdirSync(folder)) {
    const about = /^# (.*)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? ''
    const [headline] = node(['dist/cli/main.js', 'simulate', join('examples/fleet', name)]).split('\n')
    lines.push(row([`\`${name}\``, `${about} … *${headline}*`]))
  }
  return lines.join('\n')
}

function benchmark() {
  const lines = [
    row(['router', 'scheduler', 'requests', 'CPU s', 'requests a CPU-second']),
    row(['---', '---', '---', '---', '---']),
  ]
  const cases = [
    ...['random', 'round-robin', 'least-loaded', 'prefix-aware'].map((router) => [router, 'vllm', '1000000']),
    ...['async', 'drafts', 'sglang', 'static'].map((scheduler) => ['random', scheduler, '100000']),
  ]
  for (const [router, scheduler, requests] of cases) {
    const result = JSON.parse(node(['bench/fleet.mjs', requests, '2400', router, scheduler]))
    lines.push(row([router, scheduler, result.requests, result.cpuSeconds, Math.round(result.perCpuSecond)]))
  }
  return lines.join('\n')
}

/** Each unseen load: what came out of the full engine, and latencies at half of it; foretold, measured, error, inside or not. */
function syntheticTable() {
  const { measured, rows, score, tpot } = syntheticTruth()
  const figure = ({ value, low, high, measured: truth, error, inside }, unit) => {
    const digits = (number) => Number(number.toPrecision(3))
    return `${digits(value)} [${digits(low)}, ${digits(high)}] ${unit} · ${digits(truth)} · ${percent(error)}${inside ? '' : ', outside'}`
  }
  const lines = [row(['load', 'asked', 'foretold [90 %] · truth · error']), row(['---', '---', '---'])]
  for (const { name, users, rate, runs, truth, foretold } of rows) {
    const [closed, open] = runs
    const loop = score.closed_loops.find(({ run }) => run === closed.out)
    const coefficients = {
      ...foretold,
      measured: truth,
      error: foretold.value / truth - 1,
      inside: foretold.low <= truth && truth <= foretold.high,
    }
    lines.push(row([name, `capacity at TPOT ${tpot}, of its coefficients`, figure(coefficients, 'req/s')]))
    lines.push(row(['', `capacity, measured: ${users} users`, figure(loop.requests_per_s, 'req/s')]))
    const points = score.points.filter(({ run }) => run === open.out)
    for (const point of points) {
      const at = `${rate.toFixed(1)} req/s${points.length > 1 ? `, prompts near ${Math.round(point.prompt_tokens)} (${point.n})` : ''}`
      lines.push(row(['', `TTFT at ${at}`, figure(point.ttft_ms, 'ms')]))
      if (point.tpot_ms !== null) lines.push(row(['', `TPOT at ${at}`, figure(point.tpot_ms, 'ms')]))
    }
  }
  const { inside, of } = score.coverage
  const verdicts = rows.flatMap(({ runs }) => runs.map(({ verdict }) => verdict))
  return `${lines.join('\n')}\n\n${measured.points.length} points in ${Math.round(measured.seconds)} s of measuring; ${inside} of ${of} figures lie inside their 90 % interval; verdicts of the six runs: ${[...new Set(verdicts)].map((verdict) => `${verdicts.filter((one) => one === verdict).length} ${verdict}`).join(', ')}.`
}

let text = readFileSync(page, 'utf8')
function put(mark, table) {
  const pattern = new RegExp(`(<!-- ${mark} -->\n)[^]*?(<!-- end -->)`)
  if (!pattern.test(text)) throw new Error(`docs/simulation.md has no mark ${mark}`)
  text = text.replace(pattern, (_, before, after) => `${before}${table}\n${after}`)
}
if (runsDir !== undefined) put('real', realTable(runsDir))
if (measure) put('synthetic', syntheticTable())
put('stories', stories())
put('benchmark', benchmark())
writeFileSync(page, text)
