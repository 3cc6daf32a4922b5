import { PlimsollError } from '../base/errors.ts'
import { parseCount } from '../base/units.ts'
import type { PrefillConfig } from '../flows/prefill.ts'
import { readTypedPoints } from '../flows/prefill-points.ts'
import { parseTokens } from '../flows/options/load-limits.ts'
import { resolveRunConfig } from '../flows/options/resolve.ts'
import { mergeOptions } from '../flows/options/run-options.ts'
import { readConfigFile } from './config-file.ts'
import { checkEngineSettings } from './flags/engine-settings.ts'
import { list, text } from './flags/flag-values.ts'
import { readRunFlags } from './flags/read-flags.ts'
import type { Invocation } from './verb.ts'
import { type Voice, voiceOf } from './voice.ts'

/** What a prefill sweep is asked, from flags and plimsoll.yaml. */
export async function preparePrefill(
  invocation: Invocation,
): Promise<{ readonly config: PrefillConfig; readonly voice: Voice }> {
  const { flags, cli } = invocation
  const voice = voiceOf({ flags, cli })
  return { config: await configOf(invocation), voice }
}

async function configOf({ flags, args, cli }: Invocation): Promise<PrefillConfig> {
  const [path] = args
  const points = list(flags, 'points')
  const said = text(flags, 'chunk')
  const chunk = said === undefined ? null : parseCount(said, '--chunk', 1)
  if (path !== undefined && points.length > 0) {
    throw new PlimsollError('PLIM_USAGE', 'a file and --points are two sets of points', {
      expected: 'one of them',
    })
  }
  if (path !== undefined) return { kind: 'file', path, chunk }
  if (points.length > 0) return { kind: 'points', samples: readTypedPoints(points), chunk }
  const run = resolveRunConfig(mergeOptions(await readConfigFile(flags, cli), readRunFlags(flags)))
  await checkEngineSettings(run)
  const lengths = text(flags, 'lengths')
    ?.split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => parseTokens(part.trim(), '--lengths'))
  if (lengths !== undefined && new Set(lengths).size < 2) {
    throw new PlimsollError('PLIM_USAGE', 'a prefill rate needs two prompt lengths', {
      received: text(flags, 'lengths') ?? '',
    })
  }
  return {
    kind: 'measure',
    run,
    lengths: lengths === undefined ? null : [...new Set(lengths)],
    repeats: parseCount(text(flags, 'repeats') ?? '5', '--repeats', 1, 10_000),
    chunk,
  }
}
