import type { Input } from '../../stats/calculators/inputs.ts'
import type { FlagSpecs, FlagValues } from '../verb.ts'

/** Inputs of a calculation or an experiment as flags, so that help and typos work as everywhere. */
export function inputFlags(inputs: Readonly<Record<string, Input<unknown>>>): FlagSpecs {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { placeholder, brief, also, many, fallback }]) => [
      name,
      {
        kind: 'list',
        group: 'Numbers',
        brief,
        placeholder,
        ...(also.length === 0 ? {} : { aliases: also }),
        ...(many ? { manyValues: true as const } : {}),
        ...(fallback === null ? {} : { default: fallback }),
      },
    ]),
  )
}

/** The texts that were given for them. */
export function inputTexts(flags: FlagValues): Readonly<Record<string, readonly string[]>> {
  const texts: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(flags)) {
    if (typeof value === 'string') texts[name] = [value]
    else if (Array.isArray(value)) texts[name] = value as readonly string[]
  }
  return texts
}
