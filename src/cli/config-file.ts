import { PlimsollError } from '../base/errors.ts'
import type { SweepOptions } from '../flows/options/run-options.ts'
import { isOn, text } from './flags/flag-values.ts'
import type { CliContext, FlagValues } from './verb.ts'

/** What plimsoll.yaml says: the file of `--config`, else `./plimsoll.yaml` if it is there, else nothing. */
export async function readConfigFile(flags: FlagValues, cli: CliContext): Promise<SweepOptions> {
  const found = await configText(flags, cli)
  if (found === null) return {}
  const { readConfig } = await import('../flows/options/read-config.ts')
  return readConfig(found.text, found.path)
}

/** Its text; null where there is none and none was asked for. Throws PLIM_FILE for one that was. */
export async function configText(
  flags: FlagValues,
  cli: CliContext,
): Promise<{ readonly path: string; readonly text: string } | null> {
  const asked = text(flags, 'config')
  const path = asked ?? 'plimsoll.yaml'
  const content = await cli.readFile(path)
  if (content === null) {
    if (asked === undefined) return null
    throw new PlimsollError('PLIM_FILE', `there is no ${asked}`, {
      hint: `plimsoll init ${asked} writes one`,
    })
  }
  if (asked === undefined && isOn(flags, 'quiet') !== true) cli.stderr.write(`reading ${path}\n`)
  return { path, text: content }
}
