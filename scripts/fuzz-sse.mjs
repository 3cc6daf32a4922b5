// node scripts/fuzz-sse.mjs [count=1000000] [seed=now]: the long mode of test/fuzz/sse-fuzz.test.ts, on the built product.
import process from 'node:process'
import { fuzz } from '../test/fuzz/sse-fuzz.mjs'

const count = Number(process.argv[2] ?? 1_000_000)
const seed = process.argv[3] ?? String(Date.now())
const dist = new URL('../dist/', import.meta.url)
const { ResponseObserver } = await import(new URL('measure/wire/response-observer.js', dist))
const { ChunkedBody } = await import(new URL('measure/wire/chunked-body.js', dist))
const { randomStream } = await import(new URL('base/random.js', dist))

const { withOutput } = fuzz({ ResponseObserver, ChunkedBody, randomStream }, count, seed, (done) => {
  if (done % 100_000 === 0) console.log(`${done} inputs, ${Math.round(process.memoryUsage().rss / 1e6)} MB`)
})
console.log(`${count} inputs of seed ${seed}: nothing wrong (${withOutput} with output)`)
