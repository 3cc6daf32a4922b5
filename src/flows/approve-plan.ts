import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { formatCount, formatDuration } from '../base/units.ts'
import { isSameMachine } from '../measure/load/host.ts'
import type { LoadInstrument } from '../measure/load/instrument.ts'
import { loadPlanFacts, type LoadPlanFacts } from '../measure/load/plan-facts.ts'
import type { Plan } from '../measure/workload/make-plan.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { LiveTarget } from './live-target.ts'
import { localHost } from './local-host.ts'

/**
 * Before a host that is not this machine is loaded, the plan is shown, and may be refused by whoever sits at the terminal.
 * @throws PlimsollError PLIM_USAGE when it is refused; nothing was sent.
 */
export async function approvePlan(
  plan: Plan,
  window: { readonly warmupMs: number; readonly measureMs: number | null; readonly drainMs: number },
  target: LiveTarget,
  instrument: LoadInstrument,
  deps: FlowDeps,
): Promise<void> {
  const url = new URL(target.load.url)
  if (await isSameMachine(localHost(deps.machine), url)) return
  const facts = loadPlanFacts(plan, window, instrument.calibration)
  if (await deps.confirm(describePlanFacts(url.host, facts))) return
  throw new PlimsollError('PLIM_USAGE', 'the plan was refused; nothing was sent', {
    hint: '--yes carries it out without asking',
  })
}

/** "loads host:8000 with 3,600 requests over 10m; needs 1.0 M events/s at its peak, this machine does 160 k". */
export function describePlanFacts(host: string, facts: LoadPlanFacts): string {
  const requests =
    facts.requests === null
      ? 'as many requests as its users send'
      : `${formatCount(facts.requests)} ${noun(facts.requests, 'request')}`
  const duration = facts.durationMs === null ? '' : ` over ${formatDuration(facts.durationMs)}`
  const { peakEventsPerSecond: needed, capacityEventsPerSecond: capacity } = facts
  const peak = needed === null ? '' : `; needs ${formatCount(Math.round(needed))} events/s at its peak`
  const able =
    capacity === null
      ? ''
      : `${peak === '' ? ';' : ','} this client does ${formatCount(Math.round(capacity))}`
  const short = facts.enough === false ? ', which is NOT enough: the run would be INVALID' : ''
  return `loads ${host} with ${requests}${duration}${peak}${able}${short}`
}
