import { exitCodes, type ExitCode } from '../exit-codes.ts'
import type { Invocation } from '../verb.ts'
export function runDoctor(_: Invocation): Promise<ExitCode> {
  return Promise.resolve(exitCodes.fine)
}
