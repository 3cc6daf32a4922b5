#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { shellWord } from '../base/shell-words.ts'
import { runCli } from './app.ts'
import { printError } from './errors.ts'
import { exitCodes } from './exit-codes.ts'
import { processContext } from './process-context.ts'

// The only file that touches the process: everything else takes what it needs as arguments.

const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
const stop = new AbortController()
const context = processContext(process, version, stop.signal)

let interrupts = 0
function interrupt(): void {
  interrupts++
  if (interrupts > 1) {
    // Threads and child processes end with this one.
    const folder = context.folder()
    process.stderr.write(
      context.stopping() === '' || folder === null
        ? '\n'
        : `\nended at once: what was answered until then is kept → plimsoll show ${shellWord(folder)}\n`,
    )
    process.exit(exitCodes.interrupted)
  }
  const stopping = context.stopping()
  if (stopping === null) process.exit(exitCodes.interrupted)
  process.stderr.write(`\n${stopping}${stopping === '' ? '' : '\n'}`)
  stop.abort()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt)
// The terminal is gone (a lost connection): what was measured is kept. Without one, as under nohup, whose wish Node forgets, it goes on.
process.on('SIGHUP', [0, 1, 2].some((stream) => isatty(stream)) ? interrupt : () => undefined)

// The reader of a pipe went away (`plimsoll show … | head`): there is nobody left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.fine)
  process.exit(printError(error, context.cli))
})
// Nobody follows the progress any more, or it cannot be written: what is measured goes on.
process.stderr.on('error', () => undefined)

function bug(error: unknown): void {
  process.exit(printError(error, context.cli))
}
process.on('uncaughtException', bug)
process.on('unhandledRejection', bug)

process.exitCode = await runCli(process.argv.slice(2), context.cli)
