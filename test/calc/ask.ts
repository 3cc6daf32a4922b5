import { calculateLine as calc } from '../../src/flows/calculators.ts'

/** One figure of a line of `plimsoll calc`. */
export const value = (line: string, key: string): number | string | boolean | null => {
  const found = calc(line).results[key]
  if (found === undefined) throw new Error(`${line} has no ${key}`)
  return found.value
}

export const number = (line: string, key: string): number => value(line, key) as number

/** Several figures, under the names that the truths have. */
export const values = (line: string, keys: Readonly<Record<string, string>>): Record<string, unknown> => {
  const { results } = calc(line)
  return Object.fromEntries(
    Object.entries(keys).map(([as, key]) => {
      if (results[key] === undefined) throw new Error(`${line} has no ${key}`)
      return [as, results[key].value]
    }),
  )
}

/** `for ever` has no number; the truths write it as Infinity. */
export const orForEver = (line: string, key: string): unknown => value(line, key) ?? 'Infinity'

/** The sentence on what people get wrong. */
export const mistake = (line: string): string => calc(line).mistake ?? ''

/** Two numbers that belong together. */
export type Point = readonly [number, number]
