import { PlimsollError, type TextPosition } from '../base/errors.ts'
import type { PositionedYaml } from '../base/positioned-yaml.ts'

/** An object as YAML has it. */
export type Json = Readonly<Record<string, unknown>>

/** What stands at a path of keys; undefined where it ends before. */
export function at(value: Json | undefined, ...path: readonly string[]): unknown {
  let here: unknown = value
  for (const key of path) here = (here as Json | undefined)?.[key]
  return here
}

/** Where a part of a file stands: an object or list of it, or what stands at a path in that. */
export type Place = (holder: unknown, ...path: readonly (string | number)[]) => TextPosition

/** The places in some documents, by the objects and lists that they hold. */
export function placesIn(documents: readonly PositionedYaml[]): Place {
  const known = new Map<unknown, (path: readonly (string | number)[]) => TextPosition>()
  const note = (value: unknown, path: readonly (string | number)[], where: PositionedYaml['where']): void => {
    if (typeof value !== 'object' || value === null || known.has(value)) return
    known.set(value, (below) => where([...path, ...below]))
    for (const [key, inner] of Object.entries(value))
      note(inner, [...path, Array.isArray(value) ? Number(key) : key], where)
  }
  for (const { value, where } of documents) note(value, [], where)
  return (holder, ...path) => known.get(holder)?.(path) ?? documents[0]?.where([]) ?? { file: '' }
}

export function refuse(
  where: TextPosition,
  message: string,
  expected?: string,
  received?: string,
): PlimsollError {
  return new PlimsollError('PLIM_CONFIG', message, { expected, received, where })
}

export function word(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
