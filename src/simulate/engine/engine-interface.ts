import type { Random } from '../../base/random.ts'
import type { Prompt } from './prompt.ts'
import type { FinishReason, RequestFacts, RequestId } from './request-state.ts'
import type { SpeculationCounts } from './scheduler-core.ts'

/** A request as it comes in. */
export interface EngineRequest {
  /** What events call it by. An engine does not look at it: that it is the only one so called is its caller's affair. */
  readonly id: RequestId
  /** Intended arrival at the front end, ms; what queueing is counted from. */
  readonly arrivalMs: number
  readonly promptTokenIds: Prompt
  /** Tokens after which the model stops by itself (asked for with `ignore_eos`, or drawn). At least 1. */
  readonly outputTokens: number
  /** The limit that the caller set; null is the rest of the context. */
  readonly maxTokens?: number | null
  /** What the engine will answer, where the caller knows: its blocks are cached under these ids. */
  readonly outputTokenIds?: Int32Array | null
  /** Else the answer is `generatedTokenId(outputSeed, i)`; 0 unless given. */
  readonly outputSeed?: number
}

/** A request that the engine took: what `abort` takes. Its facts are those of now. */
export interface AcceptedRequest extends RequestFacts {
  readonly kind: 'accepted'
}

export type SubmitResult =
  | AcceptedRequest
  /** `never_fits`: more blocks than the pool has. `too_long`: over the model's context. `shed`: too many wait. */
  | { readonly kind: 'refused'; readonly code: 'never_fits' | 'too_long' | 'shed'; readonly message: string }

export type EngineEvent =
  | { readonly kind: 'tokens'; readonly id: RequestId; readonly atMs: number; readonly count: number }
  | { readonly kind: 'preempted'; readonly id: RequestId; readonly atMs: number }
  | {
      readonly kind: 'finished'
      readonly id: RequestId
      readonly atMs: number
      readonly reason: FinishReason
      /** Counts and times of the request, final. */
      readonly facts: RequestFacts
      /** Why, where `reason` is `error`. */
      readonly message: string | null
    }

/** One step, as it ended. */
export interface StepFacts {
  readonly startMs: number
  readonly endMs: number
  readonly tokens: number
  readonly rows: number
}

/** Counters since the start and gauges of now, as vLLM V1 counts them. */
export interface EngineStats {
  readonly running: number
  /** Everything accepted that does not run, preempted requests with it. */
  readonly waiting: number
  /** 1 − free ÷ usable; cached blocks that nobody holds are free. */
  readonly kvUsage: number
  readonly freeBlocks: number
  readonly usableBlocks: number
  readonly preemptions: number
  /** Counted when a prefill completes. */
  readonly promptTokens: number
  readonly generationTokens: number
  readonly prefixQueries: number
  readonly prefixHits: number
  /** The same of requests that came back after a preemption. */
  readonly prefixQueriesPreempted: number
  readonly prefixHitsPreempted: number
  readonly steps: number
  readonly busyMs: number
  readonly accepted: number
  readonly refused: number
  readonly finished: Readonly<Record<FinishReason, number>>
  /** Null where nothing is drafted. */
  readonly speculation: Readonly<SpeculationCounts> | null
}

/** One run of tokens a step apart: token j (from 1) of `steps` came at origin + j·base + slope·j(j−1)/2. */
export type TokenRunVisitor = (originMs: number, baseMs: number, slopeMs: number, steps: number) => void

/**
 * One replica: arrivals and time in, tokens and the next time to ask out. It reads no clock: a server calls it with the real
 * time, a simulation with its own, and both get the same tokens at the same times, to the last bit.
 *
 * Between two calls time must not go back. When a step ends exactly at the time asked for, the next is not started in that call, so
 * that whoever answers to the events of this moment is still in time for it; `nextWakeMs` then says so.
 */
export interface Engine {
  submit(request: EngineRequest, nowMs: number): SubmitResult
  /** Takes effect when the running step ends. False when the engine does not have it (any more). */
  abort(request: AcceptedRequest, nowMs: number): boolean
  /** When to call `advance` next; null when there is nothing to wait for. */
  nextWakeMs(): number | null
  /** Everything that happened up to `nowMs`, in order. */
  advance(nowMs: number): readonly EngineEvent[]
  /** As of the last call; with a time, of all that comes before it. */
  stats(beforeMs?: number): EngineStats
  /** The runs of tokens of a finished request: only while its `finished` event is at hand. */
  forEachTokenRun(facts: RequestFacts, visit: TokenRunVisitor): void
}

/** What is missing of the configured pool from `atMs` on: a share of the usable blocks, and blocks besides. */
export interface PoolChange {
  readonly atMs: number
  readonly lostShare: number
  readonly lostBlocks: number
}

/** What happens to a replica from outside; see fault.ts. Asked in the order of the steps. */
export interface EngineDisturbance {
  /** Ascending. */
  readonly poolChanges: readonly PoolChange[]
  /** A step that starts at `startMs`, the `index`-th (from 0), is as if nothing were, if it ends by this time. */
  undisturbedUntilMs(index: number, startMs: number): number
  /** When that step ends if it takes `workMs` undisturbed. */
  stepEndMs(index: number, startMs: number, workMs: number): number
}

export interface EngineOptions {
  /** `tokens` tells every token as an event (a server); `requests`, the default of `runVirtual`, only what is left when a request ends. */
  readonly events?: 'tokens' | 'requests'
  readonly disturbance?: EngineDisturbance | null
  /** Draws which drafted tokens are accepted, a stream of its own; needed for speculative decoding. */
  readonly acceptance?: Random | null
  readonly onStep?: ((step: StepFacts) => void) | null
  /** What `advance` returns, its facts and the accepted requests in it hold until the next call of it: their memory is used again. */
  readonly reuse?: boolean
  /** Walks every row in every step: slow, the measure of the fast way. */
  readonly rowByRow?: boolean
}
