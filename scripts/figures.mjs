// node scripts/figures.mjs [--check]: the figures of docs/img, drawn from the recorded runs of examples/runs by the built dist/. With
// --check it only tells whether they are up to date (exit 1 if not).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const check = process.argv.includes('--check')
const dist = new URL('../dist/', import.meta.url)
const [{ showFlow }, { runFigures }, { sweepFigure }, { standaloneSvg }] = await Promise.all(
  ['flows/show.js', 'report/html-run.js', 'report/html-sweep.js', 'report/svg-figure.js'].map(
    (path) => import(new URL(path, dist)),
  ),
)
const runs = fileURLToPath(new URL('../examples/runs/', import.meta.url))
const { shown } = await showFlow([`${runs}evening`, `${runs}sweep`], {})
const [run, sweep] = shown
const { scatter, quantiles } = runFigures(run.document, run.rows)
const folder = new URL('../docs/img/', import.meta.url)
mkdirSync(folder, { recursive: true })
let stale = 0
for (const [name, figure] of Object.entries({
  'load-curve.svg': sweepFigure(sweep.document),
  'latency.svg': scatter,
  'percentiles.svg': quantiles,
})) {
  const path = new URL(name, folder)
  const text = standaloneSvg(figure)
  if (!check) {
    writeFileSync(path, text)
    continue
  }
  let before = null
  try {
    before = readFileSync(path, 'utf8')
  } catch {
    // Not there: stale.
  }
  if (before === text) continue
  console.error(`docs/img/${name} is not what the source draws: node scripts/figures.mjs`)
  stale++
}
if (stale > 0) process.exit(1)
console.log(check ? 'figures: up to date' : 'figures: drawn')
