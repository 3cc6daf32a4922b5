// The systems whose percentiles are known, or known well: an M/M/1 queue, and the demo engine in virtual time, open and closed loop.
import { exponential, randomStream } from '../../dist/base/random.js'
import { createEngine } from '../../dist/simulate/engine/engine.js'
import { enginePreset } from '../../dist/simulate/engine/presets.js'
import { runVirtual, tokenTimesMs } from '../../dist/simulate/engine/run-virtual.js'
import { inFlightAtArrivals, loadSwings } from '../../dist/stats/index.js'

/** Requests of a run that are left out: the engine fills. */
const warmup = 2000
const demo = enginePreset('demo').config
const lengths = { prompt: [64, 448], output: [16, 112] }

/** Times in an M/M/1 queue in equilibrium, mean service 1: Lindley's recursion after a start from its stationary wait. */
export function mm1(load, n, seed) {
  const random = randomStream(seed, `mm1 ${load} ${n}`)
  let wait = random.next() < load ? exponential(random) / (1 - load) : 0
  let nowMs = 0
  const arrivals = new Float64Array(n)
  const times = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    const service = exponential(random)
    times[i] = wait + service
    arrivals[i] = nowMs
    const gap = exponential(random) / load
    nowMs += gap
    wait = Math.max(0, times[i] - gap)
  }
  return { swings: swingsOf(arrivals, times), sojourn: times }
}

/** Requests a second that the engine finishes when everything comes at once. */
export function engineCapacity() {
  const engine = createEngine(demo, randomStream('capacity', 'jitter'), { events: 'requests' })
  const count = 4000
  const results = runVirtual(engine, { arrivals: openRequests(1e6, count, 'capacity') })
  return (1000 * count) / Math.max(...results.map((one) => one.endMs))
}

/** A run at a rate: TTFT, E2E and, where `gaps`, the gaps of each request, in order of arrival. */
export function openRun(perSecond, n, seed, gaps = false) {
  return engineRun(seed, gaps, () => ({ arrivals: openRequests(perSecond, n + warmup, seed) }))
}

/** The same of `users` who each send their next request when the last one is answered. */
export function closedRun(users, n, seed, gaps = false) {
  return engineRun(seed, gaps, () => {
    const next = requestMaker(randomStream(seed, 'engine arrivals'))
    let left = n + warmup - users
    return {
      arrivals: Array.from({ length: users }, () => next(0)),
      onResult: ({ endMs }) => (left-- > 0 ? next(endMs) : null),
    }
  })
}

function engineRun(seed, gaps, plan) {
  const engine = createEngine(demo, randomStream(seed, 'jitter'), { events: 'requests' })
  const kept = new Map()
  const options = plan()
  const results = runVirtual(engine, {
    ...options,
    onResult: (result) => {
      if (gaps && result.facts !== null && result.id >= warmup) {
        const times = tokenTimesMs(engine, result.facts)
        kept.set(
          result.id,
          Array.from(times.subarray(1), (time, i) => time - times[i]),
        )
      }
      return options.onResult?.(result)
    },
  })
    .filter((one) => one.facts !== null)
    .sort((a, b) => a.arrivalMs - b.arrivalMs || a.id - b.id)
    .slice(warmup)
  const arrivals = Float64Array.from(results, (one) => one.arrivalMs)
  const e2e = Float64Array.from(results, (one) => one.facts.lastTokenMs - one.arrivalMs)
  return {
    swings: swingsOf(arrivals, e2e),
    ttft: Float64Array.from(results, (one) => one.facts.firstTokenMs - one.arrivalMs),
    e2e,
    ...(gaps ? { gaps: results.map((one) => kept.get(one.id) ?? []) } : {}),
  }
}

function swingsOf(arrivals, times) {
  const ends = arrivals.map((at, i) => at + times[i])
  return loadSwings(inFlightAtArrivals(arrivals, ends))
}

function openRequests(perSecond, n, seed) {
  const random = randomStream(seed, 'engine arrivals')
  const next = requestMaker(random)
  let arrivalMs = 0
  return Array.from({ length: n }, () => {
    arrivalMs += (1000 * exponential(random)) / perSecond
    return next(arrivalMs)
  })
}

function requestMaker(random) {
  let id = 0
  const between = ([low, high]) => low + Math.floor(random.next() * (high - low + 1))
  return (arrivalMs) => ({
    id: id++,
    arrivalMs,
    promptTokenIds: { length: between(lengths.prompt), seed: id },
    outputTokens: between(lengths.output),
  })
}
