import { describePacer } from '../measure/load/describe-pacer.ts'
import { isOpenLoop, type Pacer } from '../measure/load/pacer.ts'
import { type ApiKind, apis } from '../measure/wire/api.ts'
import type { JsonObject } from '../measure/record/manifest.ts'
import type { LoadFacts, TargetFacts } from '../report/documents.ts'
import type { LengthConfig, WorkloadConfig } from './options/run-config.ts'

/** What a run's manifest keeps of its server: the facts that the report prints and nobody can recompute. */
export interface ServerFacts {
  readonly engine: string | null
  readonly embedded: boolean
  readonly kvTokens: number | null
  /** Requests that can hold a part of the pool at once, where it is cut in slots (llama.cpp); null: not cut. */
  readonly slots: number | null
  readonly maxModelLen: number | null
  /** Prefix-cache hits ÷ queries over the run, by the engine's own counters; null where it has none. */
  readonly prefixHitRate: number | null
}

export function serverFactsJson(facts: ServerFacts): JsonObject {
  return {
    engine: facts.engine,
    embedded: facts.embedded,
    kv_tokens: facts.kvTokens,
    slots: facts.slots,
    max_model_len: facts.maxModelLen,
    prefix_hit_rate: facts.prefixHitRate,
  }
}

/** The facts of a manifest's `server`; of a run that another tool made nothing is known. */
export function serverFactsFrom(server: JsonObject | null): ServerFacts {
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  return {
    engine: typeof server?.['engine'] === 'string' ? server['engine'] : null,
    embedded: server?.['embedded'] === true,
    kvTokens: number(server?.['kv_tokens']),
    slots: number(server?.['slots']),
    maxModelLen: number(server?.['max_model_len']),
    prefixHitRate: number(server?.['prefix_hit_rate']),
  }
}

export function targetFacts(
  target: { readonly url: string; readonly api: string; readonly model: string | null } | null,
  server: ServerFacts,
  replicas: Readonly<Record<string, number>> | null,
): TargetFacts {
  return {
    url: target?.url ?? 'unknown',
    api: target?.api ?? 'unknown',
    model: target?.model ?? null,
    engine: server.engine,
    embedded: server.embedded,
    replicas,
    kv_tokens: server.kvTokens,
  }
}

/** The pairs of `--tag` that a run was kept with, from its config; none for a run that another tool made. */
export function tagsOf(config: JsonObject): Readonly<Record<string, string>> {
  const pairs = config['metadata']
  if (typeof pairs !== 'object' || pairs === null || Array.isArray(pairs)) return {}
  return Object.fromEntries(
    Object.entries(pairs).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  )
}

/** When requests were sent. Null pacer: nobody's plan is known; `tool` is the one that made it, where it is known. */
export function loadFacts(
  pacer: Pacer | null,
  connectionLimit: number | null,
  tool: string | null,
): LoadFacts {
  if (pacer === null) {
    return {
      kind: 'burst',
      text:
        tool === null
          ? 'unknown: the requests were sent by another tool'
          : `sent by ${tool}: its plan is not in the file`,
      open_loop: false,
      rate_per_s: null,
      users: null,
      connection_limit: null,
    }
  }
  return {
    kind: pacer.kind as LoadFacts['kind'],
    text: describePacer(pacer),
    open_loop: isOpenLoop(pacer),
    rate_per_s: 'ratePerSecond' in pacer ? pacer.ratePerSecond : null,
    users: pacer.kind === 'concurrency' ? pacer.users : null,
    connection_limit: connectionLimit,
  }
}

/** "random, 256 tokens in, 32 out" */
export function describeWorkload(workload: WorkloadConfig, api: ApiKind = 'chat'): string {
  if (workload.kind === 'random') {
    const shared =
      workload.sharedPrefixShare !== undefined
        ? `, ${formatPercent(workload.sharedPrefixShare)} of each prompt shared`
        : workload.sharedPrefixTokens !== undefined
          ? `, the first ${workload.sharedPrefixTokens} shared`
          : ''
    const out = apis[api].generates ? `, ${describeLength(workload.output)} out` : ''
    return `random words, ${describeLength(workload.prompt)} tokens in${out}${shared}`
  }
  if (workload.kind === 'sessions') {
    const { turns, thinkTimeMs, thinkTime } = workload
    const pause =
      thinkTimeMs === 0 ? '' : `, ${thinkTime === 'exponential' ? 'about ' : ''}${thinkTimeMs / 1000} s apart`
    return `sessions of ${turns} turns${pause}, each ${describeLength(workload.prompt)} tokens in on top of all before, ${describeLength(workload.output)} out`
  }
  if (workload.kind === 'mix') {
    const total = workload.classes.reduce((sum, { weight }) => sum + weight, 0)
    const classes = workload.classes.map(
      ({ name, weight, workload: one }) =>
        `${formatPercent(weight / total)} ${name} (${describeWorkload(one, api)})`,
    )
    return `a mix of ${classes.join(', ')}`
  }
  if (workload.kind === 'trace') {
    return `trace ${workload.path}${workload.speed === 1 ? '' : `, ${workload.speed} times as fast`}`
  }
  const output = workload.output === null ? '' : `, ${describeLength(workload.output)} tokens out`
  return `${workload.kind} ${workload.path}${output}`
}

function describeLength(length: LengthConfig): string {
  switch (length.kind) {
    case 'fixed':
      return String(length.tokens)
    case 'uniform':
      return `${length.low}–${length.high}`
    case 'normal':
      return `${length.mean} ± ${length.sd}`
    default:
      return `${length.median} (median; P99 ${length.p99})`
  }
}

/** Whole percents where they are. */
function formatPercent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`
}

/** Requests by the replica that answered them; null where no header named one. */
export function replicaCounts(
  rows: Iterable<{ readonly replica: string | null }>,
): Record<string, number> | null {
  const counts: Record<string, number> = {}
  for (const { replica } of rows) if (replica !== null) counts[replica] = (counts[replica] ?? 0) + 1
  return Object.keys(counts).length === 0 ? null : counts
}
