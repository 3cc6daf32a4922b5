import type { Pacer } from '../../measure/load/pacer.ts'
import type { ApiKind } from '../../measure/wire/api.ts'
import type { LengthDistribution } from '../../measure/workload/length-distribution.ts'
import type { Cancellation } from '../../measure/workload/make-plan.ts'
import type { SessionWorkload } from '../../measure/workload/workload.ts'
import type { WeightedModel } from '../../measure/workload/model-choice.ts'

/** Lengths in tokens, as they are asked for. */
export type LengthConfig = LengthDistribution

export type WorkloadConfig =
  | OneWorkloadConfig
  /** Conversations: `session` and `turn` on the row. */
  | SessionWorkload
  /** Classes side by side, drawn by weight; the class is the segment of the row. */
  | {
      readonly kind: 'mix'
      readonly classes: readonly {
        readonly name: string
        readonly weight: number
        readonly workload: OneWorkloadConfig
      }[]
    }

export type OneWorkloadConfig =
  | {
      readonly kind: 'random'
      readonly prompt: LengthConfig
      readonly output: LengthConfig
      /** Tokens at the front that all prompts share, or the share of each prompt that they do. */
      readonly sharedPrefixTokens?: number
      readonly sharedPrefixShare?: number
    }
  /** Lengths of answers are those of the file where it has them, else `output`. */
  | { readonly kind: 'jsonl'; readonly path: string; readonly output: LengthConfig | null }
  | { readonly kind: 'sharegpt'; readonly path: string; readonly output: LengthConfig | null }
  | { readonly kind: 'batch'; readonly path: string; readonly output: LengthConfig | null }
  /** Recorded traffic; its own times, `speed` times as fast, unless another load is said. */
  | { readonly kind: 'trace'; readonly path: string; readonly speed: number }

export interface ServerTarget {
  readonly kind: 'server'
  readonly url: string
}

/** The embedded engine: `settings` are the engine verb's own flags, by their names without dashes ("max-num-seqs"). */
export interface EmbeddedTarget {
  readonly kind: 'embedded'
  readonly settings: Readonly<Record<string, string | true>>
  readonly faults: readonly string[]
}

export interface ObjectiveConfig {
  /** `chat` of `objectives: { chat: … }`, or null. */
  readonly name: string | null
  /** In the one grammar of objectives, or vLLM's `ttft:500 tpot:30`. */
  readonly text: string
  /** The share that must be good, as written ("99.5%"), where it is said apart from the text. */
  readonly good: string | null
  /** vLLM's form never fails a run. */
  readonly form: 'plimsoll' | 'vllm'
  /** Whether a refusal counts as bad. */
  readonly shedIsBad: boolean
}

/** A load test, complete: nothing is left to be defaulted. Times in ms. */
export interface RunConfig {
  readonly target: ServerTarget | EmbeddedTarget
  readonly api: ApiKind
  /** Ask for streams; without them there is neither TTFT nor TPOT. */
  readonly stream: boolean
  /** Path of the endpoint, or null: that of the API. */
  readonly endpoint: string | null
  /** Null: ask the server. */
  readonly model: string | null
  /** Models that requests are spread over by weight, `model` the first of them; none: all go to `model`. */
  readonly models: readonly WeightedModel[]
  /** The environment variable that holds the key. The key itself is never in a config. */
  readonly keyEnv: string
  /** Values may hold placeholders. */
  readonly headers: Readonly<Record<string, string>>
  /** Do not verify the certificate. */
  readonly insecure: boolean
  /** Speak HTTP/2. */
  readonly http2: boolean
  /** Sign requests for this AWS service (`SERVICE` or `SERVICE:REGION`), or null. The credentials are never in a config. */
  readonly awsSigv4: string | null
  /** PEM file of a further certificate authority. */
  readonly caFile: string | null
  readonly replicaHeader: string | null
  readonly metricsUrls: readonly string[]
  readonly kvTokens: number | null
  readonly pacer: Pacer
  /** Open loop: at most this many connections, the wait for one counting as lag. Null: no limit. */
  readonly maxConnections: number | null
  /** The run ends with the first of count and duration; without both with its pacer (a recorded trace). */
  readonly count: number | null
  readonly durationMs: number | null
  /** `detect`: cut by the steady-state test. */
  readonly warmup: { readonly kind: 'fixed'; readonly ms: number } | { readonly kind: 'detect' }
  readonly drainMs: number
  readonly workload: WorkloadConfig
  /** Requests that the client hangs up on; null: it waits for every answer. */
  readonly cancel: Cancellation | null
  readonly ignoreEos: boolean
  /** Fields added to every request body. */
  readonly extraBody: Readonly<Record<string, unknown>>
  /** File of the body's template, or null: the API's own body. */
  readonly bodyTemplatePath: string | null
  /** A tokenizer.json or tokenizer.model, or null: the server counts. */
  readonly tokenizerPath: string | null
  readonly objectives: readonly ObjectiveConfig[]
  /** As percent texts: `99.9`. */
  readonly percentiles: readonly string[]
  readonly percentileType: '1' | '6' | '7' | 'floor'
  readonly seed: string
  /** Null: a fresh one. */
  readonly salt: string | null
  /** Leave the prefix cache as it is: the same prompts hit it. */
  readonly warmPrefix: boolean
  /** Null: as many as the machine has use for. */
  readonly workers: number | null
  readonly timeouts: Timeouts
  readonly keepText: boolean
  readonly name: string | null
  /** Exactly this folder, or null: a new one in `runsDir`. */
  readonly out: string | null
  readonly runsDir: string
  /** Free pairs kept with the run. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Ms; null: none. */
export interface Timeouts {
  readonly connectMs: number
  readonly firstTokenMs: number | null
  readonly idleMs: number | null
  readonly totalMs: number | null
}

/** Rising load. The pacer of `run` is replaced at each point. */
export interface SweepConfig {
  readonly run: RunConfig
  readonly axis: 'concurrency' | 'rate'
  /** The loads to try, rising; null: found by doubling, then bisection around the SLO wall. */
  readonly loads: readonly number[] | null
  /** At most this many points where they are found. */
  readonly maxPoints: number
  /** Null: as long as the objective's percentile needs. */
  readonly pointDurationMs: number | null
  /** Before the window of each point, ms; null: by how long its answers take. */
  readonly warmupMs: number | null
  /** Confirm the operating point with a Poisson run. */
  readonly confirm: boolean
  /** How long the confirmation runs, or null: as long as its percentile needs. */
  readonly confirmDurationMs: number | null
  /** A sweep's folder to go on with, or null. */
  readonly resume: string | null
  /** Nothing is sent so long after the start; null: no limit. */
  readonly maxDurationMs: number | null
}

/** The highest Poisson rate at which the objectives hold. The pacer of `run` is replaced at each point. */
export interface FindConfig {
  readonly run: RunConfig
  /** The first rate, requests per second; null: half of what short closed loops of many users get. */
  readonly from: number | null
  /** How far apart the holding and the failing rate may be, as a share of the holding one. */
  readonly resolution: number
  /** The most points that are tried. */
  readonly points: number
  /** The longest that a point is measured; null: as long as its looks need. */
  readonly pointDurationMs: number | null
  /** Before the window of each point, ms; null: by how long its answers take. */
  readonly warmupMs: number | null
  readonly maxDurationMs: number | null
}
