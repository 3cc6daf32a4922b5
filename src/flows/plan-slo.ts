import { stringify } from 'yaml'
import { PlimsollError } from '../base/errors.ts'
import { describeLimit } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import type { DeployInput } from './plan-deploy.ts'
import { objectiveLike, type PlanFile } from './plan-file.ts'
import { scalerEngine } from './scale-policy.ts'
import { sloFiles, sloRules } from './slo-rules.ts'

const file = 'plimsoll.yaml'

/**
 * Prometheus rules of the sweep's objective with their tests, and the plimsoll.yaml that they are made from. A percentile of the run
 * becomes the share of requests that it asks for. Limits between two buckets of the engine are decided on the side that pages.
 */
export function sloDeployFiles({
  document,
  sweep,
  config,
  deps,
}: DeployInput): readonly (readonly [string, string])[] {
  const text = objectivesYaml(sweep.objective, sweep.target.engine, sweep.target.model, config.file)
  if (text === null) return []
  try {
    const made = sloFiles(sloRules([{ path: file, text }], {}))
    const header = `# Objectives of ${document.provenance?.sweep ?? 'a sweep'}, for plimsoll slo.\n`
    return [
      [`slo/${file}`, header + text],
      ...made.map(({ name, text: content }) => [`slo/${name}`, content] as const),
    ]
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error
    // The rest of the folder is as good without them; the objective stays, to be put right.
    deps.onNotice(
      `no SLO rules: ${error.message}${error.expected === undefined ? '' : `; expected ${error.expected}`}`,
    )
    return [[`slo/${file}`, `# No rules were made: ${error.message}\n${text}`]]
  }
}

/**
 * The objectives as plimsoll.yaml has them; null where a sweep had none. Name, time and what a refusal counts as come from the file that
 * the plan was made with, where it has the same objective, and so does how they are watched.
 */
export function objectivesYaml(
  objective: string | null,
  engine: string | null,
  model: string | null,
  given: PlanFile | null = null,
): string | null {
  if (objective === null) return null
  const objectives: Record<string, object> = {}
  for (const text of objective.split('; ')) {
    const { each, run, good } = parseObjective(text)
    const add = (name: string, limits: string, share: string): void => {
      const like = given === null ? null : objectiveLike(given, limits, share)
      if (like !== null) {
        objectives[like.name] = { each: limits, good: share, over: like.over, shed: like.shed }
        return
      }
      const taken = Object.keys(objectives).filter((other) => other === name || other.startsWith(`${name}-`))
      objectives[taken.length === 0 ? name : `${name}-${taken.length + 1}`] = {
        each: limits,
        good: share,
        over: '30d',
        shed: 'bad',
      }
    }
    if (each.length > 0)
      add(
        [...new Set(each.map(({ metric }) => metric))].join('-'),
        each.map(describeLimit).join(' and '),
        good ?? '99%',
      )
    for (const limit of run) add(limit.metric, describeLimit(limit), `${limit.percentile}%`)
  }
  const id = scalerEngine(engine)
  const label = id === 'dynamo' ? 'model' : id === 'tgi' || id === 'llamacpp' ? null : 'model_name'
  return stringify({
    objectives,
    slo: {
      service: 'llm',
      engine: id,
      ...(model === null || label === null ? {} : { match: { [label]: model } }),
      edges: 'pessimistic',
      unreachable: 'refit',
      ...given?.slo,
    },
  })
}
