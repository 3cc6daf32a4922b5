import { PlimsollError } from '../../base/errors.ts'
import { isOpenLoop, type Pacer } from '../../measure/load/pacer.ts'
import { parseAddress, splitSocket } from '../../measure/wire/target-url.ts'
import { plannedPoints } from '../../plan/rate-search.ts'
import { defaults, findDefaults, sweepDefaults } from './defaults.ts'
import { cvOfBurstiness, gammaPacer } from './pacer-text.ts'
import { asksExactLengths, resolveWorkload } from './resolve-workload.ts'
import type { FindConfig, ObjectiveConfig, RunConfig, SweepConfig } from './run-config.ts'
import type { RunOptions, SweepOptions } from './run-options.ts'
import { parseModels } from './traffic-text.ts'

/** Fills in what was not said and refuses what cannot be meant together (PLIM_USAGE). */
export function resolveRunConfig(options: RunOptions): RunConfig {
  if (options.warmPrefix === true && options.salt !== undefined)
    throw contradiction('--salt keeps prompts out of the cache, and --warm-prefix sends none', 'one of them')
  const target = resolveTarget(options)
  const workload = resolveWorkload(options)
  const models = options.models ?? parseModels(options.model ?? '') ?? []
  const { pacer, maxConnections, count, durationMs } = resolveLoad(options)
  return {
    target,
    api:
      options.api ?? (options.endpoint?.endsWith('/v1/completions') === true ? 'completions' : defaults.api),
    stream: options.stream ?? true,
    endpoint: options.endpoint ?? null,
    model:
      models[0]?.name ?? (options.model === undefined || options.model === 'auto' ? null : options.model),
    models,
    keyEnv: options.keyEnv ?? (options.api === 'anthropic' ? 'ANTHROPIC_API_KEY' : defaults.keyEnv),
    headers: options.headers ?? {},
    insecure: options.insecure ?? false,
    http2: options.http2 ?? false,
    awsSigv4: options.awsSigv4 ?? null,
    caFile: options.caFile ?? null,
    replicaHeader: options.replicaHeader ?? null,
    metricsUrls: checkedAddresses(options.metricsUrls ?? []),
    kvTokens: options.kvTokens ?? null,
    pacer,
    maxConnections,
    count,
    durationMs,
    warmup:
      options.warmupMs === 'detect'
        ? { kind: 'detect' }
        : { kind: 'fixed', ms: options.warmupMs ?? defaults.warmupMs },
    drainMs: options.drainMs ?? defaults.drainMs,
    workload,
    cancel: resolveCancellation(options),
    ignoreEos: options.ignoreEos ?? asksExactLengths(workload),
    extraBody: options.extraBody ?? {},
    bodyTemplatePath: options.bodyTemplatePath ?? null,
    tokenizerPath: options.tokenizerPath ?? null,
    objectives: options.objectives ?? [],
    percentiles: options.percentiles ?? defaults.percentiles,
    percentileType: options.percentileType ?? '1',
    seed: options.seed ?? defaults.seed,
    salt: options.salt ?? null,
    warmPrefix: options.warmPrefix ?? false,
    workers: options.workers ?? null,
    timeouts: {
      connectMs: options.connectTimeoutMs ?? defaults.connectTimeoutMs,
      firstTokenMs: orDefault(options.firstTokenTimeoutMs, defaults.firstTokenTimeoutMs),
      idleMs: orDefault(options.idleTimeoutMs, defaults.idleTimeoutMs),
      totalMs: orDefault(options.totalTimeoutMs, defaults.totalTimeoutMs),
    },
    keepText: options.keepText ?? false,
    name: options.name ?? null,
    out: options.out ?? null,
    runsDir: options.runsDir ?? defaults.runsDir,
    metadata: options.metadata ?? {},
  }
}

function orDefault<T>(value: T | undefined, other: T): T {
  return value === undefined ? other : value
}

