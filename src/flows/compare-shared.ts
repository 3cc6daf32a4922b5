import { realpath } from 'node:fs/promises'
import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import { runPaths } from './compare-arms.ts'

/**
 * The word on runs that stand in both arms: what is shown then says nothing of two deployments. Null where there are none.
 * @throws PlimsollError PLIM_USAGE for a run that stands twice in one arm: it would count as two.
 */
export async function sharedRuns(a: readonly string[], b: readonly string[]): Promise<Warning | null> {
  const inA = await onceEach(a, 'A')
  const inB = await onceEach(b, 'B')
  const both = [...inA].filter(([place]) => inB.has(place)).map(([, path]) => path)
  if (both.length === 0) return null
  const [first = ''] = both
  return {
    kind: 'same_run',
    message: `${both.length} ${noun(both.length, 'run stands', 'runs stand')} on both sides: ${first}${both.length > 1 ? ', …' : ''}`,
    cause:
      'a run is like itself: the change is 0 by construction, and says nothing of how two deployments differ',
    next: 'for an A/A test compare two sets of runs of one deployment: plimsoll compare --run URL URL',
    evidence: { runs: both.length },
  }
}

/** Each run's real place, with the path that it was given by. */
async function onceEach(paths: readonly string[], arm: 'A' | 'B'): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const { path } of await runPaths(paths)) {
    const place = await realpath(path).catch(() => path)
    if (found.has(place)) {
      throw new PlimsollError('PLIM_USAGE', `a run stands twice in ${arm}, and would count as two`, {
        received: [...new Set([found.get(place) ?? path, path])].join(' and '),
        hint: 'give it once',
      })
    }
    found.set(place, path)
  }
  return found
}
