import { dirname, isAbsolute, join } from 'node:path'
import type { TextPosition } from '../../base/errors.ts'
import { placed } from '../../base/placed.ts'
import { exactShare, parseCount, parsePercent, parseRatePerSecond } from '../../base/units.ts'
import { checkPacer, type Pacer } from '../../measure/load/pacer.ts'
import { parseHeader } from '../../measure/workload/header-template.ts'
import type { ArrivalsText, ClassText, ConfigFile, LengthText } from './config-file-type.ts'
import { lognormalLength, normalLength, parseLength, uniformLength } from './length-text.ts'
import { parsePrefixTokens, parseRequests, parseTurns, parseWaitMs } from './load-limits.ts'
import { gammaPacer, positiveDuration, positiveRate } from './pacer-text.ts'
import type { LengthConfig, ObjectiveConfig } from './run-config.ts'
import type { ClassOptions, SweepOptions } from './run-options.ts'
import { parseScenario, parseSpeed, parseThinkTime } from './traffic-text.ts'
import { wordOr } from './word-or.ts'

type Path = readonly (string | number)[]
type Reader<T> = (text: string, what: string) => T

/** What the file says as options. Texts are read by the readers of the flags; what they refuse is told with its position. */
export function configOptions(config: ConfigFile, where: (path: Path) => TextPosition): SweepOptions {
  function read<T>(path: Path, value: string | number | undefined, reader: Reader<T>): T | undefined {
    return value === undefined ? undefined : positioned(path, () => reader(String(value), path.join('.')))
  }
  const positioned = <T>(path: Path, make: () => T): T => placed(() => where(path), make)
  /** A file that a file names stands beside it. */
  const beside = (path: string | undefined): string | undefined =>
    path === undefined || isAbsolute(path) ? path : join(dirname(where([]).file), path)
  const count: Reader<number> = (text, what) => parseCount(text, what, 1)
  const limit: Reader<number | null> = (text, what) =>
    wordOr('none', null, text, (value) => positiveDuration(value, what))
  function asked(
    said: Omit<ClassText, 'weight' | 'kind'>,
    path: Path,
  ): Partial<
    Record<'prompt' | 'output', LengthConfig | undefined> & {
      scenario: SweepOptions['scenario'] | undefined
      prefixHitRate: number | undefined
      sharedPrefixTokens: number | undefined
    }
  > {
    const length = (key: 'prompt' | 'output'): LengthConfig | undefined =>
      lengthOf(said[key], (make) => positioned([...path, key], () => make([...path, key].join('.'))))
    return {
      prompt: length('prompt'),
      output: length('output'),
      scenario: read([...path, 'scenario'], said.scenario, parseScenario),
      prefixHitRate: read([...path, 'prefix_hit_rate'], said.prefix_hit_rate, parsePercent),
      sharedPrefixTokens: read([...path, 'shared_prefix'], said.shared_prefix, parsePrefixTokens),
    }
  }
  function headersOf(headers: Readonly<Record<string, string>> | undefined): SweepOptions['headers'] {
    for (const [name, value] of Object.entries(headers ?? {}))
      positioned(['target', 'headers', name], () => parseHeader(name, value))
    return headers
  }
  const { target, workload, arrivals, window, sweep, client, output } = config
  const timeouts = client?.timeouts
  const loads = sweep?.rates ?? sweep?.concurrency
  const axis = sweep?.rates === undefined ? 'concurrency' : 'rates'
  const options: { [K in keyof SweepOptions]: SweepOptions[K] | undefined } = {
    url: target?.url,
    api: target?.api,
    stream: target?.stream,
    http2: target?.http2,
    awsSigv4: target?.aws_sigv4,
    endpoint: target?.endpoint,
    model: target?.model,
    models: target?.models && Object.entries(target.models).map(([name, weight]) => ({ name, weight })),
    keyEnv: target?.key?.env,
    headers: headersOf(texts(target?.headers)),
    insecure: target?.insecure,
    caFile: beside(target?.ca),
    replicaHeader: target?.replica_header?.toLowerCase(),
    metricsUrls: target?.metrics,
    kvTokens: read(['target', 'kv_tokens'], target?.kv_tokens, count),
    pacer: arrivals && positioned(['arrivals'], () => checkPacer(pacerOf(arrivals, read))),
    concurrency:
      arrivals !== undefined && 'max_connections' in arrivals
        ? read(['arrivals', 'max_connections'], arrivals.max_connections, count)
        : undefined,
    count: read(['window', 'requests'], window?.requests, parseRequests),
    durationMs: read(['window', 'measure'], window?.measure, positiveDuration),
    warmupMs: read(['window', 'warmup'], window?.warmup, (text, what) =>
      wordOr('auto', 'detect' as const, text, (value) => parseWaitMs(value, what)),
    ),
    drainMs: read(['window', 'drain'], window?.drain, parseWaitMs),
    workload: workload?.kind,
    workloadPath: beside(workload?.path),
    ...asked(workload ?? {}, ['workload']),
    turns: read(['workload', 'turns'], workload?.turns, parseTurns),
    turnThink: read(['workload', 'turn_think'], workload?.turn_think, parseThinkTime),
    traceSpeed: read(['workload', 'speed'], workload?.speed, parseSpeed),
    classes:
      workload?.classes &&
      Object.entries(workload.classes).map(([name, one]): ClassOptions => {
        const said = {
          workload: one.kind,
          workloadPath: beside(one.path),
          ...asked(one, ['workload', 'classes', name]),
        }
        return { name, weight: one.weight, ...defined(said) }
      }),
    cancelShare: read(['workload', 'cancel', 'share'], workload?.cancel?.share, parsePercent),
    cancelAfterMs: read(['workload', 'cancel', 'after'], workload?.cancel?.after, parseWaitMs),
    ignoreEos: workload?.ignore_eos,
    extraBody: workload?.extra_body,
    bodyTemplatePath: beside(workload?.body_template),
    tokenizerPath: beside(workload?.tokenizer),
    salt: workload?.salt,
    warmPrefix: workload?.warm_prefix,
    seed: config.seed === undefined ? undefined : String(config.seed),
    objectives: objectivesOf(config, read),
    capacityObjective: config.capacity?.at,
    percentiles: output?.percentiles?.map(String),
    percentileType: output?.percentile_type,
    workers: read(['client', 'workers'], client?.workers, count),
    connectTimeoutMs: read(['client', 'timeouts', 'connect'], timeouts?.connect, positiveDuration),
    firstTokenTimeoutMs: read(['client', 'timeouts', 'first_token'], timeouts?.first_token, limit),
    idleTimeoutMs: read(['client', 'timeouts', 'idle'], timeouts?.idle, limit),
    totalTimeoutMs: read(['client', 'timeouts', 'total'], timeouts?.total, limit),
    keepText: client?.keep_text,
    name: output?.name,
    runsDir: output?.runs_dir,
    metadata: texts(output?.metadata),
    engineSettings: settingsOf(config.engine),
    faults: config.faults,
    axis: loads === undefined ? undefined : axis === 'rates' ? 'rate' : 'concurrency',
    loads:
      loads === undefined || loads === 'auto'
        ? undefined
        : loads.map((load, index) =>
            read(['sweep', axis, index], load, axis === 'rates' ? positiveRate : count)!,
          ),
    maxPoints: read(['sweep', 'points'], sweep?.points, (text, what) => parseCount(text, what, 2, 1000)),
    pointDurationMs: read(['sweep', 'duration_per_point'], sweep?.duration_per_point, positiveDuration),
    confirm: sweep?.confirm,
    matrix: config.matrix,
    repeat: config.repeat,
  }
  return defined(options) as SweepOptions
}

