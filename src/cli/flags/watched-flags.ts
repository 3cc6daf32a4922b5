import { PlimsollError } from '../../base/errors.ts'
import type { FlagSpecs, FlagValues } from '../verb.ts'

/** Flags that know which of them were looked at. */
export interface WatchedFlags {
  readonly values: FlagValues
  /** Names that were given and that nobody has read so far, in the order in which they were given. */
  readonly unread: () => readonly string[]
}

/**
 * Watches who reads a flag: one that was given and that nothing reads would be accepted and ignored. Whoever takes all of them at
 * once (`...flags`) has read all of them; `flagsOver` passes them on unread.
 */
export function watchFlags(given: FlagValues): WatchedFlags {
  const read = new Set<string>()
  const values = new Proxy(given, {
    get(flags, name) {
      if (typeof name !== 'string') return undefined
      read.add(name)
      return flags[name]
    },
  })
  return { values, unread: () => Object.keys(given).filter((name) => !read.has(name)) }
}

/** The same flags, some of them said anew or, with undefined, left out; the others are read only when they are asked for. */
export function flagsOver(flags: FlagValues, over: FlagValues): FlagValues {
  return new Proxy(flags, {
    get: (under, name) =>
      typeof name !== 'string' ? undefined : Object.hasOwn(over, name) ? over[name] : under[name],
  })
}

/** What is read after the work, where it is printed; those that say when they are idle are read before. */
const outputGroups = new Set(['Output', 'In a pipeline'])

/**
 * Refuses what was given and was not read by the time that the work begins.
 * @throws PlimsollError PLIM_USAGE with the word that the flag's `idle` has about it.
 */
export function refuseIdleFlags(unread: readonly string[], specs: FlagSpecs): void {
  const name = unread.find((one) => {
    const spec = specs[one]
    return spec?.idle !== undefined || spec?.needs !== undefined || !outputGroups.has(spec?.group ?? '')
  })
  if (name === undefined) return
  const needed = specs[name]?.needs
  if (needed !== undefined && !unread.includes(needed)) {
    throw new PlimsollError('PLIM_USAGE', `--${name} says nothing without --${needed}`, {
      expected: `--${needed} beside --${name}`,
    })
  }
  throw new PlimsollError('PLIM_USAGE', `--${name} would say nothing beside what else was given`, {
    hint: specs[name]?.idle ?? 'leave it out, or ask one of the two alone',
  })
}

/** Flags of manners: a verb that has nothing to be quiet about need not ask. */
const manners = new Set(['quiet', 'progress', 'yes'])

/** A word on what nobody has read when all is done; null where there is nothing to say. */
export function idleNotice(unread: readonly string[]): string | null {
  const names = unread.filter((name) => !manners.has(name)).map((name) => `--${name}`)
  return names.length === 0 ? null : `${names.join(', ')} had no effect beside what else was given`
}
