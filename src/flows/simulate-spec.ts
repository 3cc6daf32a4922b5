import { PlimsollError } from '../base/errors.ts'
import { placed } from '../base/placed.ts'
import type { YamlPath } from '../base/positioned-yaml.ts'
import { parseDurationMs, parseRatePerSecond } from '../base/units.ts'
import { isOpenLoop } from '../measure/load/pacer.ts'
import { describeLimit, describeRunLimit, type Objective } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { checkLengths } from '../measure/workload/length-distribution.ts'
import type { Trace } from '../measure/workload/trace.ts'
import { checkEngineConfig, drafting, type EngineConfig } from '../simulate/engine/engine-config.ts'
import { enginePreset, overrideConfig } from '../simulate/engine/presets.ts'
import {
  kubernetesDefaults,
  noAdmission,
  patientClients,
  routerKinds,
  scalerMetrics,
  type ColdStartSpec,
  type DailyRate,
  type FleetSpec,
  type ReplicaGroup,
  type RouterSpec,
  type ScalerSpec,
  type Traffic,
} from '../simulate/fleet/fleet-spec.ts'
import { nearest } from '../base/edit-distance.ts'
import { parseLength } from './options/length-text.ts'
import { parseFleetFault } from './fleet-fault.ts'
import { pacerForms, parsePacer } from './options/pacer-text.ts'
import type { FleetText, PolicyText } from './simulate-text.ts'
import type { FleetFile } from './simulate-yaml.ts'

/** One fleet of the file: its own settings over the common ones. */
export interface NamedFleet {
  readonly policy: string
  readonly spec: FleetSpec
}

export interface SpecOptions {
  readonly seed?: string
  /** Traces by the path in the file, read before. */
  readonly traces: ReadonlyMap<string, Trace>
  /** Engines of fitted models, likewise. */
  readonly models: ReadonlyMap<string, EngineConfig>
}

/** The fleets of a file: one for each policy, or the one that it describes. */
export function fleetsOf(file: FleetFile, options: SpecOptions): NamedFleet[] {
  const { policies = {}, ...common } = file.text
  const names = Object.keys(policies)
  if (names.length === 0) return [{ policy: common.name ?? 'fleet', spec: specOf(common, file, [], options) }]
  return names.map((policy) => ({
    policy,
    spec: specOf(merged(common, policies[policy] ?? {}), file, ['policies', policy], options),
  }))
}

/** The name of a policy as a folder. */
export function policyFolder(policy: string): string {
  return policy.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'policy'
}

/** Paths of the traces that a file names. */
export function tracesOf(text: FleetText): string[] {
  const all = [text, ...Object.values(text.policies ?? {})]
  return [...new Set(all.flatMap(({ traffic }) => (traffic?.trace === undefined ? [] : [traffic.trace])))]
}

/** Paths of the fitted models that a file names. */
export function modelsOf(text: FleetText): string[] {
  const all = [text, ...Object.values(text.policies ?? {})]
  const engines = all.flatMap(({ engine, groups = [] }) => [engine, ...groups.map((group) => group.engine)])
  return [
    ...new Set(
      engines.flatMap((engine) =>
        typeof engine === 'object' && engine.model !== undefined ? [engine.model] : [],
      ),
    ),
  ]
}

/** Maps are put together key by key, everything else is replaced. */
function merged(common: PolicyText, own: PolicyText): PolicyText {
  const both: Record<string, unknown> = { ...common }
  for (const [key, value] of Object.entries(own)) {
    const before = both[key]
    const maps = [before, value].every(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    )
    both[key] = maps ? { ...(before as object), ...(value as object) } : value
  }
  return both as PolicyText
}

/** Reads what stands at some keys of the file. */
type PartReader = <T>(keys: YamlPath, reader: () => T) => T

