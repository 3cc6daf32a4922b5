import { PlimsollError } from '../base/errors.ts'
import { shellLine } from '../base/shell-words.ts'
import { parseCount, parsePercent } from '../base/units.ts'
import type { CompareConfig } from '../flows/compare-flow.ts'
import { comparedFigures, defaultMetrics } from '../flows/compare-figures.ts'
import type { CompareSettings } from '../flows/compare.ts'
import { defaultRules } from '../judge/compare-metric.ts'
import { nearest } from '../base/edit-distance.ts'
import { resolveRunConfig } from '../flows/options/resolve.ts'
import { mergeOptions } from '../flows/options/run-options.ts'
import { readConfigFile } from './config-file.ts'
import { armSeparator } from './argv.ts'
import { isOn, oneOf, text } from './flags/flag-values.ts'
import { readRunFlags } from './flags/read-flags.ts'
import { flagsOver } from './flags/watched-flags.ts'
import type { FlagValues, Invocation } from './verb.ts'
import { armsOf, metricsOf } from './verbs/compare.ts'
import { type Voice, voiceOf } from './voice.ts'

/** What a comparison is asked, from flags and plimsoll.yaml. */
export async function prepareCompare(
  invocation: Invocation,
): Promise<{ readonly config: CompareConfig; readonly voice: Voice }> {
  const { flags, cli } = invocation
  const voice = voiceOf({ flags, cli })
  return { config: await configOf(invocation), voice }
}

async function configOf(invocation: Invocation): Promise<CompareConfig> {
  const { flags, args } = invocation
  const csv = text(flags, 'csv')
  const ways = [csv !== undefined && '--csv', isOn(flags, 'run') && '--run', isOn(flags, 'plan') && '--plan']
  const [one, another] = ways.filter((way) => typeof way === 'string')
  if (one !== undefined && another !== undefined)
    throw new PlimsollError('PLIM_USAGE', `${one} and ${another} are two different questions`, {
      expected: 'one of them',
    })
  const settings = settingsOf(flags)
  if (csv !== undefined) {
    const [ignored] = args.filter((arg) => arg !== armSeparator)
    if (ignored !== undefined) {
      throw new PlimsollError('PLIM_USAGE', '--csv compares two columns of a file, and no runs', {
        expected: 'plimsoll compare --csv FILE, or plimsoll compare A… -- B…',
        received: ignored,
      })
    }
    return { kind: 'csv', path: csv, settings: { ...settings, ...csvSettings(flags) } }
  }
  if (isOn(flags, 'run') === true) return interleaved(invocation, settings)
  const arms = armsOf(invocation)
  if (isOn(flags, 'plan') === true) {
    const said = text(flags, 'effect')
    const effect = said === undefined ? settings.margin : parsePercent(said, '--effect')
    if (effect === 0) throw new PlimsollError('PLIM_USAGE', 'no number of runs shows an effect of 0')
    return { kind: 'plan', arms: [arms.a, arms.b], effect, settings }
  }
  if (arms.a.length === 0 || arms.b.length === 0) {
    const [first, second] = arms.a
    throw new PlimsollError('PLIM_USAGE', 'a comparison has two arms', {
      expected:
        arms.a.length === 2 && arms.b.length === 0
          ? shellLine(['plimsoll', 'compare', first!, '--', second!])
          : 'plimsoll compare A… -- B…',
      received: args.length === 0 ? 'nothing' : `${args.length} without -- between them`,
      hint: 'or --baseline DIR B…, --csv FILE, --run URL_A URL_B',
    })
  }
  return {
    kind: 'runs',
    a: { name: nameOf(arms.a), paths: arms.a },
    b: { name: nameOf(arms.b), paths: arms.b },
    settings,
  }
}

function nameOf(paths: readonly string[]): string {
  const [first = ''] = paths
  return paths.length === 1 ? first : `${first} and ${paths.length - 1} more`
}

function settingsOf(flags: FlagValues): CompareSettings {
  const share = (flag: string, otherwise: number): number => {
    const said = text(flags, flag)
    const value = said === undefined ? otherwise : parsePercent(said, `--${flag}`)
    if (value > 0 && value < 1) return value
    throw new PlimsollError('PLIM_USAGE', `--${flag} lies between 0 % and 100 %`, { received: said ?? '' })
  }
  const metrics = (metricsOf(flags) ?? defaultMetrics).map((name) => knownMetric(name, '--metrics'))
  const said = text(flags, 'primary')
  const primary = said === undefined ? null : knownMetric(said.replaceAll('-', '_'), '--primary')
  return {
    alpha: Number((1 - share('confidence', 1 - defaultRules.alpha)).toFixed(9)),
    margin: share('margin', defaultRules.margin),
    power: share('power', defaultRules.power),
    primary,
    metrics: primary === null || metrics.includes(primary) ? metrics : [primary, ...metrics],
  }
}

function knownMetric(name: string, flag: string): string {
  const names = comparedFigures.map(({ metric }) => metric)
  if (names.includes(name)) return name
  const near = nearest(name, names)
  throw new PlimsollError('PLIM_USAGE', `${flag} names no metric: ${name}`, {
    expected: names.join(', '),
    ...(near === null ? {} : { hint: `did you mean ${near}?` }),
  })
}

function csvSettings(flags: FlagValues): {
  readonly columns: readonly [string, string] | null
  readonly better: 'lower' | 'higher'
  readonly scale: 'log' | 'difference'
} {
  const said = text(flags, 'columns')
    ?.split(',')
    .map((name) => name.trim())
  if (said !== undefined && said.length !== 2) {
    throw new PlimsollError('PLIM_USAGE', '--columns names two columns', {
      received: said.join(','),
      expected: 'A,B',
    })
  }
  const [a, b] = said ?? []
  return {
    columns: a === undefined || b === undefined ? null : [a, b],
    better: oneOf(text(flags, 'better') ?? 'higher', '--better', { higher: 'higher', lower: 'lower' }),
    scale: oneOf(text(flags, 'scale') ?? 'difference', '--scale', { difference: 'difference', log: 'log' }),
  }
}

async function interleaved(
  { flags, args, cli }: Invocation,
  settings: CompareSettings,
): Promise<CompareConfig> {
  const [a, b, ...more] = args
  if (a === undefined || b === undefined || more.length > 0) {
    throw new PlimsollError('PLIM_USAGE', '--run takes the addresses of two servers', {
      expected: 'plimsoll compare --run URL_A URL_B',
      received: args.join(' ') || 'nothing',
    })
  }
  const { out } = flags
  const each = flagsOver(flags, { out: undefined })
  const said = mergeOptions(await readConfigFile(flags, cli), readRunFlags(each))
  const runs = parseCount(text(flags, 'runs') ?? '5', '--runs', 1)
  const config = (url: string): ReturnType<typeof resolveRunConfig> =>
    resolveRunConfig(mergeOptions(said, { url }))
  const first = config(a)
  return {
    kind: 'interleaved',
    a: first,
    b: config(b),
    runs,
    runsDir: first.runsDir,
    out: typeof out === 'string' ? out : null,
    settings,
  }
}
