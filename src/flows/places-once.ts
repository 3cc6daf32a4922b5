import { realpath } from 'node:fs/promises'
import type { PlimsollError } from '../base/errors.ts'

/**
 * The real place of each path, with the path that it was given by: a link and its folder are one place.
 * @throws what `twice` makes of a place that is given a second time, and would count as two.
 */
export async function placesOnce(
  paths: readonly string[],
  twice: (first: string, again: string) => PlimsollError,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const path of paths) {
    const place = await realpath(path).catch(() => path)
    const first = found.get(place)
    if (first !== undefined) throw twice(first, path)
    found.set(place, path)
  }
  return found
}

/** "k1", or "k1 and links/k1": what was given twice, in the words of the user. */
export function namedTwice(first: string, again: string): string {
  return first === again ? again : `${first} and ${again}`
}
