// Runs the command lines of examples/commands and compares what they print with what is checked in. Each folder holds `command`
// (a sentence, then the line), `stdout`, and where they are not empty or zero `stderr` and `exit`. They run in examples/.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const folder = join(here, 'commands')
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

/** Every example, by name. */
export function readExamples() {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const lines = readFileSync(join(folder, name, 'command'), 'utf8')
        .trim()
        .split('\n')
      const line = lines.at(-1) ?? ''
      return { name, what: lines.slice(0, -1).join(' ').replace(/^# /, ''), line, argv: words(line).slice(1) }
    })
}

/** What the line prints now. */
export function runExample(example) {
  const env = { PATH: process.env.PATH, HOME: here, TZ: 'UTC', LANG: 'C', NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, ...example.argv],
      { cwd: here, env, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ stdout, stderr, exit: error === null ? 0 : (error.code ?? -1) })
      },
    )
  })
}

/** What it should print. */
export function expectedOf({ name }) {
  const read = (file, otherwise) => {
    const path = join(folder, name, file)
    return existsSync(path) ? readFileSync(path, 'utf8') : otherwise
  }
  return { stdout: read('stdout', ''), stderr: read('stderr', ''), exit: Number(read('exit', '0')) }
}

/** Makes what it prints now what it should print. */
export function writeExpected({ name }, { stdout, stderr, exit }) {
  const put = (file, text) => {
    const path = join(folder, name, file)
    if (text === '') rmSync(path, { force: true })
    else writeFileSync(path, text)
  }
  put('stdout', stdout)
  put('stderr', stderr)
  put('exit', exit === 0 ? '' : `${exit}\n`)
}

/** The words of a command line as a shell reads the quotes used here: single, double, none. */
export function words(line) {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
  )
}
