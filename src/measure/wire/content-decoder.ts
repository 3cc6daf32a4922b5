import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
} from 'node:zlib'

/** Takes the decoded body in order. Every stamp is that of the network chunk which brought the bytes. */
export interface DecodedSink {
  onDecoded(chunk: Uint8Array, start: number, end: number, atMs: number): void
  onDecodeError(message: string, atMs: number): void
}

type Inflater = Gunzip | Inflate | InflateRaw | BrotliDecompress

/** Undecoded bytes that may wait. */
const maxQueuedBytes = 64 * 1024 * 1024

/** Whether a `content-encoding` needs decoding, and whether we can. */
export function codingOf(header: string | undefined): 'none' | 'gzip' | 'deflate' | 'br' | 'unknown' {
  const coding = header?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return 'none'
  if (coding === 'gzip' || coding === 'x-gzip') return 'gzip'
  return coding === 'deflate' || coding === 'br' ? coding : 'unknown'
}

/**
 * Undoes a content coding as it streams: each network chunk is decoded as far as it goes before the next is begun, so that what
 * comes out bears the time at which its bytes came in, although the inflating itself happens on another thread.
 */
export class ContentDecoder {
  readonly #sink: DecodedSink
  readonly #coding: 'gzip' | 'deflate' | 'br'
  #inflater: Inflater | null = null
  readonly #queue: ({ readonly bytes: Buffer; readonly atMs: number } | (() => void))[] = []
  #queuedBytes = 0
  #running = false
  #failed = false
  #atMs = 0

  constructor(coding: 'gzip' | 'deflate' | 'br', sink: DecodedSink) {
    this.#coding = coding
    this.#sink = sink
  }

  push(chunk: Uint8Array, start: number, end: number, atMs: number): void {
    if (this.#failed) return
    this.#queuedBytes += end - start
    if (this.#queuedBytes > maxQueuedBytes)
      return this.#fail('the compressed body comes faster than it can be decoded')
    this.#queue.push({ bytes: Buffer.from(chunk.subarray(start, end)), atMs })
    this.#next()
  }

  /** Calls back when all that was pushed so far has been decoded (or could not be). */
  drained(then: () => void): void {
    this.#queue.push(then)
    this.#next()
  }

  close(): void {
    this.#failed = true
    this.#inflater?.destroy()
  }

  #next(): void {
    while (!this.#running) {
      const item = this.#queue.shift()
      if (item === undefined) return
      if (typeof item === 'function') {
        item()
        continue
      }
      this.#queuedBytes -= item.bytes.length
      if (this.#failed) continue
      this.#inflater ??= this.#create(item.bytes)
      this.#atMs = item.atMs
      this.#running = true
      this.#inflater.write(item.bytes, () => {
        this.#readOut()
        this.#running = false
        this.#next()
      })
    }
  }

  #create(first: Buffer): Inflater {
    const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
    const inflater =
      this.#coding === 'gzip'
        ? createGunzip(zlibOptions)
        : this.#coding === 'br'
          ? createBrotliDecompress({
              flush: constants.BROTLI_OPERATION_FLUSH,
              finishFlush: constants.BROTLI_OPERATION_FLUSH,
            })
          : // "deflate" is meant to be zlib's format, but some servers send it bare.
            (first[0]! & 0x0f) === 8
            ? createInflate(zlibOptions)
            : createInflateRaw(zlibOptions)
    inflater.on('readable', () => this.#readOut())
    inflater.on('error', (error) => {
      this.#fail(`the ${this.#coding} body cannot be decoded: ${error.message}`)
      this.#running = false
      this.#next()
    })
    return inflater
  }

  /** Hands on what is decoded. Read out rather than listened for: a listener may hear of it after the write has been reported done. */
  #readOut(): void {
    for (;;) {
      const bytes = this.#inflater?.read() as Buffer | null | undefined
      if (bytes === null || bytes === undefined || this.#failed) return
      this.#sink.onDecoded(bytes, 0, bytes.length, this.#atMs)
    }
  }

  #fail(message: string): void {
    if (this.#failed) return
    this.#failed = true
    this.#sink.onDecodeError(message, this.#atMs)
  }
}
