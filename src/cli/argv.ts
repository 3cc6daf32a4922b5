import { PlimsollError } from '../base/errors.ts'
import { nearest } from '../base/edit-distance.ts'
import type { FlagSpec, FlagSpecs } from './verb.ts'

/** Arguments as the parser wants them, and what has to be said about some that were dropped. */
export interface PreparedArguments {
  readonly args: readonly string[]
  readonly notices: readonly string[]
}

/** Stands for `--` among the arguments of a verb with two groups of them: no file has a name of this one control character. */
export const armSeparator = '\u001F'

const longFlag = /^--([a-z][\w.-]*)(?:=(.*))?$/is
const shortFlag = /^-([a-z])(.*)$/is
const enginePrefix = 'engine-'

/**
 * The pass before the parser: other tools' names and single letters become ours (`-r 6`, `-r6`, `-r=6`; `-qy` is `-q -y`), flags with
 * several values are repeated once a value, flags that need nothing here are dropped with a word, and `--engine-NAME VALUE` becomes
 * `--engine NAME=VALUE`. A name that nobody knows is left for the parser to refuse. With `separated`, `--` stands between two groups
 * of arguments and flags go on after it.
 */
export function prepareArguments(
  argv: readonly string[],
  flags: FlagSpecs,
  engineFlags: FlagSpecs,
  separated = false,
): PreparedArguments {
  const canonical = canonicalNames(flags)
  const words = [...argv]
  const args: string[] = []
  const notices: string[] = []
  let next = 0
  while (next < words.length) {
    const arg = words[next++]!
    if (arg === '--' && separated) {
      args.push(armSeparator)
      continue
    }
    if (arg === '--') return { args: [...args, ...words.slice(next - 1)], notices }
    const flag = flagOf(arg, flags, canonical)
    if (flag === null) {
      args.push(arg)
      continue
    }
    const { given, inline } = flag
    if (flag.more !== null) words.splice(next, 0, flag.more)
    const isEngine = flags['engine'] !== undefined && given.startsWith(enginePrefix)
    const name = isEngine ? 'engine' : canonical.get(given)
    const spec = name === undefined ? undefined : flags[name]
    if (name === undefined || spec === undefined) {
      args.push(arg)
      continue
    }
    if (spec.refused !== undefined) {
      // Without its value: it may be a key.
      throw new PlimsollError('PLIM_USAGE', `--${given} is said otherwise here`, { expected: spec.refused })
    }
    if (spec.ignored !== undefined) notices.push(`--${given} is accepted and not needed: ${spec.ignored}`)
    const setting = isEngine ? given.slice(enginePrefix.length) : null
    const values: string[] = inline === undefined ? [] : [inline]
    if (spec.alone !== undefined && inline === undefined) {
      values.push(spec.alone.unless.test(words[next] ?? '') ? words[next++]! : spec.alone.means)
    } else if (
      inline === undefined &&
      (setting === null ? spec.kind !== 'switch' : !isEngineSwitch(setting, engineFlags))
    ) {
      while (
        isValue(words[next], values.length, flags) &&
        (values.length === 0 || spec.manyValues === true)
      ) {
        values.push(words[next++]!)
      }
      if (values.length === 0) throw missingValue(given, spec)
    }
    if (inline === '' || values.includes(''))
      throw missingValue(given, spec, '"": is the variable that it comes from empty?')
    if (spec.ignored !== undefined) continue
    if (setting !== null) args.push(`--engine=${[setting, ...values].join('=')}`)
    else if (spec.kind === 'switch') args.push(inline === undefined ? `--${name}` : `--${name}=${inline}`)
    else for (const value of values) args.push(...flagWithValue(name, value))
  }
  return { args, notices }
}

/** A flag as it was written. */
interface WrittenFlag {
  /** Its long name, whichever of them. */
  readonly given: string
  /** The value that is written with it. */
  readonly inline: string | undefined
  /** The letters behind that of a switch, as a word of their own. */
  readonly more: string | null
}

/**
 * The flag of a word; null for a word that is none, or with a letter that nobody knows.
 * @throws PlimsollError PLIM_USAGE for a long name behind a single dash, and for a value behind the letter of a switch.
 */
function flagOf(arg: string, flags: FlagSpecs, names: ReadonlyMap<string, string>): WrittenFlag | null {
  const [, long, value] = longFlag.exec(arg) ?? []
  if (long !== undefined) return { given: long, inline: value, more: null }
  const [, letter, rest = ''] = shortFlag.exec(arg) ?? []
  if (letter === undefined) return null
  const given = calledBy(letter, flags)
  const [name = ''] = arg.slice(1).split('=', 1)
  if (names.has(name) && (name.length > 1 || given === null))
    throw new PlimsollError('PLIM_USAGE', `unknown flag -${name}; did you mean --${name}?`)
  if (given === null) return null
  if (rest === '' || rest.startsWith('='))
    return { given, inline: rest === '' ? undefined : rest.slice(1), more: null }
  if (flags[given]!.kind !== 'switch') return { given, inline: rest, more: null }
  if (rest.startsWith(helpLetter) || calledBy(rest[0]!, flags) !== null)
    return { given, inline: undefined, more: `-${rest}` }
  throw new PlimsollError('PLIM_USAGE', `-${letter} takes no value`, {
    expected: `-${letter}, or --${given}`,
    received: arg,
  })
}

/** The parser's own. */
const helpLetter = 'h'

function calledBy(letter: string, flags: FlagSpecs): string | null {
  return Object.keys(flags).find((name) => flags[name]!.letter === letter) ?? null
}

/** The first value may look like anything but a flag; further ones end at whatever begins with a dash. */
function isValue(arg: string | undefined, before: number, flags: FlagSpecs): boolean {
  if (arg === undefined) return false
  if (before > 0) return !arg.startsWith('-')
  const [, letter, rest] = shortFlag.exec(arg) ?? []
  return !arg.startsWith('--') && (letter === undefined || (rest !== '' && calledBy(letter, flags) === null))
}

// The parser reads `--name=value` up to the end of the line only.
function flagWithValue(name: string, value: string): string[] {
  return value.includes('\n') ? [`--${name}`, value] : [`--${name}=${value}`]
}

function isEngineSwitch(setting: string, engineFlags: FlagSpecs): boolean {
  const name = engineFlags[setting] === undefined && setting.startsWith('no-') ? setting.slice(3) : setting
  const spec = engineFlags[name]
  if (spec !== undefined) return spec.kind === 'switch'
  throw unknownSetting(setting, engineFlags)
}

/** What is said of a setting that the engine does not have. */
export function unknownSetting(setting: string, engineFlags: FlagSpecs): PlimsollError {
  const near = nearest(setting, Object.keys(engineFlags))
  return new PlimsollError('PLIM_USAGE', `the engine has no setting ${setting}`, {
    hint: near === null ? 'plimsoll engine --help lists them' : `did you mean --engine-${near}?`,
  })
}

function missingValue(flag: string, { placeholder, brief }: FlagSpec, received?: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `--${flag} needs a value`, {
    ...(placeholder !== undefined && { expected: `--${flag} ${placeholder}: ${brief}` }),
    ...(received !== undefined && { received }),
  })
}

/** Every name by which a flag may be called, and the one it is called here. */
export function canonicalNames(flags: FlagSpecs): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [name, spec] of Object.entries(flags)) {
    names.set(name, name)
    for (const alias of spec.aliases ?? []) names.set(alias, name)
  }
  return names
}
