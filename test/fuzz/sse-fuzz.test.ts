import { expect, it } from 'vitest'
import { randomStream } from '../../src/base/random.ts'
import { ChunkedBody } from '../../src/measure/wire/chunked-body.ts'
import { ResponseObserver } from '../../src/measure/wire/response-observer.ts'
import { fuzz } from './sse-fuzz.mjs'

// FUZZ=1e6 is the long mode, a few minutes; scripts/fuzz-sse.mjs does the same with progress and a seed of its own.
const count = Number(process.env['FUZZ'] ?? 20_000)

it(
  `reads ${count} fuzzed streams alike in one piece and in many`,
  () => {
    const { withOutput } = fuzz({ ResponseObserver, ChunkedBody, randomStream }, count, 1)
    expect(withOutput).toBeGreaterThan(count / 10)
  },
  Math.max(60_000, count),
)
