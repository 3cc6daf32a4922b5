import type { PlannedRequest } from '../workload/planned-request.ts'

/**
 * The bodies of consecutive requests, encoded once before they are needed, in memory that every thread sees: a worker sends
 * straight from it and nothing is serialised while time is taken.
 */
export interface BodyChunk {
  /** Index of the first request (closed loops), or 0. */
  readonly first: number
  readonly bytes: Uint8Array
  /** One more than requests: body i is `bytes[offsets[i], offsets[i + 1])`. */
  readonly offsets: Float64Array
  readonly thinkTimeMs: Float64Array
  /** When the client hangs up, ms after the intended send; NaN: never. */
  readonly cancelAfterMs: Float64Array
  /** Headers of each request alone; absent where none has any. */
  readonly headers?: readonly Readonly<Record<string, string>>[]
}

export function packBodies(requests: readonly PlannedRequest[], first = 0): BodyChunk {
  const offsets = new Float64Array(new SharedArrayBuffer((requests.length + 1) * 8))
  const thinkTimeMs = new Float64Array(new SharedArrayBuffer(requests.length * 8))
  const cancelAfterMs = new Float64Array(new SharedArrayBuffer(requests.length * 8))
  // Bytes, not texts: a large trace's bodies would not fit the heap, and a text may be made when it is asked for.
  const encoded: Buffer[] = []
  let size = 0
  requests.forEach((request, i) => {
    const body = Buffer.from(request.body)
    encoded.push(body)
    size += body.length
    offsets[i + 1] = size
    thinkTimeMs[i] = request.thinkTimeMs
    cancelAfterMs[i] = request.cancelAfterMs ?? Number.NaN
  })
  const bytes = new Uint8Array(new SharedArrayBuffer(size))
  const target = Buffer.from(bytes.buffer, 0, size)
  encoded.forEach((body, i) => body.copy(target, offsets[i]!))
  const own = requests.some(({ headers }) => headers !== undefined)
  return {
    first,
    bytes,
    offsets,
    thinkTimeMs,
    cancelAfterMs,
    ...(own && { headers: requests.map(({ headers = {} }) => headers) }),
  }
}

/** Body number `i` of the chunk, without a copy. */
export function bodyAt(chunk: BodyChunk, i: number): Buffer {
  const start = chunk.offsets[i]!
  return Buffer.from(chunk.bytes.buffer as ArrayBuffer, start, chunk.offsets[i + 1]! - start)
}

export function bodyCount(chunk: BodyChunk): number {
  return chunk.thinkTimeMs.length
}
