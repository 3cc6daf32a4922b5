import { BlockHashes, sharedBlocks } from './prompt.ts'
import type { AcceptedRequest, EngineRequest } from './engine-interface.ts'

export type RequestId = string | number

/** How a request left the engine. `error`: it no longer fits the pool. */
export type FinishReason = 'length' | 'stop' | 'abort' | 'error'

/** What is known of a request when it has left, times in ms of the engine's clock. */
export interface RequestFacts {
  readonly id: RequestId
  readonly promptTokens: number
  /** Tokens given out so far. */
  readonly outputTokens: number
  /** Prompt tokens that the prefix cache had at the first admission. */
  readonly cachedTokens: number
  readonly preemptions: number
  readonly arrivalMs: number
  /** Start of the first step that held it; −1 when none did. */
  readonly firstScheduledMs: number
  /** −1 when there was none. */
  readonly firstTokenMs: number
  readonly lastTokenMs: number
}

/** Of a request in AheadScheduler. */
export interface AheadState {
  /** Steps under way that will give it tokens, and how many they hold at most. */
  resultsPending: number
  tokensPending: number
  /** Tokens of each step that gave it some; null: one each. */
  readonly eventTokens: number[] | null
}

/** What every request without hashed blocks has; never written to. */
const noNodes: number[] = []

const nobody: EngineRequest = { id: '', arrivalMs: 0, promptTokenIds: { length: 1 }, outputTokens: 1 }

/**
 * One request inside the engine. Plain fields of one shape: the scheduler touches many thousands a second. An engine may use one
 * again for a later request, with `begin`.
 */
export class RequestState implements AcceptedRequest {
  readonly kind = 'accepted'
  id: RequestId = ''
  promptTokens = 0
  /** Output tokens after which it stops. */
  outputLimit = 0
  /** Output tokens after which the engine knows beforehand that it stops: `max_tokens`, or the end of the context. */
  lengthLimit = 0
  /** Whether its blocks may be found again; those that others may ask for are its first `sharedBlocks`. */
  cacheable = false
  sharedBlocks = 0
  arrivalMs = 0
  eligibleMs = 0
  /** Blocks at its longest. */
  blocksAtMost = 0

  /** O. Behind the truth while `decoding`: see DecodeLockstep. */
  outputTokens = 0
  /** Tokens whose keys and values are in the pool, those of the running step included. Behind the truth while `decoding`. */
  computed = 0
  /** Blocks held. Behind the truth while `decoding`. */
  blocks = 0
  /** Handles of the held blocks that have a hash: always its first ones. */
  nodes: number[] = noNodes
  /** True while it takes part in the lockstep: one token each step. */
  decoding = false
  /** True once prompt (and, after a preemption, its outputs) are in the pool: it wants one token a step. */
  caughtUp = false
  /** In the lockstep: computed − ticks, constant. */
  computedLessTicks = 0
  /** In the lockstep: the ticks before it came, and the segment of its first step there. */
  enteredTick = 0
  enteredSegment = 0
  /** In the lockstep: the tick that gives its last token. */
  finishTick = 0
  /** Tokens in the running step, when not by lockstep. */
  scheduledTokens = 0
  /** Order of admission. Grows along the list of running requests. */
  admission = 0
  running = false
  aborted = false
  done = false

  cachedTokens = 0
  preemptions = 0
  firstScheduledMs = -1
  firstTokenMs = -1
  lastTokenMs = -1
  /** Segment of the step log that gave the first token, and the last. */
  firstSegment = -1
  lastSegment = -1
  /** Segments in which it got no token: from, to (not included), from, to, … */
  pauses: number[] | null = null
  /** Null where no scheduler reaches ahead of what it knows. */
  ahead: AheadState | null = null

  /** Its own among all of the engine, in the order in which they were accepted. */
  number = 0

  private request: EngineRequest = nobody
  private blockSize = 1
  private hashesMade: BlockHashes | null = null

  /** What is known of it when it comes; all else as it is before anything has happened. */
  begin(
    request: EngineRequest,
    outputLimit: number,
    lengthLimit: number,
    eligibleMs: number,
    blocksAtMost: number,
    cacheable: boolean,
    number: number,
    blockSize: number,
  ): this {
    this.id = request.id
    this.promptTokens = request.promptTokenIds.length
    this.outputLimit = outputLimit
    this.lengthLimit = lengthLimit
    this.arrivalMs = request.arrivalMs
    this.eligibleMs = eligibleMs
    this.blocksAtMost = blocksAtMost
    this.cacheable = cacheable
    this.sharedBlocks = cacheable ? sharedBlocks(request.promptTokenIds, blockSize) : 0
    this.request = request
    this.number = number
    this.blockSize = blockSize
    this.hashesMade = null

    this.outputTokens = 0
    this.computed = 0
    this.blocks = 0
    this.nodes = noNodes
    this.decoding = false
    this.caughtUp = false
    this.scheduledTokens = 0
    this.running = false
    this.aborted = false
    this.done = false
    this.cachedTokens = 0
    this.preemptions = 0
    this.firstScheduledMs = -1
    this.firstTokenMs = -1
    this.lastTokenMs = -1
    this.firstSegment = -1
    this.lastSegment = -1
    this.pauses = null
    this.ahead = null
    return this
  }

  /** Made when first asked for: a request that shares nothing and is never evicted has no use for them. */
  hashes(): BlockHashes {
    const { request } = this
    this.hashesMade ??= new BlockHashes(
      request.promptTokenIds,
      this.blockSize,
      this.sharedBlocks,
      this.number,
      request.outputTokenIds ?? null,
      request.outputSeed ?? 0,
    )
    return this.hashesMade
  }

  /** Whether that stop is the model's own or the limit asked for. */
  get stopReason(): 'length' | 'stop' {
    return this.outputLimit < this.lengthLimit ? 'stop' : 'length'
  }

  /** Output tokens that it may be expected to need at most: what its caller allowed, else what it will take. */
  get allowedTokens(): number {
    return this.request.maxTokens ?? this.outputLimit
  }

  addNode(node: number): void {
    if (this.nodes === noNodes) this.nodes = [node]
    else this.nodes.push(node)
  }

  dropNodes(): void {
    this.nodes = noNodes
  }
}

/** A token in each segment from `from` to `to`; whatever lies between the last one and `from` was a pause. */
export function noteTokens(row: RequestState, from: number, to: number, endMs: number): void {
  if (row.lastSegment >= 0 && from > row.lastSegment + 1) {
    row.pauses ??= []
    row.pauses.push(row.lastSegment + 1, from)
  }
  row.lastSegment = to
  row.lastTokenMs = endMs
}
