import type { ErrorCode } from '../base/errors.ts'

/** What the exit code says; `docs/exit-codes.md` has the same table, and each is tested by a spawned process. */
export const exitCodes = {
  fine: 0,
  /** A fault of plimsoll. */
  fault: 1,
  /** A flag, a file, an address: something that the caller can put right. Nothing was measured. */
  usage: 2,
  /** An objective failed. */
  objectiveFailed: 3,
  /** A regression was found. */
  regression: 4,
  /** The measurement cannot be used: the verdict is INVALID, or nearly everything failed. */
  invalid: 5,
  /** Ended by Ctrl-C. What was measured until then is kept. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code of an error that stopped a verb. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  switch (code) {
    case 'PLIM_INTERNAL':
      return exitCodes.fault
    case 'PLIM_STOPPED':
      return exitCodes.invalid
    case 'PLIM_INTERRUPTED':
      return exitCodes.interrupted
    default:
      return exitCodes.usage
  }
}
