// How fast `plimsoll import` reads, judges and writes result files of other tools, and in how much memory, for each format that has its
// requests in it. `node bench/import.mjs [MB] [NAME,…]`, NAME part of a file's name; needs `npm run build` first. With a KEEP in the
// environment files and run folders stay in that folder, and files that are there are not written again.
// Prints MB/s and the largest resident size of the verb for each.
import { spawn } from 'node:child_process'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resultFiles } from './import-files.mjs'

const megabytes = Number(process.argv[2] ?? 200)
const wanted = (process.argv[3] ?? '').split(',')

/** In pieces of a mebibyte: most pieces of a file are far smaller, and a write each would take longer than the import. */
async function write(file, pieces) {
  const out = createWriteStream(file)
  let bytes = 0
  let held = []
  let heldLength = 0
  const flush = async () => {
    if (!out.write(held.join(''))) await once(out, 'drain')
    held = []
    heldLength = 0
  }
  for (const piece of pieces(megabytes * 1e6, () => bytes)) {
    bytes += piece.length
    heldLength += piece.length
    held.push(piece)
    if (heldLength > 1 << 20) await flush()
  }
  await flush()
  out.end()
  await once(out, 'finish')
}

const verb = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const peak = `data:text/javascript,${encodeURIComponent('process.on("exit", () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}`))')}`

async function imported(file, out) {
  const started = performance.now()
  const importing = spawn(
    process.execPath,
    ['--import', peak, verb, 'import', file, '--out', out, '--json'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [document, said] = ['', '']
  importing.stdout.on('data', (data) => (document += data))
  importing.stderr.on('data', (data) => (said += data))
  await once(importing, 'close')
  return { document, said, ms: performance.now() - started }
}

const kept = process.env.KEEP
if (kept !== undefined) mkdirSync(kept, { recursive: true })
const folder = kept ?? mkdtempSync(join(tmpdir(), 'plimsoll-import-'))
try {
  for (const [name, pieces] of Object.entries(resultFiles)) {
    if (!wanted.some((part) => name.includes(part))) continue
    const file = join(folder, name)
    if (!existsSync(file)) await write(file, pieces)
    const { size } = statSync(file)
    const out = join(folder, `run-${name}`)
    rmSync(out, { recursive: true, force: true })
    const { document, said, ms } = await imported(file, out)
    if (document === '') {
      console.log(
        `${name}: ${(size / 1e6).toFixed(0)} MB, FAILED after ${(ms / 1000).toFixed(1)} s: ${said.trim().slice(-300)}`,
      )
      continue
    }
    if (kept !== undefined) writeFileSync(`${out}.document.json`, document)
    const { counts, metrics } = JSON.parse(document).runs[0].run
    console.log(
      `${name}: ${(size / 1e6).toFixed(0)} MB, ${counts.planned} requests, ${metrics.gaps_ms?.n ?? 0} gaps, ${(ms / 1000).toFixed(1)} s (${(size / 1e3 / ms).toFixed(0)} MB/s), peak RSS ${(Number(said.split('\n').at(-1)) / 1024).toFixed(0)} MiB`,
    )
    if (kept !== undefined) continue
    rmSync(out, { recursive: true })
    rmSync(file)
  }
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
}