function resolveCancellation({ cancelShare, cancelAfterMs }: RunOptions): RunConfig['cancel'] {
  if (cancelShare === undefined || cancelShare === 0) {
    if (cancelAfterMs !== undefined && cancelShare === undefined)
      throw contradiction('--cancel-after says when, and nothing how many', '--cancel-rate 10% beside it')
    return null
  }
  return { share: cancelShare, afterMs: cancelAfterMs ?? 0 }
}

function checkedAddresses(addresses: readonly string[]): readonly string[] {
  for (const address of addresses) parseAddress(address)
  return addresses
}

function resolveTarget(options: RunOptions): RunConfig['target'] {
  if (options.url !== undefined || options.host !== undefined || options.port !== undefined) {
    if (options.url !== undefined && (options.host !== undefined || options.port !== undefined)) {
      throw contradiction('--url and --host or --port both say where the server is', 'one of them')
    }
    const engine = Object.keys(options.engineSettings ?? {}).map((key) => `--engine-${key}`)
    if ((options.faults?.length ?? 0) > 0) engine.push('--fault')
    if (engine.length > 0) {
      throw contradiction(
        `${engine[0]!} belongs to the embedded engine, and --url names another server`,
        'one of them: without --url the embedded engine is started',
      )
    }
    const host = options.host ?? 'localhost'
    const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
    const url = options.url ?? `http://${bracketed}:${options.port ?? 8000}`
    // From here on it may be printed and stored: what must not be is refused before it is a part of any plan.
    parseAddress(splitSocket(url).url)
    return { kind: 'server', url }
  }
  return { kind: 'embedded', settings: options.engineSettings ?? {}, faults: options.faults ?? [] }
}

interface Load {
  readonly pacer: Pacer
  readonly maxConnections: number | null
  readonly count: number | null
  readonly durationMs: number | null
}

/**
 * vLLM's meaning of its flags: a rate alone is an open loop; `inf` (its default) with a limit is a closed loop of that many users,
 * and without one a single burst of everything; a finite rate with a limit is an open loop over that many connections.
 */
function resolveLoad(options: RunOptions): Load {
  if (options.pacer !== undefined && (options.rate !== undefined || options.burstiness !== undefined)) {
    throw contradiction('--pacer and --request-rate or --burstiness both say when to send', 'one of them')
  }
  const count = options.count ?? null
  const durationMs = options.durationMs ?? null
  const most = options.maxDurationMs
  const limit = options.concurrency ?? null
  const recorded = options.workload === 'trace' && options.pacer === undefined && options.rate === undefined
  const pacer =
    recorded && limit === null
      ? recordedTimes(options.workloadPath ?? '')
      : choosePacer(options, limit, count)
  const unended = count === null && durationMs === null
  const ownEnd =
    pacer.kind === 'ramp' ||
    pacer.kind === 'steps' ||
    pacer.kind === 'schedule' ||
    (pacer.kind === 'burst' && pacer.everyMs === null)
  const ownMs =
    unended && pacer.kind !== 'burst' ? (ownEnd ? pacerLengthMs(pacer) : defaults.durationMs) : durationMs
  return {
    pacer,
    maxConnections: isOpenLoop(pacer) ? limit : null,
    count: pacer.kind === 'burst' && pacer.everyMs === null && count === null ? pacer.size : count,
    durationMs: most === undefined ? ownMs : Math.min(most, ownMs ?? most),
  }
}

function choosePacer(options: RunOptions, limit: number | null, count: number | null): Pacer {
  if (options.pacer !== undefined) {
    if (options.pacer.kind === 'concurrency' && limit !== null && limit !== options.pacer.users) {
      throw contradiction('--pacer users and --concurrency name two numbers of users', 'one of them')
    }
    return options.pacer
  }
  const { rate, burstiness } = options
  if (rate === 'inf' || (rate === undefined && limit !== null)) {
    if (burstiness !== undefined)
      throw contradiction('--burstiness shapes the gaps of a rate, and there is none', 'a --request-rate')
    if (limit !== null) return { kind: 'concurrency', users: limit, thinkTimeMs: 0 }
    return { kind: 'burst', size: count ?? defaults.count, everyMs: null }
  }
  return gammaPacer(
    rate ?? defaults.ratePerSecond,
    burstiness === undefined ? 1 : cvOfBurstiness(burstiness, '--burstiness'),
  )
}

