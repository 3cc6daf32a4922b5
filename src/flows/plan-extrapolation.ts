import { PlimsollError } from '../base/errors.ts'
import { shellLine } from '../base/shell-words.ts'
import { batchWasTested, insteadOfMore } from '../plan/engine-flags.ts'
import type { SweepDocument } from '../report/documents.ts'
import { sameAgain } from '../report/render-run.ts'
import type { PlanConfig } from './plan-config.ts'

/** @throws PlimsollError PLIM_USAGE for a batch that is larger than any that the sweep tried. */
export function refuseExtrapolation(config: PlanConfig, sweep: SweepDocument | null): void {
  if (config.maxNumSeqs === null || sweep === null) return
  const inFlight = sweep.points.map((point) =>
    point.load.kind === 'concurrency' ? point.load.value : (point.in_flight ?? 0),
  )
  const check = batchWasTested(config.maxNumSeqs, {
    maxNumSeqs: config.testedMaxNumSeqs,
    maxInFlight: Math.max(0, ...inFlight),
  })
  if (check.allowed) return
  const users = sweep.points.flatMap(({ load }) => (load.kind === 'concurrency' ? [load.value] : []))
  const again = sweep.repeat === null ? [] : sameAgain(sweep.target, sweep.repeat)
  const loads = [...users, config.maxNumSeqs].join(',')
  throw new PlimsollError('PLIM_USAGE', `max_num_seqs ${config.maxNumSeqs} lies outside what was tested`, {
    expected: `at most ${check.tested}, the largest batch of this sweep`,
    received: String(config.maxNumSeqs),
    hint: `instead: ${insteadOfMore.join('; ')}. Or test it: ${shellLine(['plimsoll', 'sweep', ...again, '--concurrency', loads])}`,
  })
}
