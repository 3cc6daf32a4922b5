/*
 * NVIDIA Dynamo's planner (`components/planner`): replicas from a predicted rate and what one engine serves within the SLA, and a quick
 * rule on the load of each engine.
 */

/** Throughput rule: ⌈demand ÷ what one engine serves⌉, held within the bounds; null where the engine serves nothing within the SLA. */
export function dynamoThroughput(
  demandPerSecond: number,
  enginePerSecond: number,
  bounds: { readonly min: number; readonly max: number },
): number | null {
  if (!(enginePerSecond > 0)) return null
  return Math.min(bounds.max, Math.max(bounds.min, Math.ceil(demandPerSecond / enginePerSecond)))
}

/** Prefill tokens per second to serve: requests × length, less what the prefix cache answers. */
export function dynamoPrefillDemand(requestsPerSecond: number, inputTokens: number, hitRate: number): number {
  return requestsPerSecond * inputTokens * (1 - hitRate)
}

export interface DynamoLoadRule {
  readonly slaMs: number
  /** Down only when all are below this share of the SLA. */
  readonly sensitivity: number
  readonly min: number
  readonly max: number
}

/**
 * Load rule, one engine at a time: up when every engine's estimate is over the SLA, down when every one is under its share of it and the
 * survivors, who would carry N ÷ (N − 1), still are (issue 9294). Holds while scaling is under way or an engine is not known.
 */
export function dynamoLoad(
  estimatesMs: readonly (number | null)[],
  rule: DynamoLoadRule,
  scaling: boolean,
): number {
  const n = estimatesMs.length
  const known = estimatesMs.filter((estimate) => estimate !== null)
  if (scaling || n === 0 || known.length < n) return n
  if (known.every((estimate) => estimate > rule.slaMs)) return Math.min(rule.max, n + 1)
  const low = rule.slaMs * rule.sensitivity
  const survivors = n > 1 ? n / (n - 1) : Number.POSITIVE_INFINITY
  const fits = known.every((estimate) => estimate < low && estimate * survivors < rule.slaMs)
  return fits ? Math.max(rule.min, n - 1) : n
}
