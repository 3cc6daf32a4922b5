import { PlimsollError } from '../base/errors.ts'

/** An object as YAML has it. */
export type Json = Readonly<Record<string, unknown>>

/** What stands at a path of keys; undefined where it ends before. */
export function at(value: Json | undefined, ...path: readonly string[]): unknown {
  let here: unknown = value
  for (const key of path) here = (here as Json | undefined)?.[key]
  return here
}

export function refuse(file: string, message: string, expected?: string, received?: string): PlimsollError {
  return new PlimsollError('PLIM_CONFIG', message, {
    ...(expected === undefined ? {} : { expected }),
    ...(received === undefined ? {} : { received }),
    where: { file },
  })
}

export function word(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
