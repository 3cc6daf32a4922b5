import { PlimsollError } from '../base/errors.ts'
import { replicasLost } from '../plan/fleet-size.ts'
import type { PlanSimulation } from '../report/plan-simulation.ts'
import { toNumber, type Rational } from '../stats/rational.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { PlanConfig } from './plan-config.ts'
import { simulatePlan, type PlanSimulateConfig, type PlanToSimulate } from './plan-simulate.ts'

/** The chosen plan: 0 replicas where there is none. */
export interface TriedPlan extends Pick<PlanToSimulate, 'replicas' | 'limits' | 'sweep'> {
  readonly peak: Rational
}

/**
 * Tries the plan on its day; null where nothing was planned.
 * @throws PlimsollError PLIM_USAGE for a demand in classes, each of which has a pool of its own, and for what the day lacks.
 */
export async function tryPlan(
  config: PlanConfig,
  trial: PlanSimulateConfig,
  { peak, ...plan }: TriedPlan,
  deps: FlowDeps,
): Promise<PlanSimulation | null> {
  if (config.classes.length > 0) {
    throw new PlimsollError('PLIM_USAGE', '--simulate tries one pool, and --class makes several', {
      expected: 'one of the two; plimsoll simulate takes a file with several groups of replicas',
    })
  }
  if (plan.replicas === 0) return null
  const lostOf = (replicas: number): number => replicasLost(replicas, config)
  return simulatePlan({ ...plan, peakPerSecond: toNumber(peak), lostOf }, trial, deps)
}
