import { PlimsollError } from '../base/errors.ts'
import { shellWord } from '../base/shell-words.ts'
import type { Warning } from '../base/warnings.ts'
import type { SweepDocument } from '../report/documents.ts'
import { planBasis } from './plan-basis.ts'

interface NamedSweep {
  readonly path: string
  readonly sweep: SweepDocument
}

/** Of each sweep that was ended before its end: what a plan on it does not know. */
export function incompleteSweeps(sweeps: readonly NamedSweep[]): readonly Warning[] {
  const found = new Map(sweeps.filter(({ sweep }) => !sweep.complete).map((each) => [each.path, each]))
  return [...found.values()].map(({ path, sweep }) => ({
    kind: sweep.stopped?.kind === 'interrupted' ? 'interrupted' : 'stopped_early',
    message: `${path} is not complete: ${whyNot(sweep)}`,
    cause: 'what was not measured may bind at less, or carry more, than this plan says',
    next: null,
    evidence: { sweep: path, points: sweep.points.length },
  }))
}

/**
 * A sweep that was ended before any load was decided says nothing, which is not that no load keeps the objective.
 * @throws PlimsollError PLIM_USAGE for it, naming how to go on.
 */
export function refuseUndecided(sweeps: readonly NamedSweep[]): void {
  const undecided = sweeps.find(
    ({ sweep }) =>
      !sweep.complete && planBasis(sweep) === null && !sweep.points.some(({ passes }) => passes === 'no'),
  )
  if (undecided === undefined) return
  const { path, sweep } = undecided
  throw new PlimsollError('PLIM_USAGE', 'this sweep was ended before any load was decided', {
    expected: 'a sweep with at least one load that was measured to its end',
    received: whyNot(sweep),
    where: { file: path },
  })
}

function whyNot({ stopped, sweep }: SweepDocument): string {
  return (
    stopped?.why ?? `cut off, unless it still runs; the same flags and --resume ${shellWord(sweep)} go on`
  )
}
