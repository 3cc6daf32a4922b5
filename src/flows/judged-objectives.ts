import { decideObjective, type ObjectiveDecision } from '../measure/metrics/decide-objective.ts'
import type { DecisionTails } from '../measure/metrics/decision-tails.ts'
import type { Objective } from '../measure/metrics/objective.ts'
import { isCancelled } from '../measure/metrics/run-window.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { ObjectiveOutcome } from '../report/documents.ts'
import type { ObjectiveConfig } from './options/run-config.ts'

/** An objective as configured, with its parsed form. */
export interface JudgedObjective {
  readonly config: ObjectiveConfig
  readonly objective: Objective
}

/** @throws PlimsollError PLIM_OBJECTIVE for one that cannot be read; before anything is sent. */
export function parseObjectives(configs: readonly ObjectiveConfig[]): readonly JudgedObjective[] {
  return configs.map((config) => {
    const where = config.name === null ? '--slo' : `objectives.${config.name}`
    return {
      config,
      objective: parseObjective(objectiveText(config), config.form === 'vllm' ? '--goodput' : where),
    }
  })
}

/** An objective in one text, with the share that the file gives apart. */
export function objectiveText({ text, good }: ObjectiveConfig): string {
  return good === null ? text : `${text}, good ${good}`
}

/** The objective whose per-request limits make the run's goodput: the first that has any. */
export function goodputObjective(objectives: readonly JudgedObjective[]): Objective | null {
  const counted = objectives.find(({ objective }) => objective.each.length > 0) ?? objectives[0]
  return counted?.objective ?? null
}

/** What each objective decides over the window's rows (in order of intended send). */
export function decideObjectives(
  windowRows: Rows,
  objectives: readonly JudgedObjective[],
  tails?: DecisionTails,
): readonly ObjectiveDecision[] {
  // What the client itself ended is neither good nor bad.
  const judged = windowRows.filter((row) => !isCancelled(row))
  return objectives.flatMap(({ config, objective }) =>
    decideObjective(
      config.shedIsBad ? judged : judged.filter((row) => row.outcome !== 'shed'),
      objective,
      tails,
    ),
  )
}

export function objectiveOutcomes(decisions: readonly ObjectiveDecision[]): readonly ObjectiveOutcome[] {
  return decisions.map(({ estimateWithin: _within, effectiveSamples: _samples, ...outcome }) => outcome)
}
