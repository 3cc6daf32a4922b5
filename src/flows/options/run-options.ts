import type { Pacer } from '../../measure/load/pacer.ts'
import type { ApiKind } from '../../measure/wire/api.ts'
import type { WeightedModel } from '../../measure/workload/model-choice.ts'
import type { LengthConfig, ObjectiveConfig } from './run-config.ts'
import type { ScenarioLengths, ThinkTime } from './traffic-text.ts'

/**
 * What was said, in flags or in plimsoll.yaml: every field may be missing. `resolveRunConfig` merges the two (flags win) and fills
 * in the rest. Times in ms, rates per second.
 */
export interface RunOptions {
  readonly url?: string
  readonly host?: string
  readonly port?: number
  readonly api?: ApiKind
  readonly stream?: boolean
  readonly endpoint?: string
  /** One name, or `a:3,b:1`. */
  readonly model?: string
  readonly models?: readonly WeightedModel[]
  readonly keyEnv?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly insecure?: boolean
  readonly http2?: boolean
  readonly awsSigv4?: string
  readonly caFile?: string
  readonly replicaHeader?: string
  readonly metricsUrls?: readonly string[]
  readonly kvTokens?: number

  readonly rate?: number | 'inf'
  readonly burstiness?: number
  readonly concurrency?: number
  readonly pacer?: Pacer

  readonly count?: number
  /** The window is never longer, whatever else says its end. */
  readonly maxDurationMs?: number
  readonly durationMs?: number
  readonly warmupMs?: number | 'detect'
  readonly drainMs?: number

  readonly workload?: 'random' | 'jsonl' | 'sharegpt' | 'batch' | 'trace' | 'mix'
  readonly workloadPath?: string
  readonly prompt?: LengthConfig
  readonly output?: LengthConfig
  readonly rangeRatio?: number
  readonly scenario?: ScenarioLengths
  readonly prefixHitRate?: number
  readonly sharedPrefixTokens?: number
  readonly traceSpeed?: number
  readonly classes?: readonly ClassOptions[]
  /** Requests of a session; each sends all that was said before. */
  readonly turns?: number
  readonly turnThink?: ThinkTime
  readonly cancelShare?: number
  readonly cancelAfterMs?: number
  readonly ignoreEos?: boolean
  readonly extraBody?: Readonly<Record<string, unknown>>
  readonly bodyTemplatePath?: string
  readonly tokenizerPath?: string
  readonly seed?: string
  readonly salt?: string
  readonly warmPrefix?: boolean

  readonly objectives?: readonly ObjectiveConfig[]
  readonly percentiles?: readonly string[]
  readonly percentileType?: '1' | '6' | '7' | 'floor'

  readonly workers?: number
  readonly connectTimeoutMs?: number
  readonly firstTokenTimeoutMs?: number | null
  readonly idleTimeoutMs?: number | null
  readonly totalTimeoutMs?: number | null

  readonly keepText?: boolean
  readonly name?: string
  readonly out?: string
  readonly runsDir?: string
  readonly metadata?: Readonly<Record<string, string>>

  readonly engineSettings?: Readonly<Record<string, string | true>>
  readonly faults?: readonly string[]
}

/** A class of a mix: a workload of its own, and how often it is asked. */
export interface ClassOptions extends Pick<
  RunOptions,
  'workloadPath' | 'prompt' | 'output' | 'scenario' | 'prefixHitRate' | 'sharedPrefixTokens'
> {
  readonly name: string
  readonly weight: number
  readonly workload?: 'random' | 'jsonl' | 'sharegpt' | 'batch'
}

/** What a sweep adds. */
export interface SweepOptions extends RunOptions {
  readonly axis?: 'concurrency' | 'rate'
  readonly loads?: readonly number[]
  readonly maxPoints?: number
  readonly pointDurationMs?: number
  readonly confirm?: boolean
  readonly confirmDurationMs?: number
  readonly resume?: string
  /** Of `find`: the first rate, and how close the ends shall come. */
  readonly rateFrom?: number
  readonly resolution?: number
  /** Flags of `run` and their values: every combination is run. */
  readonly matrix?: Readonly<Record<string, readonly (string | number | boolean)[]>>
  /** So many runs of each combination. */
  readonly repeat?: number
  /** `capacity.at` of plimsoll.yaml: the objective of a sweep that names none. */
  readonly capacityObjective?: string
}

const loadKeys = ['rate', 'concurrency', 'pacer', 'burstiness'] as const
const workloadKeys = ['workload', 'workloadPath', 'scenario', 'classes'] as const
const endKeys = ['count', 'durationMs'] as const

/**
 * Later options over earlier ones. Headers, metadata, extra fields and engine settings are joined; everything else is replaced,
 * and what belongs together is replaced together: a load that is said anew replaces the whole load (a rate of the file must not turn
 * `--concurrency 8` into a limit), and so do the ends of the run and the way to the server.
 */
export function mergeOptions<T extends SweepOptions>(base: T, over: T): T {
  const dropped: (keyof SweepOptions)[] = []
  if (over.rate !== undefined || over.concurrency !== undefined || over.pacer !== undefined)
    dropped.push(...loadKeys)
  if (over.count !== undefined || over.durationMs !== undefined) dropped.push(...endKeys)
  if (over.url !== undefined) dropped.push('host', 'port')
  if (over.host !== undefined || over.port !== undefined) dropped.push('url')
  // The engine that the file configures is not started where the flags name a server.
  if (over.url !== undefined || over.host !== undefined || over.port !== undefined)
    dropped.push('engineSettings', 'faults')
  if (over.axis !== undefined) dropped.push('loads')
  if (over.model !== undefined) dropped.push('models')
  if (workloadKeys.some((key) => over[key] !== undefined)) dropped.push(...replacedWorkload(over))
  const under = Object.fromEntries(
    Object.entries(base).filter(([key]) => !dropped.includes(key as keyof SweepOptions)),
  )
  return {
    ...under,
    ...over,
    ...joined('headers', base, over),
    ...joined('metadata', base, over),
    ...joined('engineSettings', under, over),
    ...joined('extraBody', base, over),
  } as T
}

/** A workload that is said anew does not keep the classes, file or lengths of the one that it replaces. */
function replacedWorkload(over: RunOptions): readonly (keyof RunOptions)[] {
  if (over.scenario !== undefined) return ['prompt', 'output', 'classes']
  if (over.classes !== undefined)
    return ['workload', 'workloadPath', 'scenario', 'prompt', 'output', 'prefixHitRate', 'traceSpeed']
  return ['classes', 'scenario']
}

function joined<K extends 'headers' | 'metadata' | 'engineSettings' | 'extraBody'>(
  key: K,
  base: RunOptions,
  over: RunOptions,
): Partial<Record<K, object>> {
  if (base[key] === undefined && over[key] === undefined) return {}
  return { [key]: { ...base[key], ...over[key] } } as Partial<Record<K, object>>
}
