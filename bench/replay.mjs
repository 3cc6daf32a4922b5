// Plans recorded traffic whole, each request with its body, from the traces in a folder: node bench/replay.mjs FOLDER
// Prints for each file its requests, its prompt tokens and how fast they were made. Nothing is sent.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokenCounter } from '../dist/measure/tokens/token-counter.js'
import { plainWords } from '../dist/measure/tokens/vocabulary.js'
import { contentMaker } from '../dist/measure/workload/request-content.js'
import { readTrace, tracePacer } from '../dist/measure/workload/trace.js'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error(
    'node bench/replay.mjs FOLDER   a folder with traces: .csv of Azure or BurstGPT, .jsonl of Mooncake',
  )
  process.exit(2)
}
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /trace.*\.(csv|jsonl)$/i.test(name),
)
for (const name of files.sort()) {
  const trace = readTrace(readFileSync(join(folder, name), 'utf8'), name)
  const pacer = tracePacer(trace, 1)
  const tokens = tokenCounter({
    kind: 'tokenizer',
    words: { words: plainWords, costs: 1, leadTokens: 1 },
    exact: true,
    basis: 'one token a word',
  })
  const started = performance.now()
  const content = contentMaker({
    workload: trace,
    api: 'completions',
    seed: 1,
    salt: 's',
    warmPrefix: false,
    tokens,
    maxModelLen: null,
  })
  let asked = 0
  let made = 0
  let bytes = 0
  trace.entries.forEach((entry, index) => {
    const { prompt, promptTokens } = content.at(index)
    asked += Math.max(entry.promptTokens, 9)
    made += promptTokens
    bytes += prompt.text.length
  })
  const seconds = (performance.now() - started) / 1000
  const hours = (pacer.timesMs.at(-1) / 3_600_000).toFixed(2)
  console.log(
    `${name}: ${trace.entries.length} requests over ${hours} h, ${made} prompt tokens (asked ${asked}), ${(bytes / 1e6).toFixed(0)} MB, ` +
      `made in ${seconds.toFixed(1)} s (${(made / seconds / 1e6).toFixed(1)} M tokens/s)`,
  )
}
