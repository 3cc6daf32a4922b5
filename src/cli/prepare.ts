import type { ExperimentConfig } from '../flows/experiment.ts'
import { resolveFindConfig, resolveRunConfig, resolveSweepConfig } from '../flows/options/resolve.ts'
import type { FindConfig, RunConfig, SweepConfig } from '../flows/options/run-config.ts'
import { mergeOptions, type SweepOptions } from '../flows/options/run-options.ts'
import { readConfigFile } from './config-file.ts'
import { checkEngineSettings } from './flags/engine-settings.ts'
import { readFindFlags } from './flags/read-find-flags.ts'
import { readRunFlags, readSweepFlags } from './flags/read-flags.ts'
import type { FlagSpecs, Invocation } from './verb.ts'
import { type Voice, voiceOf } from './voice.ts'

// What a verb that measures needs before it calls its flow. It is loaded only then: `--help` needs none of it.

export interface Prepared<C> {
  readonly config: C
  readonly voice: Voice
}

export type PreparedRun =
  | (Prepared<RunConfig> & { readonly kind: 'run' })
  | (Prepared<ExperimentConfig> & { readonly kind: 'experiment' })

/** What flags and plimsoll.yaml say together, complete and checked: one run, or several as an experiment. */
export async function prepareRunOrExperiment(
  { flags, cli }: Invocation,
  specs: FlagSpecs,
): Promise<PreparedRun> {
  const said = readRunFlags(flags)
  const file = await readConfigFile(flags, cli)
  const voice = voiceOf({ flags, cli })
  if (flags['repeat'] !== undefined || file.matrix !== undefined || file.repeat !== undefined) {
    const { prepareExperiment } = await import('./prepare-experiment.ts')
    const experiment = await prepareExperiment(flags, specs, file)
    if (experiment !== null) return { kind: 'experiment', config: experiment, voice }
  }
  const config = resolveRunConfig(mergeOptions(file, said))
  await checkEngineSettings(config)
  return { kind: 'run', config, voice }
}

export async function prepareSweep({ flags, cli }: Invocation): Promise<Prepared<SweepConfig>> {
  const said = readSweepFlags(flags)
  const file = await readConfigFile(flags, cli)
  const config = resolveSweepConfig(mergeOptions(file, said))
  await checkEngineSettings(config.run)
  const voice = voiceOf({ flags, cli })
  sayUnused(file, voice)
  return { config, voice }
}

export async function prepareFind({ flags, cli }: Invocation): Promise<Prepared<FindConfig>> {
  const said = readFindFlags(flags)
  // How long a run or a sweep's point measures, and how many points it has, is nothing to a search: it plans its own.
  const { maxPoints: _, pointDurationMs: __, durationMs: ___, ...file } = await readConfigFile(flags, cli)
  const config = resolveFindConfig(mergeOptions<SweepOptions>(file, said))
  await checkEngineSettings(config.run)
  const voice = voiceOf({ flags, cli })
  sayUnused(file, voice)
  return { config, voice }
}

/** What makes several runs of one is nothing to a sweep or a search; left out in silence it would be believed to have counted. */
function sayUnused({ matrix, repeat }: SweepOptions, voice: Voice): void {
  const unused = [...(matrix === undefined ? [] : ['matrix']), ...(repeat === undefined ? [] : ['repeat'])]
  if (unused.length > 0)
    voice.onNotice(`${unused.join(' and ')} of the file: not used here, plimsoll run has it`)
}
