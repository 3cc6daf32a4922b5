import { PlimsollError } from '../base/errors.ts'
import type { FlagSpec, FlagSpecs } from './verb.ts'

/** Arguments as the parser wants them, and what has to be said about some that were dropped. */
export interface PreparedArguments {
  readonly args: readonly string[]
  readonly notices: readonly string[]
}

const flagPattern = /^--([a-z][\w.-]*)(?:=(.*))?$/is
const engineFlag = /^engine-(?=.)/

/**
 * The pass before the parser: other tools' names become ours, flags with several values are repeated once a value, flags that
 * need nothing here are dropped with a word, and `--engine-NAME VALUE` becomes `--engine NAME=VALUE`. A name that nobody knows is
 * left for the parser to refuse.
 */
export function prepareArguments(
  argv: readonly string[],
  flags: FlagSpecs,
  engineFlags: FlagSpecs,
): PreparedArguments {
  const canonical = canonicalNames(flags)
  const args: string[] = []
  const notices: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i]!
    if (arg === '--') {
      args.push(...argv.slice(i))
      break
    }
    const match = flagPattern.exec(arg)
    const letter = match === null && /^-[a-z]$/i.test(arg) ? arg.slice(1) : undefined
    const given = match?.[1] ?? (letter === undefined ? undefined : nameOfLetter(flags, letter))
    if (given === undefined) {
      args.push(arg)
      continue
    }
    const inline = match?.[2]
    if (inline === '') throw missingValue(`--${given}`)
    const values: string[] = inline === undefined ? [] : [inline]
    const take = (): void => {
      const next = argv[i + 1]
      if (next !== undefined && !/^-(-|[a-z]$)/i.test(next)) {
        values.push(next)
        i++
      }
    }
    if (engineFlag.test(given) && flags['engine'] !== undefined) {
      const name = given.replace(engineFlag, '')
      const isSwitch =
        engineFlags[name]?.kind === 'switch' ||
        (name.startsWith('no-') && engineFlags[name.slice(3)]?.kind === 'switch')
      if (values.length === 0 && !isSwitch) take()
      if (!isSwitch && values.length === 0 && engineFlags[name] !== undefined)
        throw missingValue(`--${given}`)
      args.push(`--engine=${values.length === 0 ? name : `${name}=${values[0]!}`}`)
      continue
    }
    const name = canonical.get(given)
    if (name === undefined) {
      args.push(arg)
      continue
    }
    const spec = flags[name]!
    if (spec.kind === 'switch') {
      if (spec.ignored === undefined) args.push(inline === undefined ? `--${name}` : `--${name}=${inline}`)
    } else {
      if (values.length === 0) take()
      if (values.length === 0) throw missingValue(`--${given}`, spec)
      while (spec.manyValues === true && inline === undefined && hasValue(argv[i + 1])) take()
      if (spec.ignored === undefined) for (const value of values) args.push(`--${name}=${value}`)
    }
    if (spec.ignored !== undefined) notices.push(`--${given} is accepted and not needed: ${spec.ignored}`)
  }
  return { args, notices }
}

function hasValue(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith('-')
}

function missingValue(flag: string, spec?: FlagSpec): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `${flag} needs a value`, {
    ...(spec?.placeholder === undefined ? {} : { expected: `${flag} ${spec.placeholder}: ${spec.brief}` }),
  })
}

function nameOfLetter(flags: FlagSpecs, letter: string): string | undefined {
  return Object.keys(flags).find((name) => flags[name]!.letter === letter)
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
