import { PlimsollError, type TextPosition } from '../base/errors.ts'
import { parseDurationMs, parseRatePerSecond } from '../base/units.ts'
import { isOpenLoop } from '../measure/load/pacer.ts'
import { describeLimit, describeRunLimit, type Objective } from '../measure/metrics/objective.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { checkLengths } from '../measure/workload/length-distribution.ts'
import type { Trace } from '../measure/workload/trace.ts'
import { checkEngineConfig, drafting, type EngineConfig } from '../simulate/engine/engine-config.ts'
import { parseFault } from '../simulate/engine/fault-grammar.ts'
import { enginePreset, overrideConfig } from '../simulate/engine/presets.ts'
import {
  kubernetesDefaults,
  noAdmission,
  patientClients,
  routerKinds,
  scalerMetrics,
  type ColdStartSpec,
  type DailyRate,
  type FleetFault,
  type FleetSpec,
  type ReplicaGroup,
  type RouterSpec,
  type ScalerSpec,
  type Traffic,
} from '../simulate/fleet/fleet-spec.ts'
import { nearest } from '../base/edit-distance.ts'
import { parseLength } from './options/length-text.ts'
import { parsePacer } from './options/pacer-text.ts'
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

function specOf(text: PolicyText, file: FleetFile, path: readonly string[], options: SpecOptions): FleetSpec {
  /** Reads a part of the file; what is wrong with it is told with the place where it stands. */
  function read<T>(keys: readonly (string | number)[], reader: () => T): T {
    try {
      return reader()
    } catch (error) {
      if (!(error instanceof PlimsollError)) throw error
      throw placed(error, file.where([...path, ...keys]), file.where([...keys]))
    }
  }
  const durationMs = read(['duration'], () => parseDurationMs(String(text.duration ?? '10m')))
  return {
    name: text.name ?? 'fleet',
    seed: options.seed ?? String(text.seed ?? '1'),
    durationMs,
    drainMs: read(['drain'], () => parseDurationMs(String(text.drain ?? '10m'))),
    windowMs: read(['window'], () => windowOf(text, durationMs)),
    groups: read(['groups'], () => groupsOf(text, options)),
    traffic: read(['traffic'], () => trafficOf(text, options)),
    router: read(['router'], () => routerOf(text)),
    scaler: read(['scaler'], () => scalerOf(text)),
    admission: {
      ...noAdmission,
      ...defined({
        maxInFlightPerReplica: text.admission?.in_flight_per_replica,
        maxQueue: text.admission?.queue,
        queueTimeoutMs: read(['admission'], () => durationOf(text.admission?.queue_timeout)),
      }),
    },
    clients: {
      ...patientClients,
      ...defined({
        timeoutMs: read(['clients'], () => durationOf(text.clients?.timeout)),
        retries: text.clients?.retries,
        backoffMs: read(['clients'], () => durationOf(text.clients?.backoff)),
      }),
    },
    faults: (text.faults ?? []).map((fault, i) => read(['faults', i], () => faultOf(fault))),
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

function placed(error: PlimsollError, own: TextPosition, common: TextPosition): PlimsollError {
  const { expected, received, hint } = error
  return new PlimsollError('PLIM_CONFIG', error.message, {
    where: own.line === undefined ? common : own,
    ...defined({ expected, received, hint }),
    cause: error,
  })
}

function defined<T extends object>(of: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
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

function groupsOf(text: PolicyText, options: SpecOptions): ReplicaGroup[] {
  const groups = text.groups ?? [
    {
      name: 'replicas',
      replicas: text.replicas ?? 1,
      engine: text.engine ?? 'h100-8b',
      ...(text.cost_per_hour === undefined ? {} : { cost_per_hour: text.cost_per_hour }),
    },
  ]
  return groups.map((group, i) => {
    if (!Number.isSafeInteger(group.replicas) || group.replicas < 0) {
      throw new PlimsollError('PLIM_CONFIG', 'a group cannot have so many replicas', {
        expected: 'a whole number, 0 or more',
        received: String(group.replicas),
      })
    }
    return {
      name: group.name ?? `group ${i + 1}`,
      replicas: group.replicas,
      engine: engineOf(group.engine, options),
      costPerHour: group.cost_per_hour ?? null,
    }
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

function trafficOf({ traffic = {} }: PolicyText, { traces }: SpecOptions): Traffic {
  if (traffic.trace !== undefined) {
    const trace = traces.get(traffic.trace)
    if (trace === undefined) throw new PlimsollError('PLIM_FILE', `${traffic.trace} was not read`)
    return { kind: 'trace', trace, speed: traffic.speed ?? 1, repeat: traffic.repeat ?? false }
  }
  const text = traffic.arrivals ?? 'poisson 5/s'
  return {
    kind: 'made',
    arrivals: dailyOf(text) ?? openLoopOf(text),
    promptTokens: checkLengths(
      parseLength(String(traffic.prompt ?? 1024), 'traffic.prompt'),
      'prompt length',
    ),
    outputTokens: checkLengths(parseLength(String(traffic.output ?? 128), 'traffic.output'), 'output length'),
    sharing: traffic.sharing ?? null,
  }
}

function openLoopOf(
  text: string,
): Exclude<Extract<Traffic, { kind: 'made' }>['arrivals'], { kind: 'daily' }> {
  const pacer = parsePacer(text, 'traffic.arrivals')
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
    lowPerSecond: parseRatePerSecond(low),
    highPerSecond: parseRatePerSecond(high),
    periodMs: parseDurationMs(period),
    phaseMs: 0,
  }
  if (arrivals.lowPerSecond <= arrivals.highPerSecond && arrivals.highPerSecond > 0) return arrivals
  throw new PlimsollError('PLIM_CONFIG', 'a day goes from its low to its high', {
    expected: 'daily LOW..HIGH over TIME, as "daily 2/s..20/s over 24h"',
    received: text,
  })
}

function routerOf({ router = 'round-robin' }: PolicyText): RouterSpec {
  const { kind, signal_every: every } =
    typeof router === 'string' ? { kind: router, signal_every: undefined } : router
  return { kind: oneOf(kind, routerKinds, 'router'), signalEveryMs: durationOf(every) ?? 0 }
}

function scalerOf({ scaler }: PolicyText): ScalerSpec | null {
  if (scaler === undefined || scaler === null) return null
  const { metric, target, min, max, cold_start: cold } = scaler
  if (metric === undefined || target === undefined || min === undefined || max === undefined) {
    const needed = { metric, target, min, max }
    const missing = Object.entries(needed).flatMap(([key, value]) => (value === undefined ? [key] : []))
    throw new PlimsollError('PLIM_CONFIG', `the scaler has no ${missing.join(', ')}`, {
      expected: 'metric, target, min and max, as { metric: in_flight, target: 16, min: 1, max: 8 }',
    })
  }
  return {
    ...kubernetesDefaults,
    metric: oneOf(metric, scalerMetrics, 'scaler.metric'),
    target: String(target),
    minReplicas: min,
    maxReplicas: max,
    ...defined({
      tolerance: scaler.tolerance === undefined ? undefined : String(scaler.tolerance),
      syncEveryMs: durationOf(scaler.sync),
      scrapeEveryMs: durationOf(scaler.scrape),
      metricDelayMs: durationOf(scaler.delay),
      upStabilizationMs: durationOf(scaler.up_stabilization),
      downStabilizationMs: durationOf(scaler.down_stabilization),
      coldStart: cold === undefined ? undefined : coldStartOf(cold),
      warmPool:
        scaler.warm_pool === undefined || scaler.warm_pool === null
          ? undefined
          : { replicas: scaler.warm_pool.replicas ?? 1, readyMs: durationOf(scaler.warm_pool.ready) ?? 1000 },
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

/**
 * `kill replica 3 at 60s [restart 2m]`, `replica 0: stall 5s at 10s` (any fault of the engine), `drop metrics at 60s for 5m`,
 * `freeze metrics at 60s for 5m`. Replicas are counted from 0.
 */
function faultOf(text: string): FleetFault {
  const kill = /^\s*kill\s+replica\s+(\d+)\s+at\s+(\S+)(?:\s+restart\s+(?:after\s+)?(\S+))?\s*$/.exec(text)
  if (kill !== null) {
    return {
      kind: 'kill',
      replica: Number(kill[1]),
      atMs: parseDurationMs(kill[2] ?? ''),
      restartMs: kill[3] === undefined ? null : parseDurationMs(kill[3]),
    }
  }
  const one = /^\s*replica\s+(\d+)\s*:\s*(.+)$/.exec(text)
  if (one !== null) return { kind: 'engine', replica: Number(one[1]), fault: engineFault(one[2] ?? '') }
  const fault = parseFault(text.trim(), 'faults')
  if (fault.kind === 'drop_metrics' || fault.kind === 'freeze_metrics') {
    return {
      kind: 'metrics',
      mode: fault.kind === 'drop_metrics' ? 'dropped' : 'frozen',
      fromMs: fault.fromMs,
      untilMs: fault.untilMs ?? Number.POSITIVE_INFINITY,
    }
  }
  throw new PlimsollError('PLIM_FAULT', 'a fault of an engine needs its replica', {
    expected: `"replica 0: ${text.trim()}", "kill replica 0 at 60s" or "drop metrics at 60s for 5m"`,
    received: text,
  })
}

function engineFault(text: string): ReturnType<typeof parseFault> {
  const fault = parseFault(text, 'faults')
  if (fault.kind === 'stall' || fault.kind === 'slow' || fault.kind === 'kv') return fault
  throw new PlimsollError('PLIM_FAULT', 'this fault has no meaning in a simulated fleet', {
    expected: 'stall, slow or kv; kill replica N at T',
    received: text,
  })
}
