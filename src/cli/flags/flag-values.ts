import { PlimsollError } from '../../base/errors.ts'
import { nearest } from '../../base/edit-distance.ts'
import { parseCount } from '../../base/units.ts'
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

/** A port to connect to, from 1, or to listen on, from 0: any free one. */
export function readPort(value: string, flag: string, least = 1): number {
  const port = parseCount(value, flag, least)
  if (port <= 65_535) return port
  throw new PlimsollError('PLIM_USAGE', `${flag} is not a port`, {
    expected: `${least} to 65535`,
    received: value,
  })
}
