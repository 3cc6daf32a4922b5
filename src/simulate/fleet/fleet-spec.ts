import type { Objective } from '../../measure/metrics/objective.ts'
import type { OpenLoopPacer } from '../../measure/load/pacer.ts'
import type { LengthDistribution } from '../../measure/workload/length-distribution.ts'
import type { Trace } from '../../measure/workload/trace.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import type { Fault } from '../engine/fault.ts'

/** A fleet and what happens to it. Times in ms of the simulation, which begins at 0. */
export interface FleetSpec {
  readonly name: string
  readonly seed: string
  /** Requests arrive before this. */
  readonly durationMs: number
  /** How long after that running requests may still end; what then runs is censored. */
  readonly drainMs: number
  /** The autoscaler, where there is one, changes the first group. */
  readonly groups: readonly ReplicaGroup[]
  readonly traffic: Traffic
  readonly router: RouterSpec
  readonly scaler: ScalerSpec | null
  readonly admission: AdmissionSpec
  readonly clients: ClientSpec
  readonly faults: readonly FleetFault[]
  /** Per-request limits count as in goodput; null counts what was answered. */
  readonly objective: Objective | null
  /** Length of the windows that figures over time are given for. */
  readonly windowMs: number
}

export interface ReplicaGroup {
  readonly name: string
  readonly replicas: number
  readonly engine: EngineConfig
  readonly costPerHour: number | null
}

export type Traffic =
  | {
      readonly kind: 'made'
      readonly arrivals: OpenLoopPacer | DailyRate
      readonly promptTokens: LengthDistribution
      readonly outputTokens: LengthDistribution
      /** Prompts of one group begin alike: so many groups, drawn evenly, and how many tokens they share. */
      readonly sharing: { readonly groups: number; readonly tokens: number } | null
    }
  /** Lengths as they were seen: pairs of prompt and output, drawn evenly. Prompts share nothing. */
  | {
      readonly kind: 'pairs'
      readonly arrivals: OpenLoopPacer | DailyRate
      readonly pairs: readonly (readonly [promptTokens: number, outputTokens: number])[]
    }
  | { readonly kind: 'trace'; readonly trace: Trace; readonly speed: number; readonly repeat: boolean }

/** A Poisson process whose rate swings once in `periodMs` between its low and its high, lowest at 0 of the day; it begins at `phaseMs` of it. */
export interface DailyRate {
  readonly kind: 'daily'
  readonly lowPerSecond: number
  readonly highPerSecond: number
  readonly periodMs: number
  readonly phaseMs: number
}

export const routerKinds = ['random', 'round-robin', 'least-loaded', 'prefix-aware'] as const

export interface RouterSpec {
  readonly kind: (typeof routerKinds)[number]
  /** The router sees loads as they were at the last multiple of this; 0: as they are. */
  readonly signalEveryMs: number
}

export const scalerMetrics = ['waiting', 'in_flight', 'kv_usage', 'cpu'] as const

/** A HorizontalPodAutoscaler on an average value. */
export interface ScalerSpec {
  readonly metric: (typeof scalerMetrics)[number]
  /** Wanted average of a replica. */
  readonly target: string
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly tolerance: string
  readonly syncEveryMs: number
  /** Metrics are read this often, and can be used so much later. */
  readonly scrapeEveryMs: number
  readonly metricDelayMs: number
  readonly upStabilizationMs: number
  readonly downStabilizationMs: number
  readonly coldStart: ColdStartSpec
  /** Replicas kept started beside those that serve, and how long one takes to serve. */
  readonly warmPool: { readonly replicas: number; readonly readyMs: number } | null
}

/** Time from the order of a replica until it serves: always the same, or log-normal with that median and p99. */
export type ColdStartSpec =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'lognormal'; readonly medianMs: number; readonly p99Ms: number }

export interface AdmissionSpec {
  /** Requests that a replica may hold; the others wait in front of all replicas. Null: no limit. */
  readonly maxInFlightPerReplica: number | null
  /** Requests that may wait there before more are answered 429. Null: no limit. */
  readonly maxQueue: number | null
  /** A request that waited there so long is answered 503. Null: never. */
  readonly queueTimeoutMs: number | null
}

export interface ClientSpec {
  /** A client that has no whole answer by then hangs up. Null: never. */
  readonly timeoutMs: number | null
  /** Further attempts after a refusal, a hang-up or a lost replica. */
  readonly retries: number
  /** Pause before the first of them, doubled each time, each spread evenly over 50–150 %. */
  readonly backoffMs: number
}

export type FleetFault =
  | { readonly kind: 'engine'; readonly replica: number; readonly fault: Fault }
  /** Everything in it is lost. It comes back a cold start later, `restartMs` after; null: never. */
  | {
      readonly kind: 'kill'
      readonly replica: number
      readonly atMs: number
      readonly restartMs: number | null
    }
  /** The autoscaler sees nothing, or what it last saw. */
  | {
      readonly kind: 'metrics'
      readonly mode: 'dropped' | 'frozen'
      readonly fromMs: number
      readonly untilMs: number
    }

export const noAdmission: AdmissionSpec = {
  maxInFlightPerReplica: null,
  maxQueue: null,
  queueTimeoutMs: null,
}
export const patientClients: ClientSpec = { timeoutMs: null, retries: 0, backoffMs: 1000 }

/** Kubernetes' defaults (sync 15 s, tolerance 0.1, scale-down held for 300 s), scraped every 15 s. */
export const kubernetesDefaults: Omit<ScalerSpec, 'metric' | 'target' | 'minReplicas' | 'maxReplicas'> = {
  tolerance: '0.1',
  syncEveryMs: 15_000,
  scrapeEveryMs: 15_000,
  metricDelayMs: 0,
  upStabilizationMs: 0,
  downStabilizationMs: 300_000,
  coldStart: { kind: 'fixed', ms: 120_000 },
  warmPool: null,
}
