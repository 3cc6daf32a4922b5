import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { monotonicClock } from '../src/base/clock.ts'
import { createTransport } from '../src/measure/wire/choose-transport.ts'
import { startExchange } from '../src/measure/wire/exchange.ts'
import { type EventLoop, timeLimits } from '../src/measure/wire/time-limits.ts'
import { createUndiciTransport } from '../src/measure/wire/undici-transport.ts'
import { madeApis } from './replay/made-apis.ts'
import { madeFailures } from './replay/made-failures.ts'
import { madeNativeApis } from './replay/made-native-apis.ts'
import { madeStreams } from './replay/made-streams.ts'
import { type CaseResult, readCases, runCases } from './replay/run-cases.mjs'

const product = {
  createTransport,
  startExchange,
  clock: monotonicClock(performance, process.hrtime.bigint),
  timers: timeLimits({ setTimeout, clearTimeout, setImmediate } as EventLoop),
}
const { cases } = readCases(fileURLToPath(new URL('cases', import.meta.url)))
const quick = cases.filter(({ sidecar }) => sidecar.end.kind === 'open' || sidecar.end.at_ms < 1000)

describe.each([
  ['the shared cases', cases, product],
  ['further cases of their kinds', [...madeStreams, ...madeFailures], product],
  ['the answers of other APIs', madeApis, product],
  ['the answers of native APIs', madeNativeApis, product],
  [
    'the quick ones of the shared cases, through undici',
    quick,
    { ...product, createTransport: createUndiciTransport },
  ],
])('%s', (_, all, through) => {
  let results: readonly CaseResult[] = []
  beforeAll(async () => {
    results = await runCases(all, through)
  })

  it.each(all.map((one) => one.id))('%s', (id) => {
    expect(results.find((result) => result.id === id)?.reasons).toEqual([])
  })
})
