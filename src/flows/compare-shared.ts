import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import { runPaths } from './compare-arms.ts'
import { namedTwice, placesOnce } from './places-once.ts'

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

async function onceEach(paths: readonly string[], arm: 'A' | 'B'): Promise<ReadonlyMap<string, string>> {
  const runs = (await runPaths(paths)).map(({ path }) => path)
  return placesOnce(
    runs,
    (first, again) =>
      new PlimsollError('PLIM_USAGE', `a run stands twice in ${arm}, and would count as two`, {
        received: namedTwice(first, again),
        hint: 'give it once',
      }),
  )
}