function specOf(text: PolicyText, file: FleetFile, path: readonly string[], options: SpecOptions): FleetSpec {
  /** Reads a part of the file; what is wrong with it is told with the place where it stands: in the policy, else in what all share. */
  const read: PartReader = (keys, reader) =>
    placed(() => {
      const own = [...path, ...keys]
      return file.where(file.has(own) || !file.has(keys) ? own : keys)
    }, reader)
  const durationMs = read(['duration'], () => longerThanNothing(String(text.duration ?? '10m')))
  return {
    name: text.name ?? 'fleet',
    seed: options.seed ?? String(text.seed ?? '1'),
    durationMs,
    drainMs: read(['drain'], () => parseDurationMs(String(text.drain ?? '10m'))),
    windowMs: read(['window'], () => windowOf(text, durationMs)),
    groups: groupsOf(text, options, read),
    traffic: trafficOf(text, options, read),
    router: routerOf(text, read),
    scaler: scalerOf(text, read),
    admission: {
      ...noAdmission,
      ...defined({
        maxInFlightPerReplica: text.admission?.in_flight_per_replica,
        maxQueue: text.admission?.queue,
        queueTimeoutMs: read(['admission', 'queue_timeout'], () => durationOf(text.admission?.queue_timeout)),
      }),
    },
    clients: {
      ...patientClients,
      ...defined({
        timeoutMs: read(['clients', 'timeout'], () => durationOf(text.clients?.timeout)),
        retries: text.clients?.retries,
        backoffMs: read(['clients', 'backoff'], () => durationOf(text.clients?.backoff)),
      }),
    },
    faults: (text.faults ?? []).map((fault, i) => read(['faults', i], () => parseFleetFault(fault))),
    objective: read(['objective'], () => (text.objective === undefined ? null : objectiveOf(text.objective))),
  }
}

/** A simulation keeps counts and sketches, no stream: it can judge each answer by its TTFT, TPOT and E2E. */
function objectiveOf(text: string): Objective {
  const objective = parseObjective(text, 'objective')
  const [other] = [
    ...objective.each.filter(({ metric }) => metric === 'gap').map(describeLimit),
    ...objective.run.map(describeRunLimit),
  ]
  if (other === undefined) return objective
  throw new PlimsollError('PLIM_OBJECTIVE', 'a simulation cannot judge this limit', {
    expected: 'limits on each request, with the share that must be good: ttft < 1s and tpot < 40ms, good 99%',
    received: other,
  })
}