/** The times of a trace, which are in its file: whoever reads it puts them here. */
function recordedTimes(name: string): Pacer {
  return { kind: 'schedule', timesMs: [], name }
}

function pacerLengthMs(pacer: Pacer): number | null {
  if (pacer.kind === 'ramp') return pacer.durationMs
  if (pacer.kind === 'steps') return pacer.steps.reduce((sum, step) => sum + step.durationMs, 0)
  return null
}

/** As `resolveRunConfig`, with a sweep's own defaults: what it sweeps, and an objective to look for. */
export function resolveSweepConfig(
  options: SweepOptions,
  embeddedLengths: Pick<RunOptions, 'prompt' | 'output'> = sweepDefaults.lengths,
): SweepConfig {
  // The sweep says when to send; only the think time of users may come from outside.
  const { rate: _rate, concurrency: _concurrency, pacer, maxDurationMs, ...rest } = options
  if (options.loads !== undefined && options.loads.length === 0)
    throw contradiction('the sweep has no load to try', '1,2,4 or auto')
  if (options.traceSpeed !== undefined)
    throw contradiction(
      '--trace-speed is of the times of a trace, and rising loads replace them',
      'no speed, or plimsoll run',
    )
  const embedded = options.url === undefined && options.host === undefined && options.port === undefined
  const objectives = sweepObjectives(options)
  const run = resolveRunConfig({
    ...(embedded &&
    options.workload === undefined &&
    options.workloadPath === undefined &&
    options.classes === undefined &&
    options.scenario === undefined
      ? embeddedLengths
      : {}),
    ...rest,
    objectives,
    ...(pacer?.kind === 'concurrency' ? { pacer } : {}),
  })
  return {
    run,
    axis: options.axis ?? 'concurrency',
    loads: options.loads === undefined ? null : [...new Set(options.loads)].sort((a, b) => a - b),
    maxPoints: options.maxPoints ?? sweepDefaults.maxPoints,
    pointDurationMs: options.pointDurationMs ?? options.durationMs ?? null,
    warmupMs: typeof options.warmupMs === 'number' ? options.warmupMs : null,
    confirm: options.confirm ?? true,
    confirmDurationMs: options.confirmDurationMs ?? null,
    resume: options.resume ?? null,
    maxDurationMs: maxDurationMs ?? null,
  }
}

/** As a sweep's, for one rate: an objective that can fail is what is looked for. */
export function resolveFindConfig(options: SweepOptions): FindConfig {
  const { run, pointDurationMs, warmupMs, maxDurationMs } = resolveSweepConfig(options, findDefaults.lengths)
  if (run.objectives.every(({ form }) => form === 'vllm')) {
    throw contradiction('--goodput counts and never fails, so that no rate fails it', 'an objective in --slo')
  }
  const resolution = options.resolution ?? findDefaults.resolution
  return {
    run,
    from: options.rateFrom ?? null,
    resolution,
    points: options.maxPoints ?? plannedPoints(resolution),
    pointDurationMs,
    warmupMs,
    maxDurationMs,
  }
}

function sweepObjectives(options: SweepOptions): readonly ObjectiveConfig[] {
  const plain = { name: null, good: null, form: 'plimsoll', shedIsBad: true } as const
  if (
    options.capacityObjective !== undefined &&
    (options.objectives?.every((one) => one.name !== null) ?? true)
  ) {
    return [{ ...plain, text: options.capacityObjective }]
  }
  return options.objectives ?? [{ ...plain, text: sweepDefaults.objective }]
}

function contradiction(message: string, expected: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', message, { expected })
}
