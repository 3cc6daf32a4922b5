import type { FlagSpecs } from '../verb.ts'

/** Some flags of a group, where a verb has no use for the others. */
export function pickFlags(flags: FlagSpecs, names: readonly string[]): FlagSpecs {
  return Object.fromEntries(names.map((name) => [name, flags[name]!]))
}
