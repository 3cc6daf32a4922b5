import type { AcceptedRequest, Engine } from '../engine/engine-interface.ts'
import type { Prompt } from '../engine/prompt.ts'
import type { ReplicaGroup } from './fleet-spec.ts'
import type { RouterTarget } from './router.ts'

/** One replica from its order to its end. */
export class Replica implements RouterTarget {
  readonly index: number
  readonly group: ReplicaGroup
  readonly groupIndex: number
  /** Null while it starts and when it is gone. */
  engine: Engine | null = null
  state: 'starting' | 'warm' | 'ready' | 'draining' | 'gone' = 'starting'
  inFlight = 0
  seenInFlight = 0
  readonly orderedMs: number
  /** When it began to serve; −1 before. */
  readyMs = -1
  goneMs = -1

  constructor(index: number, group: ReplicaGroup, groupIndex: number, orderedMs: number) {
    this.index = index
    this.group = group
    this.groupIndex = groupIndex
    this.orderedMs = orderedMs
  }
}

export const inFront = -1
export const nowhere = -2
export const pausing = -3

/** Requests inside the simulation, by slots that are used again: plain numbers, so that a million of them cost no memory. */
export class LiveRequests {
  /** First intended send. */
  sentMs: Float64Array<ArrayBuffer> = new Float64Array(1024)
  /** This attempt's. */
  attemptMs: Float64Array<ArrayBuffer> = new Float64Array(1024)
  attempt: Int32Array<ArrayBuffer> = new Int32Array(1024)
  /** Number among all requests. */
  number: Int32Array<ArrayBuffer> = new Int32Array(1024)
  /** Index of its replica, or where else it is: `inFront`, `pausing`, `nowhere` (a free slot). */
  replica: Int32Array<ArrayBuffer> = new Int32Array(1024)
  outputTokens: Int32Array<ArrayBuffer> = new Int32Array(1024)
  affinity: Float64Array<ArrayBuffer> = new Float64Array(1024)
  readonly prompt: Prompt[] = []
  /** What its replica's engine knows the attempt by. */
  readonly accepted: AcceptedRequest[] = []
  /** Grows with each use of the slot: whoever remembers a slot knows whether it still is the same attempt. */
  use: Int32Array<ArrayBuffer> = new Int32Array(1024)
  used = 0
  private readonly free: number[] = []
  private end = 0

  take(): number {
    const slot = this.free.pop() ?? this.end++
    if (slot === this.use.length) this.enlarge()
    this.used += 1
    this.use[slot] = (this.use[slot] as number) + 1
    this.replica[slot] = inFront
    return slot
  }

  release(slot: number): void {
    this.use[slot] = (this.use[slot] as number) + 1
    this.replica[slot] = nowhere
    this.used -= 1
    this.free.push(slot)
  }

  /** Slots on that replica. */
  of(replica: number): number[] {
    const found: number[] = []
    for (let slot = 0; slot < this.end; slot++) if (this.replica[slot] === replica) found.push(slot)
    return found
  }

  all(): number[] {
    const found: number[] = []
    for (let slot = 0; slot < this.end; slot++) if (this.replica[slot] !== nowhere) found.push(slot)
    return found
  }

  private enlarge(): void {
    const size = this.use.length * 2
    const ints = (from: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(size)
      larger.set(from)
      return larger
    }
    const doubles = (from: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(size)
      larger.set(from)
      return larger
    }
    this.sentMs = doubles(this.sentMs)
    this.attemptMs = doubles(this.attemptMs)
    this.attempt = ints(this.attempt)
    this.number = ints(this.number)
    this.replica = ints(this.replica)
    this.use = ints(this.use)
    this.outputTokens = ints(this.outputTokens)
    this.affinity = doubles(this.affinity)
  }
}
