import { describeError, PlimsollError } from '../base/errors.ts'
import { systemError } from '../base/system-errors.ts'
import { printable } from '../report/printable.ts'
import { exitCodeOfError, exitCodes, type ExitCode } from './exit-codes.ts'
import type { CliContext } from './verb.ts'

/** Prints an error that stopped a verb on stderr; the exit code comes back. */
export function printError(error: unknown, cli: Pick<CliContext, 'stderr' | 'version'>): ExitCode {
  const known =
    error instanceof PlimsollError && error.code !== 'PLIM_INTERNAL'
      ? error
      : systemError(error, 'a file or the output')
  if (known !== null) {
    // What a server or a file said may be in it.
    const lines = describeError(known).split('\n').map(printable)
    cli.stderr.say(`${lines.join('\n')}\n`)
    return exitCodeOfError(known.code)
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  cli.stderr.write(
    `PLIM_INTERNAL  this is a fault of plimsoll ${cli.version}, not of your server\n${stack.replace(/^/gm, '  ')}\n` +
      '  please report it with the command line and these lines\n',
  )
  return exitCodes.fault
}