function defined<T extends object>(of: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function longerThanNothing(value: string): number {
  const durationMs = parseDurationMs(value, 'the duration')
  if (durationMs > 0) return durationMs
  throw new PlimsollError('PLIM_NUMBER', 'the duration is 0: nothing would arrive', {
    expected: 'a time longer than 0, as 10m',
    received: value,
  })
}

function durationOf(value: string | number | undefined): number | undefined {
  return value === undefined ? undefined : parseDurationMs(String(value))
}

/** A sixtieth of the time, at least a second, unless it is said. */
function windowOf(text: PolicyText, durationMs: number): number {
  return text.window === undefined
    ? Math.max(1000, Math.ceil(durationMs / 60_000) * 1000)
    : parseDurationMs(String(text.window))
}

function groupsOf(text: PolicyText, options: SpecOptions, read: PartReader): ReplicaGroup[] {
  const groups = text.groups ?? [
    {
      name: 'replicas',
      replicas: text.replicas ?? 1,
      engine: text.engine ?? 'h100-8b',
      ...(text.cost_per_hour === undefined ? {} : { cost_per_hour: text.cost_per_hour }),
    },
  ]
  const at = (i: number, key: string): YamlPath => (text.groups === undefined ? [key] : ['groups', i, key])
  return groups.map((group, i) => ({
    name: group.name ?? `group ${i + 1}`,
    replicas: read(at(i, 'replicas'), () => replicasOf(group.replicas)),
    engine: read(at(i, 'engine'), () => engineOf(group.engine, options)),
    costPerHour: group.cost_per_hour ?? null,
  }))
}

function replicasOf(replicas: number): number {
  if (Number.isSafeInteger(replicas) && replicas >= 0) return replicas
  throw new PlimsollError('PLIM_CONFIG', 'a group cannot have so many replicas', {
    expected: 'a whole number, 0 or more',
    received: String(replicas),
  })
}

function engineOf(
  text: NonNullable<PolicyText['engine']>,
  { models }: Pick<SpecOptions, 'models'>,
): EngineConfig {
  if (typeof text === 'string') return enginePreset(text).config
  if (text.model !== undefined && text.preset !== undefined) {
    throw new PlimsollError('PLIM_CONFIG', 'an engine is of a model or of a preset', {
      expected: 'one of the two',
      received: `model ${text.model}, preset ${text.preset}`,
    })
  }
  const fitted = text.model === undefined ? undefined : models.get(text.model)
  const config = overrideConfig(
    fitted ?? enginePreset(text.preset ?? 'h100-8b').config,
    defined({
      maxNumSeqs: text.max_num_seqs,
      maxNumBatchedTokens: text.max_num_batched_tokens,
      longPrefillTokenThreshold: text.long_prefill_token_threshold,
      maxModelLen: text.max_model_len,
      blockSize: text.block_size,
      numGpuBlocks: text.num_gpu_blocks,
      maxNumWaiting: text.max_num_waiting,
      policy: text.policy,
      speculative:
        text.speculative === undefined && text.accept === undefined
          ? undefined
          : drafting(text.speculative ?? 0, [text.accept ?? []].flat()),
      asyncScheduling: text.async_scheduling,
      mixedChunk: text.mixed_chunk,
      hostMs: text.host_ms,
      enablePrefixCaching: text.enable_prefix_caching,
      enableChunkedPrefill: text.enable_chunked_prefill,
      frontEndMs: text.front_end_ms,
      jitterSigma: text.jitter_sigma,
    }),
    defined({
      baseMs: text.base_ms,
      kneeTokens: text.knee_tokens,
      perTokenMs: text.per_token_ms,
      perContextTokenMs: text.per_context_token_ms,
      perPairMs: text.per_pair_ms,
      perSequenceMs: text.per_sequence_ms,
    }),
  )
  checkEngineConfig(config)
  return config
}

function trafficOf({ traffic = {} }: PolicyText, { traces }: SpecOptions, read: PartReader): Traffic {
  if (traffic.trace !== undefined) {
    const trace = traces.get(traffic.trace)
    if (trace === undefined) throw new PlimsollError('PLIM_FILE', `${traffic.trace} was not read`)
    return { kind: 'trace', trace, speed: traffic.speed ?? 1, repeat: traffic.repeat ?? false }
  }
  const text = String(traffic.arrivals ?? 'poisson 5/s')
  return {
    kind: 'made',
    arrivals: read(['traffic', 'arrivals'], () => dailyOf(text) ?? openLoopOf(text)),
    promptTokens: read(['traffic', 'prompt'], () =>
      checkLengths(parseLength(String(traffic.prompt ?? 1024), 'traffic.prompt'), 'prompt length'),
    ),
    outputTokens: read(['traffic', 'output'], () =>
      checkLengths(parseLength(String(traffic.output ?? 128), 'traffic.output'), 'output length'),
    ),
    sharing: traffic.sharing ?? null,
  }
}

/** A fleet has a day besides, and is not driven by a closed loop. */
const { users: _closedLoop, ...openForms } = pacerForms
const arrivalForms = { ...openForms, daily: 'daily 2/s..20/s over 24h' }

function openLoopOf(
  text: string,
): Exclude<Extract<Traffic, { kind: 'made' }>['arrivals'], { kind: 'daily' }> {
  const pacer = parsePacer(text, 'traffic.arrivals', arrivalForms)
  if (isOpenLoop(pacer)) return pacer
  throw new PlimsollError('PLIM_CONFIG', 'a fleet is not driven by a closed loop', {
    expected: 'arrivals such as "poisson 10/s" or "daily 2/s..20/s over 24h"',
    received: text,
  })
}

/** `daily 2/s..20/s over 24h`: lowest at the beginning. */
export function dailyOf(text: string): DailyRate | null {
  const match = /^\s*daily\s+(\S+?)\s*\.\.\s*(\S+?)(?:\s+over\s+(\S+))?\s*$/.exec(text)
  if (match === null) return null
  const [, low = '', high = '', period = '24h'] = match
  const arrivals = {
    kind: 'daily' as const,
    lowPerSecond: parseRatePerSecond(low, 'the low of the day'),
    highPerSecond: parseRatePerSecond(high, 'the high of the day'),
    periodMs: parseDurationMs(period, 'the length of the day'),
    phaseMs: 0,
  }
  if (arrivals.lowPerSecond <= arrivals.highPerSecond && arrivals.highPerSecond > 0) return arrivals
  throw new PlimsollError('PLIM_CONFIG', 'a day goes from its low to its high', {
    expected: 'daily LOW..HIGH over TIME, as "daily 2/s..20/s over 24h"',
    received: text,
  })
}

function routerOf({ router = 'round-robin' }: PolicyText, read: PartReader): RouterSpec {
  if (typeof router === 'string') {
    return { kind: read(['router'], () => oneOf(router, routerKinds, 'router')), signalEveryMs: 0 }
  }
  const { kind, signal_every: every } = router
  return {
    kind: read(['router', 'kind'], () => oneOf(kind, routerKinds, 'router')),
    signalEveryMs: read(['router', 'signal_every'], () => durationOf(every)) ?? 0,
  }
}

function scalerOf({ scaler }: PolicyText, read: PartReader): ScalerSpec | null {
  if (scaler === undefined || scaler === null) return null
  const time = (
    key: 'sync' | 'scrape' | 'delay' | 'up_stabilization' | 'down_stabilization',
  ): number | undefined => read(['scaler', key], () => durationOf(scaler[key]))
  const { metric, target, min, max, cold_start: cold } = scaler
  if (metric === undefined || target === undefined || min === undefined || max === undefined) {
    const needed = { metric, target, min, max }
    const missing = Object.entries(needed).flatMap(([key, value]) => (value === undefined ? [key] : []))
    return read(['scaler'], () => {
      throw new PlimsollError('PLIM_CONFIG', `the scaler has no ${missing.join(', ')}`, {
        expected: 'metric, target, min and max, as { metric: in_flight, target: 16, min: 1, max: 8 }',
      })
    })
  }
  const warm = read(['scaler', 'warm_pool', 'ready'], () => durationOf(scaler.warm_pool?.ready))
  return {
    ...kubernetesDefaults,
    metric: read(['scaler', 'metric'], () => oneOf(metric, scalerMetrics, 'scaler.metric')),
    target: String(target),
    minReplicas: min,
    maxReplicas: max,
    ...defined({
      tolerance: scaler.tolerance === undefined ? undefined : String(scaler.tolerance),
      syncEveryMs: time('sync'),
      scrapeEveryMs: time('scrape'),
      metricDelayMs: time('delay'),
      upStabilizationMs: time('up_stabilization'),
      downStabilizationMs: time('down_stabilization'),
      coldStart: cold === undefined ? undefined : read(['scaler', 'cold_start'], () => coldStartOf(cold)),
      warmPool:
        scaler.warm_pool === undefined || scaler.warm_pool === null
          ? undefined
          : { replicas: scaler.warm_pool.replicas ?? 1, readyMs: warm ?? 1000 },
    }),
  }
}

function coldStartOf(text: NonNullable<NonNullable<PolicyText['scaler']>['cold_start']>): ColdStartSpec {
  return typeof text === 'object'
    ? {
        kind: 'lognormal',
        medianMs: parseDurationMs(String(text.median)),
        p99Ms: parseDurationMs(String(text.p99)),
      }
    : { kind: 'fixed', ms: parseDurationMs(String(text)) }
}

function oneOf<T extends string>(word: string, words: readonly T[], what: string): T {
  const found = words.find((one) => one === word)
  if (found !== undefined) return found
  const near = nearest(word, words)
  throw new PlimsollError('PLIM_CONFIG', `there is no ${what} "${word}"`, {
    expected: words.join(', '),
    received: word,
    ...(near === null ? {} : { hint: `did you mean ${near}?` }),
  })
}
