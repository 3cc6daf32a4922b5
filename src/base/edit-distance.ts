/** How `nearest` looks. */
export interface NearestOptions {
  /** Edits that are still near; a quarter of the word's length and at least one, unless given. */
  readonly most?: number
  /** Names that are also known by their last part ("meta-llama/Llama-3.1-8B" as "Llama-3.1-8B"), behind this mark. */
  readonly shortAfter?: string
}

/**
 * The candidate that was probably meant: the least `editDistance`, one for a candidate that begins with the word (of three letters or
 * more). Letters count as they are written. Null where nothing is near; of equals, the first.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  { most = Math.max(1, Math.floor(word.length / 4)), shortAfter }: NearestOptions = {},
): string | null {
  let best: string | null = null
  let bestDistance = most + 1
  for (const candidate of candidates) {
    const short =
      shortAfter === undefined ? candidate : candidate.slice(candidate.lastIndexOf(shortAfter) + 1)
    const begins = word.length >= 3 && (candidate.startsWith(word) || short.startsWith(word))
    const distance = begins ? 1 : Math.min(editDistance(word, candidate), editDistance(word, short))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (Damerau's optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, beforeLast[j - 2]! + 1)
      }
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
