// How long `show` takes on a run of 100,000 requests with 200 gaps each, and how much memory (budget: 3 s and 1 GB): reading, judging
// and printing, as the verb does it. Needs `npm run build` first; with a KEEP in the environment the folder stays.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shownRun } from '../dist/flows/show.js'
import { readRun } from '../dist/measure/record/read-run.js'
import { writeRun } from '../dist/measure/record/run-folder.js'
import { startManifest } from '../dist/measure/record/manifest.js'
import { streamedRow } from '../dist/measure/record/made-rows.js'
import { renderRun } from '../dist/report/render-run.js'
import { sfc32 } from '../dist/base/random.js'

const requests = Number(process.argv[2] ?? 100_000)
const gaps = Number(process.argv[3] ?? 200)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-show-'))

async function write() {
  const random = sfc32(1, 2, 3)
  const rows = []
  for (let index = 0; index < requests; index++) {
    const list = []
    for (let gap = 0; gap < gaps; gap++) list.push(8 + 6 * random.next())
    const plannedMs = index * 10 + random.next()
    const also = index % 50 === 0 ? { event_tokens: list.map(() => 1).concat(1) } : {}
    rows.push(
      streamedRow({ id: `r${index}`, plannedMs, ttftMs: 100 + 50 * random.next(), gapsMs: list }, also),
    )
  }
  const started = performance.now()
  await writeRun(
    folder,
    startManifest({
      name: 'bench',
      versions: { plimsoll: '0', node: process.version },
      config: {
        objectives: [
          { name: null, text: 'ttft < 500ms and tpot < 30ms', good: null, form: 'plimsoll', shedIsBad: true },
        ],
      },
      seed: '1',
      salt: null,
      pacer: { kind: 'poisson', ratePerSecond: 100 },
      workload: null,
      target: null,
      clock: { origin_monotonic_ns: 0, started_at: '' },
      planned: requests,
    }),
    rows,
  )
  const size = statSync(join(folder, 'requests.parquet')).size
  console.log(
    `written in ${((performance.now() - started) / 1000).toFixed(2)} s, ${(size / 1e6).toFixed(0)} MB`,
  )
}

if (process.argv[4] === undefined) {
  await write()
  const { spawnSync } = await import('node:child_process')
  spawnSync(process.execPath, [process.argv[1], String(requests), String(gaps), folder], { stdio: 'inherit' })
  if (process.env.KEEP) console.log(folder)
  else rmSync(folder, { recursive: true, force: true })
} else {
  const started = performance.now()
  const run = await readRun(process.argv[4])
  const read = performance.now()
  console.log(`read ${run.rows.length} rows in ${((read - started) / 1000).toFixed(2)} s`)
  const document = shownRun(run)
  const text = renderRun(document, { color: false, explain: false })
  const shown = performance.now()
  const gapCount = document.metrics.gaps_ms?.n
  console.log(
    `judged and printed ${gapCount} gaps in ${((shown - read) / 1000).toFixed(2)} s, ${text.length} characters`,
  )
  const { user, system } = process.cpuUsage()
  const peak = process.resourceUsage().maxRSS / 1024
  console.log(
    `together ${((shown - started) / 1000).toFixed(2)} s (budget 3 s), ${((user + system) / 1e6).toFixed(2)} s of CPU, peak ${peak.toFixed(0)} MiB (budget 1,000)`,
  )
}
