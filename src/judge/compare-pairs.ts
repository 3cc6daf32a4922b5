/** What pairs a run with one of the other arm. */
export interface PairingRun {
  /** Said by `--tag block=…`, by an interleaved comparison, or the load of a sweep's point. */
  readonly block: string | null
  readonly seed: string | null
}

/** How runs of two arms belong together. */
export type Pairing =
  | {
      readonly kind: 'paired'
      readonly by: 'block' | 'seed'
      readonly keys: readonly string[]
      /** For each key, the index of its run in A and in B. */
      readonly indices: readonly (readonly [a: number, b: number])[]
      readonly why: string
    }
  | { readonly kind: 'unpaired'; readonly why: string }

/**
 * Pairs runs by block, else by seed: only when each key occurs once in each arm and no run is left over, so that nothing is dropped
 * to make pairs. The same seed means the same prompts, lengths and arrivals, which takes their variance out of the difference.
 */
export function pairRuns(a: readonly PairingRun[], b: readonly PairingRun[]): Pairing {
  for (const by of ['block', 'seed'] as const) {
    const inA = keyed(a, by)
    const inB = keyed(b, by)
    if (inA === null || inB === null || inA.size !== inB.size) continue
    const keys = [...inA.keys()]
    if (keys.length === 0 || !keys.every((key) => inB.has(key))) continue
    return {
      kind: 'paired',
      by,
      keys,
      indices: keys.map((key) => [inA.get(key) ?? 0, inB.get(key) ?? 0]),
      why: `each ${by} was run once in each arm`,
    }
  }
  return { kind: 'unpaired', why: unpairedBecause(a, b) }
}

function keyed(runs: readonly PairingRun[], by: 'block' | 'seed'): Map<string, number> | null {
  const keys = new Map<string, number>()
  for (const [index, run] of runs.entries()) {
    const key = run[by]
    if (key === null || key === '' || keys.has(key)) return null
    keys.set(key, index)
  }
  return keys
}

function unpairedBecause(a: readonly PairingRun[], b: readonly PairingRun[]): string {
  const seeds = new Set([...a, ...b].map(({ seed }) => seed))
  if (seeds.size === 1 && a.length + b.length > 2) {
    return 'all runs have the same seed, so no run of A belongs to one of B'
  }
  return a.length === b.length
    ? 'the seeds of the two arms are not the same'
    : `${a.length} and ${b.length} runs do not make pairs`
}
