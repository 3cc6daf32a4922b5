import type { FlagSpecs } from '../verb.ts'

/** Flags with the word on when they would say nothing. */
export function idleFlags(flags: FlagSpecs, idle: string): FlagSpecs {
  return Object.fromEntries(Object.entries(flags).map(([name, spec]) => [name, { ...spec, idle }]))
}

/** Some flags of a group, where a verb has no use for the others. */
export function pickFlags(flags: FlagSpecs, names: readonly string[]): FlagSpecs {
  return Object.fromEntries(names.map((name) => [name, flags[name]!]))
}
