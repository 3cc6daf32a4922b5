import { PlimsollError } from '../base/errors.ts'
import type { SweepOptions } from '../flows/options/run-options.ts'
import { isOn, text } from './flags/flag-values.ts'
import type { CliContext, FlagValues } from './verb.ts'

/** What plimsoll.yaml says: the file of `--config`, else `./plimsoll.yaml` if it is there, else nothing. */
export async function readConfigFile(flags: FlagValues, cli: CliContext): Promise<SweepOptions> {
  const asked = text(flags, 'config')
  const path = asked ?? 'plimsoll.yaml'
  const content = await cli.readFile(path)
  if (content === null) {
    if (asked === undefined) return {}
    throw new PlimsollError('PLIM_FILE', `there is no ${asked}`, {
      hint: `plimsoll init ${asked} writes one`,
    })
  }
  if (asked === undefined && isOn(flags, 'quiet') !== true) cli.stderr.write(`reading ${path}\n`)
  const { readConfig } = await import('../flows/options/read-config.ts')
  return readConfig(content, path)
}
