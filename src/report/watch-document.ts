/** One look at a live deployment: what `plimsoll watch --json` prints, a line a look. Public names; null is not known. */
export interface WatchDocument {
  readonly schema: 'plimsoll.watch/1'
  readonly plimsoll: string
  readonly at: string
  /** Since the watch began, s. */
  readonly elapsed_s: number
  readonly replicas: readonly WatchReplica[]
  readonly fleet: WatchFleet
  readonly objectives: readonly WatchObjective[]
  readonly walls: readonly WatchWall[]
  readonly notes: readonly string[]
}

export interface WatchReplica {
  readonly name: string
  readonly engine: string | null
  readonly up: boolean
  /** Since its page was last read, s; null: never. */
  readonly age_s: number | null
  readonly running: number | null
  readonly waiting: number | null
  readonly kv_usage: number | null
}

export interface WatchFleet {
  readonly up: number
  readonly known: number
  /** Sums over the replicas that are up. */
  readonly running: number | null
  readonly waiting: number | null
  readonly kv_usage_max: number | null
  readonly cpu: number | null
  readonly gpu_memory: number | null
  /** Over the shortest window. */
  readonly window_s: number
  readonly requests_per_s: number | null
  readonly output_tokens_per_s: number | null
  readonly ttft: WatchLatency | null
  readonly tpot: WatchLatency | null
}

export interface WatchLatency {
  readonly n: number
  readonly per: 'request' | 'token' | 'byte'
  readonly p50_ms: number | null
  /** The bucket that the percentile lies in, ms; the upper end null where it lies above the last bound. */
  readonly p99_ms: readonly [low: number, high: number | null] | null
}

export interface WatchObjective {
  readonly text: string
  readonly target: number
  readonly windows: readonly WatchWindow[]
  readonly alerts: readonly { readonly name: string; readonly state: 'fires' | 'may_fire' | 'quiet' | null }[]
}

export interface WatchWindow {
  readonly window_s: number
  readonly watched_s: number
  readonly n: number
  /** Share of each limit alone. */
  readonly limits: readonly {
    readonly text: string
    readonly low: number | null
    readonly high: number | null
  }[]
  /** Of all limits together: bounds only. */
  readonly share: readonly [low: number, high: number] | null
  /** Null until the window is full, and while nobody asks. */
  readonly burn: readonly [low: number | null, high: number | null] | null
  readonly why: string | null
  /** Whether more watching, or more requests, may tell what is not known. Absent in recordings of earlier versions. */
  readonly waits?: boolean
}

export interface WatchWall {
  readonly kind: 'saturation' | 'slo' | 'memory' | 'kv'
  readonly at: number
  readonly unit: 'in flight a replica' | 'req/s a replica' | 'of the KV pool'
  readonly now: number | null
  /** now ÷ at. */
  readonly share: number | null
}
