import type { ErrorFacts } from '../../base/errors.ts'
import type { ApiKind } from '../wire/api.ts'
import type { AwsSigner } from '../wire/aws-signature.ts'
import type { Limits } from '../wire/exchange.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import type { UndiciOptions } from '../wire/undici-transport.ts'
import type { BodyChunk } from './body-chunk.ts'
import type { Ticks } from './metronome.ts'

/** Where requests go. Travels to the workers, so it is plain data. */
export interface LoadTarget {
  /** The base address as the user gave it. */
  readonly url: string
  readonly api: ApiKind
  /** Headers of every request, authorization among them. */
  readonly headers: Readonly<Record<string, string>>
  /** Path and query of the endpoint, where they are not those of the API. */
  readonly path?: string
  /** Requests are signed as they are sent. */
  readonly signer?: AwsSigner | null
  /** TLS, proxy, unix socket and HTTP/2, where they are not the plain ones. */
  readonly tls?: UndiciOptions
}

/** How each answer is read. */
export interface AnswerOptions {
  readonly limits: Limits
  /** Whether the bodies ask for a stream. True unless given. */
  readonly streamAsked?: boolean
  readonly keepText: boolean
  /** Response header that names the replica that answered. */
  readonly replicaHeader: string | null
}

/** A worker's share of a plan. `planned` and `indexes` are parallel. */
export type WorkerShare =
  | {
      readonly kind: 'open'
      readonly indexes: Int32Array
      readonly plannedMs: Float64Array
      readonly bodies: BodyChunk
      /** Session by session: only the first of each `turns` has a time, NaN the others. */
      readonly turns: number
    }
  | {
      readonly kind: 'closed'
      /** Global numbers of this worker's slots and when each starts, ms after the origin. */
      readonly slots: Int32Array
      readonly startMs: Float64Array
      /** Indexes from here on do not exist; null: no end. */
      readonly count: number | null
      readonly turns: number
    }

export interface RunSpec {
  readonly target: LoadTarget
  readonly answers: AnswerOptions
  readonly share: WorkerShare
  readonly ledger: SharedArrayBuffer
  readonly maxInFlight: number | null
  readonly warmConnections: number
  readonly idPrefix: string
  /** Nothing is sent from here on, ms after the origin; null: until the share is sent. */
  readonly sendEndMs: number | null
  readonly drainMs: number | null
}

/** Why a planned request was never sent. */
export type UnsentReason = 'window_ended' | 'drain_ended' | 'interrupted' | 'stopped_early' | 'worker_crashed'

/** The reasons that a sender is told or knows itself; a crash is not told. */
export type StopReason = Exclude<UnsentReason, 'worker_crashed'>

export type ToWorker =
  | { readonly kind: 'calibrate'; readonly port: number; readonly phases: readonly CalibrationPhase[] }
  | { readonly kind: 'prepare'; readonly run: RunSpec; readonly ticks: Ticks | null }
  /** The run's origin on the clock that the thread was given. */
  | { readonly kind: 'start'; readonly startMs: number }
  | { readonly kind: 'bodies'; readonly chunk: BodyChunk }
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'cut' }

/** One stretch of the loopback calibration: so many streams at once, each of `rounds` answers of so many events, so far apart. */
export interface CalibrationPhase {
  readonly name: 'warm' | 'error' | 'capacity'
  readonly streams: number
  readonly rounds: number
  readonly events: number
  readonly gapMs: number
}

export interface CalibrationReading {
  readonly name: CalibrationPhase['name']
  /** Stamp − write of each event, ms; only for `error`. */
  readonly errorsMs: Float64Array
  readonly events: number
  /** CPU time of the worker over the phase, ms; null where it cannot be read. */
  readonly cpuMs: number | null
  readonly failed: number
}

/** A finished request: what the exchange saw, or why it was never sent. */
export type Finished =
  | { readonly index: number; readonly fields: ResponseFields }
  | { readonly index: number; readonly unsent: UnsentReason; readonly plannedMs: number | null }

export interface WorkerHealth {
  /** Counts of the loop-delay sketch (`live-sketch.ts`). */
  readonly loopDelay: Uint32Array
  readonly loopDelayMaxMs: number
  /** Share of one core while requests were being sent; null where it cannot be read. */
  readonly cpuShare: number | null
}

export type FromWorker =
  | { readonly kind: 'online' }
  | { readonly kind: 'calibrated'; readonly readings: readonly CalibrationReading[] }
  | { readonly kind: 'ready' }
  | { readonly kind: 'finished'; readonly requests: readonly Finished[] }
  | { readonly kind: 'ended'; readonly health: WorkerHealth }
  | { readonly kind: 'error'; readonly error: ErrorFacts }
