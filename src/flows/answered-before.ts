import { PlimsollError, restated } from '../base/errors.ts'
import { shellWord } from '../base/shell-words.ts'

/** Whether no connection can be made: of a server that answered before, that it went away. */
export function isGone(error: unknown): error is PlimsollError {
  return error instanceof PlimsollError && error.code === 'PLIM_CONNECT'
}

/** What a flow that measures several things has when its server goes away. */
export interface MeasuredBefore {
  /** "2 points", "run 1 of 6": what the server answered. */
  readonly done: string
  readonly folder: string
  /** The folder or run that `plimsoll show` tells it of. */
  readonly shown: string
  /** How to go on from there when it answers again, or null: only from the beginning. */
  readonly goOn: string | null
}

/**
 * The error of a flow whose server went away between two measurements: that it answered before, where that is kept, and how to go on.
 * Every other error is handed back as it is.
 */
export function goneAfter(error: unknown, { done, folder, shown, goOn }: MeasuredBefore): unknown {
  if (!isGone(error)) return error
  const { message, hint } = error
  const then = goOn === null ? 'then the same again' : `then ${goOn}`
  return restated(error, {
    message: `${message}; it answered before: ${done}`,
    where: { file: folder },
    hint: `what was measured: plimsoll show ${shellWord(shown)}${hint === undefined ? '' : `; to go on: ${hint}`}, ${then}`,
  })
}
