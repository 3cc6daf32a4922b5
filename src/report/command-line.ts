import { shellLine } from '../base/shell-words.ts'
import { formatPlain } from '../base/units.ts'
import { printable } from './printable.ts'

/** A command line of plimsoll as it is printed: a shell reads it back, and a terminal takes nothing in it for orders. */
export function commandLine(...words: readonly string[]): string {
  return printable(shellLine(['plimsoll', ...words]))
}

/**
 * A plan for ten times what one replica carries, with a margin and a loss: numbers for whoever reads it to replace by their own.
 * @param basis A sweep's folder, or `--each RATE`.
 */
export function planCommand(
  basis: readonly string[],
  requestsPerS: number,
  more: readonly string[] = [],
): string {
  const peak = formatPlain(Number((10 * requestsPerS).toPrecision(1)))
  const usual = ['--peak', `${peak}/s`, '--margin', 'derate:20%', '--survive', '1']
  return commandLine('plan', ...basis, ...usual, ...more)
}
