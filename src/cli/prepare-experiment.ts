import { PlimsollError } from '../base/errors.ts'
import { parseCount } from '../base/units.ts'
import type { CellConfig, ExperimentConfig } from '../flows/experiment.ts'
import { nearest } from '../base/edit-distance.ts'
import { resolveRunConfig } from '../flows/options/resolve.ts'
import { mergeOptions, type SweepOptions } from '../flows/options/run-options.ts'
import { canonicalNames } from './argv.ts'
import { checkEngineSettings } from './flags/engine-settings.ts'
import { text } from './flags/flag-values.ts'
import { readRunFlags } from './flags/read-flags.ts'
import { flagsOver } from './flags/watched-flags.ts'
import type { FlagSpecs, FlagValues } from './verb.ts'

/** The most runs of one experiment: more is a mistyped matrix. */
const mostRuns = 1000

/**
 * What `--repeat` and the file's `matrix` and `repeat` make of a run; null where it is a single one. The keys of the matrix are
 * flags of `run`; every combination is checked before the first is sent.
 */
export async function prepareExperiment(
  flags: FlagValues,
  specs: FlagSpecs,
  file: SweepOptions,
): Promise<ExperimentConfig | null> {
  const { matrix = {}, repeat: fileRepeat, ...base } = file
  const said = text(flags, 'repeat')
  const repeat = said === undefined ? (fileRepeat ?? 1) : parseCount(said, '--repeat', 1)
  const cells: CellConfig[] = []
  const combinations = combine(Object.entries(matrix))
  if (combinations.length * repeat > mostRuns) {
    throw new PlimsollError('PLIM_USAGE', 'the experiment has too many runs', {
      expected: `at most ${mostRuns}`,
      received: `${combinations.length} combinations × ${repeat}`,
    })
  }
  if (repeat === 1 && combinations.length === 1 && Object.keys(matrix).length === 0) return null
  for (const settings of combinations) {
    const options = readRunFlags(flagsOver(flags, flagsOf(settings, flags, specs)))
    const config = resolveRunConfig(mergeOptions(base, options))
    await checkEngineSettings(config)
    if (config.salt !== null) {
      throw new PlimsollError('PLIM_USAGE', 'a fixed salt makes the second run meet a warm cache', {
        expected: 'no --salt with --repeat or a matrix: each run has its own',
      })
    }
    cells.push({ settings, config })
  }
  return { cells, repeat }
}

type Setting = readonly [flag: string, values: readonly (string | number | boolean)[]]

/** Every combination, the last setting changing fastest. */
export function combine(settings: readonly Setting[]): readonly Readonly<Record<string, string>>[] {
  let all: Record<string, string>[] = [{}]
  for (const [flag, values] of settings) {
    all = all.flatMap((before) => values.map((value) => ({ ...before, [flag]: String(value) })))
  }
  return all
}

function flagsOf(
  settings: Readonly<Record<string, string>>,
  flags: FlagValues,
  specs: FlagSpecs,
): FlagValues {
  const canonical = canonicalNames(specs)
  const made: Record<string, string | readonly string[] | boolean> = {}
  for (const [given, value] of Object.entries(settings)) {
    const name = canonical.get(given)
    const spec = name === undefined ? undefined : specs[name]
    if (name === undefined || spec === undefined || (spec.ignored ?? spec.refused) !== undefined) {
      const near = nearest(given, [...canonical.keys()])
      throw new PlimsollError('PLIM_CONFIG', `matrix: there is no flag --${given}`, {
        expected: 'flags of plimsoll run without their dashes',
        ...(near === null ? {} : { hint: `did you mean ${near}?` }),
      })
    }
    if (flags[name] !== undefined) {
      throw new PlimsollError('PLIM_USAGE', `--${name} and the matrix both say it`, {
        expected: 'one of them',
      })
    }
    made[name] = spec.kind === 'switch' ? value === 'true' : spec.kind === 'list' ? [value] : value
  }
  return made
}
