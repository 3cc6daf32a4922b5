import type { Clock } from '../../base/clock.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { PlannedRequest } from '../workload/planned-request.ts'
import type { ClientHealth } from './client-health.ts'
import type { Host } from './host.ts'
import type { LoadInstrument } from './instrument.ts'
import type { LoadProgress } from './progress.ts'
import type { AnswerOptions, LoadTarget } from './thread-messages.ts'

export type { AnswerOptions, LoadTarget }

/** What is to be sent. The same value gives the same requests in the same order, whatever the number of workers. */
export type LoadPlan =
  /** Every request with its time (`plannedMs` never null), in the order of sending. */
  | {
      readonly kind: 'open'
      readonly requests: readonly PlannedRequest[]
      /** Requests of a session: of each only the first has a time, the others follow their predecessor's answer. */
      readonly turns?: number
      /** There is no request left for the rest of a window of given length. */
      readonly usedUp?: boolean
    }
  /**
   * A closed loop of `users` slots. A slot that becomes free takes the next index; `requestAt` is a pure function of it. With
   * `count` null the window's length ends the run. First sends are spread evenly over `staggerMs` (0: all at once).
   */
  | {
      readonly kind: 'closed'
      readonly users: number
      /** A user sends so many requests of one session, index after index, before it takes the next; default 1. */
      readonly turns?: number
      readonly count: number | null
      readonly staggerMs: number
      readonly requestAt: (index: number) => PlannedRequest
    }

/**
 * The parts of a run, in ms. Requests belong to a part by their intended send. Nothing is sent after warm-up, measure and
 * cool-down; what is then in flight has `drainMs` to finish (null: as long as its own limits let it) and is censored after it.
 */
export interface LoadWindow {
  readonly warmupMs: number
  /** Null: until the plan ends. */
  readonly measureMs: number | null
  /** The load goes on this long behind the window, so that its last requests finish under load. */
  readonly cooldownMs?: number
  readonly drainMs: number | null
}

/** Stop once `share` of the last `of` finished requests were failures or refusals. */
export interface EarlyStop {
  readonly of: number
  readonly share: number
}

export interface LoadOptions extends AnswerOptions {
  readonly target: LoadTarget
  readonly plan: LoadPlan
  /** Worker threads; null: one for each core but one, at least one. Never more than users or connections. */
  readonly workers: number | null
  readonly window: LoadWindow
  /** Requests in flight at once, in all; more wait, and their wait is lag. Null: as many as the plan asks for. */
  readonly maxConnections: number | null
  /** Sockets opened before the run. Null: one a user, or what an open loop sends in its busiest second, at most 256. */
  readonly warmConnections?: number | null
  /** Prefix of the request ids, unique to this run: servers that dedupe by `x-request-id` see several runs. */
  readonly idPrefix: string
  /** Null: go on whatever fails. */
  readonly earlyStop: EarlyStop | null
}

export interface LoadDeps {
  readonly clock: Clock
  readonly host: Host
  /** Stops the sending; what is in flight drains as at the end. */
  readonly signal?: AbortSignal
  /** Ends the drain at once: what is still in flight is censored. */
  readonly cutSignal?: AbortSignal
  readonly onRow: (row: RequestRow) => void
  /** The run's origin, CLOCK_MONOTONIC in ns, as soon as it is fixed: a moment before it comes. */
  readonly onStart?: (originMonotonicNs: bigint) => void
  /** At most four times a second. */
  readonly onProgress?: (progress: LoadProgress) => void
  /** Threads that are already warm and calibrated (`openInstrument`); left open. Without it a run opens and closes its own. */
  readonly instrument?: LoadInstrument
}

export interface LoadResult {
  readonly health: ClientHealth
  readonly planned: number
  /** CLOCK_MONOTONIC in ns at the run's origin: the zero of every `planned_ms` and `sent_ms`. */
  readonly originMonotonicNs: bigint
  /** The run's origin on `deps.clock`. */
  readonly startedAtMs: number
  /** The measurement window, ms after the run's origin. Of a run that was stopped it ends with the stop. */
  readonly windowStartMs: number
  readonly windowEndMs: number
  /** The last row, ms after the run's origin. */
  readonly endedAtMs: number
  readonly stopped: LoadStop | null
}

/** Why a run ended before its plan did, with the sentence that is printed. */
export interface LoadStop {
  readonly why: 'interrupted' | 'nearly_everything_failed' | 'worker_crashed'
  readonly message: string
  readonly evidence: Readonly<Record<string, number | string>>
}
