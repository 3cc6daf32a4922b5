import type { randomStream } from '../../src/base/random.ts'
import type { ChunkedBody } from '../../src/measure/wire/chunked-body.ts'
import type { ResponseObserver } from '../../src/measure/wire/response-observer.ts'

export declare function fuzz(
  product: {
    readonly ResponseObserver: typeof ResponseObserver
    readonly ChunkedBody: typeof ChunkedBody
    readonly randomStream: typeof randomStream
  },
  count: number,
  seed: number | string,
  onProgress?: (done: number) => void,
): { readonly withOutput: number }