/** Without the keys that have no value. */
function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

type Read = <T>(path: Path, value: string | number | undefined, reader: Reader<T>) => T | undefined

function pacerOf(arrivals: ArrivalsText, read: Read): Pacer {
  const at = (key: string): Path => ['arrivals', key]
  switch (arrivals.kind) {
    case 'constant':
      return { kind: 'constant', ratePerSecond: read(at('rate'), arrivals.rate, positiveRate)! }
    case 'poisson':
      return { kind: 'poisson', ratePerSecond: read(at('rate'), arrivals.rate, positiveRate)! }
    case 'gamma':
      return gammaPacer(read(at('rate'), arrivals.rate, positiveRate)!, arrivals.cv)
    case 'ramp':
      return {
        kind: 'ramp',
        fromPerSecond: read(at('from'), arrivals.from, parseRatePerSecond)!,
        toPerSecond: read(at('to'), arrivals.to, parseRatePerSecond)!,
        durationMs: read(at('over'), arrivals.over, positiveDuration)!,
        ...(arrivals.spacing === undefined ? {} : { spacing: arrivals.spacing }),
      }
    case 'steps':
      return {
        kind: 'steps',
        steps: arrivals.steps.map((step, index) => ({
          ratePerSecond: read(['arrivals', 'steps', index, 'rate'], step.rate, parseRatePerSecond)!,
          durationMs: read(['arrivals', 'steps', index, 'for'], step.for, positiveDuration)!,
        })),
        ...(arrivals.spacing === undefined ? {} : { spacing: arrivals.spacing }),
      }
    case 'burst':
      return {
        kind: 'burst',
        size: read(at('size'), arrivals.size, parseRequests)!,
        everyMs: read(at('every'), arrivals.every, positiveDuration) ?? null,
      }
    default:
      return {
        kind: 'concurrency',
        users: read(at('users'), arrivals.users, (text, what) => parseCount(text, what, 1))!,
        thinkTimeMs: read(at('think'), arrivals.think, parseWaitMs) ?? 0,
        ...(arrivals.think_time === undefined ? {} : { thinkTime: arrivals.think_time }),
        ...(arrivals.stagger === undefined
          ? {}
          : { staggerMs: read(at('stagger'), arrivals.stagger, parseWaitMs)! }),
      }
  }
}

