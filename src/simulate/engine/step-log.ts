import type { RequestState } from './request-state.ts'

/**
 * The steps of a replica in segments: steps in which the same rows decode, and nothing else happens, lengthen by a constant
 * (each has one more token of context per row), so that k of them are an arithmetic series of three numbers. Token times
 * come from here without being stored.
 */
export class StepLog {
  /** Number of the first segment still held; numbers only grow. */
  first = 0
  private count = 0
  private originMs = new Float64Array(64)
  private baseMs = new Float64Array(64)
  private slopeMs = new Float64Array(64)
  private steps = new Int32Array(64)

  /** Number of the segment that the next `push` makes. */
  get end(): number {
    return this.first + this.count
  }

  /** Opens a segment of one step that ends at `originMs + baseMs`. */
  push(originMs: number, baseMs: number, slopeMs: number): void {
    if (this.count === this.steps.length) this.enlarge()
    this.originMs[this.count] = originMs
    this.baseMs[this.count] = baseMs
    this.slopeMs[this.count] = slopeMs
    this.steps[this.count] = 1
    this.count += 1
  }

  /** So many more steps in the last segment. */
  extend(steps = 1): void {
    this.steps[this.count - 1] = (this.steps[this.count - 1] as number) + steps
  }

  /** The last step leaves its segment and becomes one of its own, which ended at `endMs`. */
  replaceLastStep(endMs: number): void {
    const last = this.count - 1
    const steps = (this.steps[last] as number) - 1
    this.steps[last] = steps
    if (steps === 0) this.count = last
    this.push(endMs, 0, 0)
  }

  /** Forgets the segments before number `from`. */
  trim(from: number): void {
    const drop = Math.min(from - this.first, this.count)
    if (drop <= 0) return
    for (const array of [this.originMs, this.baseMs, this.slopeMs, this.steps]) {
      array.copyWithin(0, drop, this.count)
    }
    this.first += drop
    this.count -= drop
  }

  get length(): number {
    return this.count
  }

  /** Calls `each` for every segment in which the request got a token a step; several of one step are so many steps of no length. */
  forEachRun(
    request: RequestState,
    each: (originMs: number, baseMs: number, slopeMs: number, steps: number) => void,
  ): void {
    if (request.firstSegment < 0) return
    const pauses = request.pauses ?? []
    const eventTokens = request.ahead?.eventTokens ?? null
    let at = 0
    let event = 0
    for (let segment = request.firstSegment; segment <= request.lastSegment; segment++) {
      if (segment === pauses[at]) {
        segment = pauses[at + 1] as number
        at += 2
      }
      const index = segment - this.first
      each(
        this.originMs[index] as number,
        this.baseMs[index] as number,
        this.slopeMs[index] as number,
        eventTokens === null ? (this.steps[index] as number) : (eventTokens[event++] as number),
      )
    }
  }

  private enlarge(): void {
    const size = this.count * 2
    this.originMs = resized(this.originMs, size)
    this.baseMs = resized(this.baseMs, size)
    this.slopeMs = resized(this.slopeMs, size)
    const steps = new Int32Array(size)
    steps.set(this.steps)
    this.steps = steps
  }
}

/** End of the `step`-th step (from 1) of a segment. */
export function segmentEndMs(originMs: number, baseMs: number, slopeMs: number, step: number): number {
  return originMs + step * baseMs + (slopeMs * (step * (step - 1))) / 2
}

function resized(array: Float64Array<ArrayBuffer>, size: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size)
  larger.set(array)
  return larger
}
