import { PlimsollError } from '../base/errors.ts'
import type { CliContext } from './verb.ts'

/** The paths that were given, else the newest run of `./runs`. */
export async function pathsOrNewest(
  args: readonly string[],
  cli: CliContext,
  kinds: 'runs' | 'shown' = 'runs',
): Promise<readonly string[]> {
  if (args.length > 0) return args
  const newest = await cli.newestRun('runs', kinds)
  if (newest !== null) return [newest]
  throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no run in ./runs', { hint: 'plimsoll run makes one' })
}