function lengthOf(
  length: LengthText | undefined,
  positioned: (make: (what: string) => LengthConfig) => LengthConfig,
): LengthConfig | undefined {
  if (length === undefined) return undefined
  return positioned((what) => {
    if (typeof length !== 'object') return parseLength(String(length), what)
    if ('lognormal' in length) return lognormalLength(length.lognormal.median, length.lognormal.p99, what)
    if ('uniform' in length) return uniformLength(length.uniform.low, length.uniform.high, what)
    const { mean, sd = 0 } = 'normal' in length ? length.normal : length
    return normalLength(mean, sd, what)
  })
}

function objectivesOf(config: ConfigFile, read: Read): readonly ObjectiveConfig[] | undefined {
  if (config.objectives === undefined) return undefined
  // An objective without limits is watched by `slo`; a run says of every request what became of it anyway.
  const limited = Object.entries(config.objectives).flatMap(([name, { each, ...rest }]) =>
    each === undefined ? [] : [{ name, each, ...rest }],
  )
  return limited.map(({ name, each, good, shed }) => ({
    name,
    text: each,
    good:
      read(['objectives', name, 'good'], good, (text, what) => {
        exactShare(text, what)
        return text
      }) ?? null,
    form: 'plimsoll',
    shedIsBad: shed !== 'ignore',
  }))
}

function texts(
  pairs: Readonly<Record<string, string | number | boolean>> | undefined,
): Readonly<Record<string, string>> | undefined {
  return pairs && Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key, String(value)]))
}

/** Keys as the flags have them: `max_num_seqs` is `--max-num-seqs`, false is `--no-…`. */
function settingsOf(engine: ConfigFile['engine']): Readonly<Record<string, string | true>> | undefined {
  return (
    engine &&
    Object.fromEntries(
      Object.entries(engine).map(([key, value]) => {
        const name = key.replaceAll('_', '-')
        if (value === false) return [`no-${name}`, true] as const
        return [name, value === true ? true : String(value)] as const
      }),
    )
  )
}
