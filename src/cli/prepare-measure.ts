import { parseCount, parseDurationMs, parsePercent } from '../base/units.ts'
import type { ModelMeasureConfig } from '../flows/model-measure.ts'
import { resolveRunConfig } from '../flows/options/resolve.ts'
import { mergeOptions } from '../flows/options/run-options.ts'
import { askedWalls } from '../simulate/calibrate/measurement-design.ts'
import { readConfigFile } from './config-file.ts'
import { checkEngineSettings } from './flags/engine-settings.ts'
import { oneOf, text } from './flags/flag-values.ts'
import { readRunFlags } from './flags/read-flags.ts'
import { flagsOver } from './flags/watched-flags.ts'
import type { Invocation } from './verb.ts'
import { type Voice, voiceOf } from './voice.ts'

const walls = Object.fromEntries(askedWalls.map((wall) => [wall, wall] as const))

/** Of the load that the wall is asked for, and of the measurement itself: not of a run's load. */
const ownFlags = ['prompt', 'output', 'max-duration', 'out', 'points'] as const

/** What a measurement for a model is asked, from flags, plimsoll.yaml and the address. */
export async function prepareMeasure(
  { flags, cli }: Invocation,
  url: string | null,
): Promise<{ readonly config: ModelMeasureConfig; readonly voice: Voice }> {
  const voice = voiceOf({ flags, cli })
  const given = flagsOver(flags, {
    ...Object.fromEntries(ownFlags.map((name) => [name, undefined])),
    ...(url === null ? {} : { url }),
  })
  const run = resolveRunConfig(mergeOptions(await readConfigFile(given, cli), readRunFlags(given)))
  await checkEngineSettings(run)
  const count = (name: string): number | null => {
    const value = text(flags, name)
    return value === undefined ? null : parseCount(value, `--${name}`, 1)
  }
  const tpot = text(flags, 'tpot')
  const gpu = text(flags, 'gpu') ?? null
  return {
    voice,
    config: {
      kind: 'measure',
      run,
      wall: oneOf(text(flags, 'wall') ?? 'capacity', '--wall', walls),
      prompt: text(flags, 'prompt') ?? '1024',
      output: text(flags, 'output') ?? '128',
      tpotLimitMs: tpot === undefined ? null : parseDurationMs(tpot, '--tpot'),
      points: count('points') ?? 16,
      maxDurationMs: parseDurationMs(text(flags, 'max-duration') ?? '110s', '--max-duration'),
      target: parsePercent(text(flags, 'within') ?? '5%', '--within'),
      gpu,
      // Alone the name of a model bounds nothing, and every server has one.
      model: gpu === null ? null : (text(flags, 'model') ?? null),
      gpus: count('gpus') ?? 1,
      maxNumSeqs: count('max-num-seqs'),
      maxNumBatchedTokens: count('max-num-batched-tokens'),
    },
  }
}
