// Fits the simulator to the first requests of a run of a real vLLM server and predicts the rest of them.
//   npm run real -- RUN_DIR WORKLOAD [--fit-on N]
// RUN_DIR has meta.json and requests.jsonl; WORKLOAD has a line for each request. One JSON document on stdout; errors are
// signed shares, predicted ÷ measured − 1, over the requests that the fit did not see.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const { readRealRun } = await import('../dist/simulate/calibrate/real-run.js')
const { defaultFitRunOptions, fitRun } = await import('../dist/simulate/calibrate/fit-run.js')
const { realRunDocument } = await import('../dist/simulate/calibrate/real-run-document.js')
const { describeError } = await import('../dist/base/errors.js')

const args = process.argv.slice(2)
const at = args.indexOf('--fit-on')
const fitOn = at < 0 ? defaultFitRunOptions.fitOn : Number(args.splice(at, 2)[1])
const [runDir, workload] = args
if (runDir === undefined || workload === undefined || args.length > 2 || !(fitOn >= 1)) {
  console.error('usage: npm run real -- RUN_DIR WORKLOAD [--fit-on N]')
  process.exit(2)
}

try {
  const text = (file) => ({ file, text: readFileSync(file, 'utf8') })
  const run = readRealRun({
    meta: text(join(runDir, 'meta.json')),
    requests: text(join(runDir, 'requests.jsonl')),
    workload: text(workload),
  })
  const peer = join(runDir, 'llmservingsim-summary.txt')
  const document = realRunDocument(
    run,
    fitRun(run, { ...defaultFitRunOptions, fitOn: Math.min(fitOn, Math.floor(run.requests.length / 2)) }),
    existsSync(peer) ? readFileSync(peer, 'utf8') : null,
  )
  console.log(JSON.stringify(document, null, 1))
} catch (error) {
  console.error(error.name === 'PlimsollError' ? describeError(error) : error.message)
  process.exit(error.name === 'PlimsollError' || error.code === 'ENOENT' ? 2 : 1)
}
