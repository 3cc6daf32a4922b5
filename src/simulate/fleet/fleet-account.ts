import { withinLimit, type Limit, type Objective } from '../../measure/metrics/objective.ts'
import { LatencySketch } from './latency-sketch.ts'

/** How an attempt, and in the end a request, can go wrong. */
export type LossKind =
  | 'shed' // 429: too many waited
  | 'queue_timeout' // 503: waited too long in front
  | 'client_timeout'
  | 'replica_lost'
  | 'refused' // no replica could ever hold it
  | 'failed' // the engine ended it: its pool became too small

/** Figures of one window; requests belong to it by intended send. */
export interface FleetWindow {
  readonly startMs: number
  readonly arrived: number
  readonly good: number
  readonly bad: number
  /** Mean of replicas that could serve. */
  readonly readyReplicas: number
  /** Most requests that waited when it was looked at (sixty times a window, at most once a second). */
  readonly mostWaiting: number
}

export type HurtCause = LossKind | 'censored' | 'waited' | 'evicted' | 'slow'

/** Counts and sketches of a simulation: its size depends on the length of time, not on the number of requests. */
export class FleetAccount {
  readonly ttft: LatencySketch = new LatencySketch()
  readonly tpot: LatencySketch = new LatencySketch()
  readonly e2e: LatencySketch = new LatencySketch()
  readonly queue: LatencySketch = new LatencySketch()
  /** TTFT by the index of the replica's group. */
  readonly ttftOfGroup: LatencySketch[] = []
  arrived = 0
  answered = 0
  good = 0
  censored = 0
  attempts = 0
  outputTokens = 0
  preemptions = 0
  readonly lost: Record<LossKind, number> = {
    shed: 0,
    queue_timeout: 0,
    client_timeout: 0,
    replica_lost: 0,
    refused: 0,
    failed: 0,
  }
  /** Requests that were not good, by their likeliest cause. */
  readonly hurt: Partial<Record<HurtCause, number>> = {}
  private readonly limits: readonly Limit[]
  private readonly windowMs: number
  private readonly windows: { arrived: number; good: number; bad: number; mostWaiting: number }[]

  constructor(objective: Objective | null, windowMs: number, durationMs: number, groups = 1) {
    for (let group = 0; group < groups; group++) this.ttftOfGroup.push(new LatencySketch())
    this.limits = objective?.each ?? []
    this.windowMs = windowMs
    const count = Math.max(1, Math.ceil(durationMs / windowMs))
    this.windows = Array.from({ length: count }, () => ({ arrived: 0, good: 0, bad: 0, mostWaiting: 0 }))
  }

  arrive(atMs: number): void {
    this.arrived += 1
    this.windowAt(atMs).arrived += 1
  }

  answer(
    sentMs: number,
    ttftMs: number,
    e2eMs: number,
    tokens: number,
    queueMs: number,
    evictions: number,
    group: number,
  ): void {
    this.answered += 1
    this.outputTokens += tokens
    this.preemptions += evictions
    this.ttft.record(ttftMs)
    this.e2e.record(e2eMs)
    // With one group it is the same as all.
    if (this.ttftOfGroup.length > 1) this.ttftOfGroup[group]?.record(ttftMs)
    this.queue.record(queueMs)
    const tpotMs = tokens > 1 ? (e2eMs - ttftMs) / (tokens - 1) : null
    if (tpotMs !== null) this.tpot.record(tpotMs)
    // The first token is the first byte and the first content too; limits on gaps are refused where a spec is read.
    let missed: Limit['metric'] | null = null
    for (const limit of this.limits) {
      const ms = limit.metric === 'tpot' ? tpotMs : limit.metric === 'e2e' ? e2eMs : ttftMs
      if (ms !== null && !withinLimit(limit, ms)) {
        missed = limit.metric
        break
      }
    }
    const window = this.windowAt(sentMs)
    if (missed === null) {
      this.good += 1
      window.good += 1
      return
    }
    window.bad += 1
    const over = missed === 'tpot' ? e2eMs - ttftMs : missed === 'e2e' ? e2eMs : ttftMs
    this.hurtBy(queueMs > over / 2 ? 'waited' : evictions > 0 ? 'evicted' : 'slow')
  }

  lose(sentMs: number, kind: LossKind): void {
    this.lost[kind] += 1
    this.windowAt(sentMs).bad += 1
    this.hurtBy(kind)
  }

  /** Still running when the simulation ended. */
  censor(sentMs: number): void {
    this.censored += 1
    this.windowAt(sentMs).bad += 1
    this.hurtBy('censored')
  }

  seeWaiting(atMs: number, waiting: number): void {
    const window = this.windowAt(atMs)
    if (waiting > window.mostWaiting) window.mostWaiting = waiting
  }

  /** `readyMs[i]`: time that replicas were ready in window i, summed over them. */
  windowsWith(readyMs: readonly number[], durationMs: number): FleetWindow[] {
    return this.windows.map((window, i) => {
      const startMs = i * this.windowMs
      const length = Math.min(this.windowMs, durationMs - startMs)
      return { startMs, ...window, readyReplicas: (readyMs[i] ?? 0) / length }
    })
  }

  private windowAt(atMs: number): (typeof this.windows)[number] {
    const last = this.windows.length - 1
    const index = Math.floor(atMs / this.windowMs)
    return this.windows[index > last ? last : index] as (typeof this.windows)[number]
  }

  private hurtBy(cause: HurtCause): void {
    this.hurt[cause] = (this.hurt[cause] ?? 0) + 1
  }
}
