import { describeLimit, describeRunLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { parseConfigFile } from './options/read-config.ts'
import type { ConfigFile } from './options/config-file-type.ts'

/** What a plimsoll.yaml says to `plan`: its `capacity`, as texts that its flags would have, and its objectives. */
export interface PlanFile {
  readonly path: string
  readonly peak: string | null
  readonly margin: string | null
  readonly survive: string | null
  readonly objectives: NonNullable<ConfigFile['objectives']>
  readonly slo: NonNullable<ConfigFile['slo']>
}

/** Throws PLIM_CONFIG for what cannot be read. */
export function readPlanFile(text: string, path: string): PlanFile {
  const { capacity = {}, objectives = {}, slo = {} } = parseConfigFile(text, path).config
  return {
    path,
    peak: capacity.peak === undefined ? null : String(capacity.peak),
    margin: capacity.margin ?? null,
    survive: capacity.survive === undefined ? null : String(capacity.survive),
    objectives,
    slo,
  }
}

/**
 * An objective of the file that asks what a sweep's objective asks, by its limits and its share; null where none does. The sweep's text
 * has no name and no time over which it is promised: those stand in the file.
 */
export function objectiveLike(
  { objectives }: PlanFile,
  limits: string,
  good: string,
): { readonly name: string; readonly over: string; readonly shed: 'bad' | 'ignore' } | null {
  const wanted = objectiveKey(limits, good)
  for (const [name, { each, good: share, over, shed }] of Object.entries(objectives)) {
    if (each === undefined || objectiveKey(each, share === undefined ? null : String(share)) !== wanted)
      continue
    return { name, over: over ?? '30d', shed: shed ?? 'bad' }
  }
  return null
}

/** Limits in any order, and the share in any form. */
function objectiveKey(text: string, good: string | null): string {
  const parsed = parseObjective(text)
  const limits = [...parsed.each.map(describeLimit), ...parsed.run.map(describeRunLimit)].sort()
  const share = good ?? parsed.good ?? '99%'
  const percent = share.trim().endsWith('%') ? Number.parseFloat(share) : Number(share) * 100
  return JSON.stringify([limits, Number(percent.toPrecision(12))])
}
