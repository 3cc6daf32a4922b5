// npm run test:real: plimsoll against servers that nobody here wrote, as far as they can be had (docs/real-servers.md).
//   node scripts/test-real.mjs [--llama-server PATH] [--model GGUF] [--vllm-python PATH] [--transformers-python PATH]
//                              [--only NAME] [--no-build] [--keep] [--verbose]
// llama-server is built into .real/ where it is not there and the tools for it are; the others need a Python that has them.
// Prints a line a check and ends with `N passed, N failed`; a server that cannot be had is skipped and says why.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { llamaServer, transformersServer, vllmServer } from './real/engines.mjs'
import { makeVocabulary } from './real/made-up-model.mjs'
import { tryEngine } from './real/try-engine.mjs'

const { values: flags } = parseArgs({
  options: {
    'llama-server': { type: 'string' },
    model: { type: 'string' },
    'vllm-python': { type: 'string' },
    'transformers-python': { type: 'string' },
    only: { type: 'string' },
    'no-build': { type: 'boolean' },
    keep: { type: 'boolean' },
    verbose: { type: 'boolean' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(join(root, 'dist'))) {
  console.error('there is no dist/: run `npm run build` first')
  process.exit(2)
}
const cache = join(root, '.real')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'runs-'))
const say = (text) => console.log(text)
const { plainWords } = await import(new URL('../dist/measure/tokens/vocabulary.js', import.meta.url).href)
const vocabulary = makeVocabulary(plainWords)
const cached = join(cache, 'vllm', 'bin', 'python')
const python = flags['vllm-python'] ?? (existsSync(cached) ? cached : undefined)

const makers = {
  'llama-server': () =>
    llamaServer({
      cache,
      vocabulary,
      server: flags['llama-server'],
      model: flags.model,
      mayBuild: flags['no-build'] !== true,
      say,
    }),
  vllm: () => vllmServer({ cache, vocabulary, python }),
  transformers: () =>
    transformersServer({ cache, vocabulary, python: flags['transformers-python'] ?? python }),
}

let [passed, failed] = [0, 0]
for (const [key, make] of Object.entries(makers)) {
  if (flags.only !== undefined && flags.only !== key) continue
  try {
    const engine = make()
    if (engine.skipped !== undefined) {
      say(`skip  ${engine.name}: ${engine.skipped}`)
      continue
    }
    await tryEngine(engine, {
      folder,
      log: join(cache, `${key}.log`),
      say: (text) => flags.verbose === true && say(text),
      check(sentence, holds, seen) {
        say(`${holds ? 'pass' : 'FAIL'}  ${engine.name} ${sentence}`)
        if (!holds) say(`      ${typeof seen === 'string' ? seen : JSON.stringify(seen)}`)
        if (holds) passed++
        else failed++
      },
    })
  } catch (error) {
    failed++
    say(`FAIL  ${key}: ${error.message}`)
  }
}
if (flags.keep === true) say(`kept ${folder}`)
else rmSync(folder, { recursive: true })
say(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
