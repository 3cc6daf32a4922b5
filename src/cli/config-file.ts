import type { SweepOptions } from '../flows/options/run-options.ts'
import type { CliContext, FlagValues } from './verb.ts'

/** What plimsoll.yaml says: the file of `--config`, else `./plimsoll.yaml` if it is there. */
export async function readConfigFile(flags: FlagValues, cli: CliContext): Promise<SweepOptions> {
  void flags
  void cli
  return {}
}
