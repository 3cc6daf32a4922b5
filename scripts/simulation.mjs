// Rewrites the tables of docs/simulation.md between their marks.
//   npm run simulation [-- REAL_RUNS_DIR]
// Without REAL_RUNS_DIR (folders of real runs, each with meta.json and requests.jsonl, and workload-*.jsonl files beside them) the
// table of real runs stays as it is.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const page = join(root, 'docs/simulation.md')
const [runsDir] = process.argv.slice(2)

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
    ...['random', 'round-robin', 'least-loaded'].map((router) => [router, 'vllm', '400000']),
    ...['async', 'drafts', 'sglang', 'static'].map((scheduler) => ['random', scheduler, '100000']),
  ]
  for (const [router, scheduler, requests] of cases) {
    const result = JSON.parse(node(['bench/fleet.mjs', requests, '2400', router, scheduler]))
    lines.push(row([router, scheduler, result.requests, result.cpuSeconds, Math.round(result.perCpuSecond)]))
  }
  return lines.join('\n')
}

let text = readFileSync(page, 'utf8')
function put(mark, table) {
  const pattern = new RegExp(`(<!-- ${mark} -->\n)[^]*?(<!-- end -->)`)
  if (!pattern.test(text)) throw new Error(`docs/simulation.md has no mark ${mark}`)
  text = text.replace(pattern, (_, before, after) => `${before}${table}\n${after}`)
}
if (runsDir !== undefined) put('real', realTable(runsDir))
put('stories', stories())
put('benchmark', benchmark())
writeFileSync(page, text)
