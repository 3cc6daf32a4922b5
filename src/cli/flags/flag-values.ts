import { PlimsollError } from '../../base/errors.ts'
import { nearest } from '../../base/edit-distance.ts'
import type { FlagValues } from '../verb.ts'

/** The value of a text flag, or undefined where it was not given. */
export function text(flags: FlagValues, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** All values of a list flag; none where it was not given. */
export function list(flags: FlagValues, name: string): readonly string[] {
  const value = flags[name]
  return Array.isArray(value) ? (value as readonly string[]) : []
}

/** Whether a switch is on; undefined where it was not given. */
export function isOn(flags: FlagValues, name: string): boolean | undefined {
  const value = flags[name]
  return typeof value === 'boolean' ? value : undefined
}

/** One of the words, or the words that it stands for. */
export function oneOf<T extends string>(value: string, flag: string, words: Readonly<Record<string, T>>): T {
  const found = Object.hasOwn(words, value) ? words[value] : undefined
  if (found !== undefined) return found
  const near = nearest(value, Object.keys(words))
  throw new PlimsollError('PLIM_USAGE', `${flag} cannot be "${value}"`, {
    expected: [...new Set(Object.values(words))].join(', '),
    ...(near === null ? {} : { hint: `did you mean ${near}?` }),
  })
}
