import { describe, expect, test } from 'vitest'
import { exponential, randomStream, type Random } from '../../base/random.ts'
import { defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { EngineRequest } from './engine-interface.ts'
import { createEngine } from './engine.ts'
import { runVirtual, type VirtualResult } from './run-virtual.ts'
import type { StepTimeModel } from './step-time.ts'

// The engine, configured so that it becomes a queue with a known answer. Runs are replicated over seeds and compared with
// four standard errors of the replicates' mean, at least 3 % where steps make time lumpy.

const free: StepTimeModel = {
  baseMs: 0,
  kneeTokens: 0,
  perTokenMs: 0,
  perContextTokenMs: 0,
  perPairMs: 0,
  perSequenceMs: 0,
}

interface Queue {
  readonly config: Partial<EngineConfig>
  readonly perSecond: number
  readonly count: number
  prompt(random: Random): number
  output(random: Random): number
}

function poisson({ perSecond, count, prompt, output }: Queue, seed: number): EngineRequest[] {
  const gaps = randomStream(seed, 'gaps')
  const sizes = randomStream(seed, 'sizes')
  let arrivalMs = 0
  return Array.from({ length: count }, (_, id) => {
    arrivalMs += (1000 * exponential(gaps)) / perSecond
    return { id, arrivalMs, promptTokenIds: { length: prompt(sizes) }, outputTokens: output(sizes) }
  })
}

function replicate(queue: Queue, seeds: number, measure: (result: VirtualResult) => number) {
  const config = {
    ...defaultEngineConfig,
    maxModelLen: 10_000_000,
    maxNumBatchedTokens: 1_000_000,
    numGpuBlocks: 1_000_001,
    ...queue.config,
  }
  const means = Array.from({ length: seeds }, (_, seed) => {
    const engine = createEngine(config, randomStream(seed, 'jitter'), { events: 'requests' })
    const results = runVirtual(engine, { arrivals: poisson(queue, seed) })
    return results.reduce((sum, one) => sum + measure(one), 0) / results.length
  })
  const mean = means.reduce((sum, one) => sum + one, 0) / seeds
  const variance = means.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (seeds - 1)
  return { mean, standardError: Math.sqrt(variance / seeds) }
}

/** Distance from the expected value, 1 at the edge of what is allowed. */
function distance(
  { mean, standardError }: { mean: number; standardError: number },
  expected: number,
  low = 0.01,
): number {
  return Math.abs(mean - expected) / Math.max(4 * standardError, low * expected)
}

const ttftMs = (one: VirtualResult) => (one.facts?.firstTokenMs ?? 0) - one.arrivalMs
const timeMs = (one: VirtualResult) => one.endMs - one.arrivalMs
const waitMs = (one: VirtualResult) => (one.facts?.firstScheduledMs ?? 0) - one.arrivalMs

describe('the engine as a queue with a known answer', () => {
  test.each([
    [50, 15],
    [80, 30],
  ])('G9: M/D/1, 10 ms each, %d a second: TTFT %d ms', (perSecond, expected) => {
    const queue: Queue = {
      config: { maxNumSeqs: 1, stepTime: { ...free, perTokenMs: 0.02 } },
      perSecond,
      count: 15_000,
      prompt: () => 500,
      output: () => 1,
    }
    expect(distance(replicate(queue, 6, ttftMs), expected)).toBeLessThan(1)
  })

  test('G9: D/D/1 over its capacity: request k waits 2k ms', () => {
    const config = { ...defaultEngineConfig, maxNumSeqs: 1, stepTime: { ...free, perTokenMs: 0.02 } }
    const arrivals = Array.from({ length: 500 }, (_, id) => ({
      id,
      arrivalMs: 8 * id,
      promptTokenIds: { length: 500 },
      outputTokens: 1,
    }))
    const results = runVirtual(createEngine(config, randomStream(1, 'jitter')), { arrivals })
    results.forEach((one, k) => expect(waitMs(one)).toBeCloseTo(2 * k, 9))
  })

  test.each([
    [50, 20],
    [80, 50],
  ])('G10: M/M/1, mean 10 ms, %d a second: %d ms in the system', (perSecond, expected) => {
    const queue: Queue = {
      config: { maxNumSeqs: 1, stepTime: { ...free, perTokenMs: 0.01 } },
      perSecond,
      count: 20_000,
      prompt: (random) => Math.max(1, Math.round(1000 * exponential(random))),
      output: () => 1,
    }
    expect(distance(replicate(queue, 6, timeMs), expected)).toBeLessThan(1)
  })

  test('G11: M/M/4: a wait of 509.4 ms and at most a step, by Erlang C', () => {
    const queue: Queue = {
      config: { maxNumSeqs: 4, stepTime: { ...free, baseMs: 5 } },
      perSecond: 3,
      count: 20_000,
      prompt: () => 1,
      output: (random) => Math.max(1, Math.ceil(Math.log(1 - random.next()) / Math.log(1 - 1 / 200))),
    }
    const { mean, standardError } = replicate(queue, 6, waitMs)
    expect(mean).toBeGreaterThan(509.4 - 4 * standardError)
    expect(mean).toBeLessThan(509.4 + 5 + 4 * standardError)
  })

  test.each([
    ['fixed', 5, 200],
    ['geometric', 5, 200],
    ['fixed', 8, 500],
  ])('G12: processor sharing, %s lengths, %d a second: %d ms', (lengths, perSecond, expected) => {
    const queue: Queue = {
      config: { maxNumSeqs: 100_000, stepTime: { ...free, perSequenceMs: 1 } },
      perSecond,
      count: 10_000,
      prompt: () => 1,
      output: (random) =>
        lengths === 'fixed'
          ? 100
          : Math.max(1, Math.ceil(Math.log(1 - random.next()) / Math.log(1 - 1 / 100))),
    }
    expect(distance(replicate(queue, 6, timeMs), expected, 0.03)).toBeLessThan(1)
  })

  test('G17: jitter has a stream of its own: with it, the arrivals and lengths are the same', () => {
    const queue: Queue = {
      config: {},
      perSecond: 20,
      count: 500,
      prompt: (random) => 1 + Math.floor(900 * random.next()),
      output: (random) => 1 + Math.floor(50 * random.next()),
    }
    const runs = [0, 0.05].map((jitterSigma) => {
      const engine = createEngine({ ...defaultEngineConfig, jitterSigma }, randomStream(1, 'jitter'))
      return runVirtual(engine, { arrivals: poisson(queue, 1) })
    })
    const plan = (results: VirtualResult[] | undefined) =>
      results
        ?.map((one) => [one.id, one.arrivalMs, one.facts?.outputTokens])
        .sort((a, b) => Number(a[0]) - Number(b[0]))
    expect(plan(runs[1])).toEqual(plan(runs[0]))
    expect(runs[1]?.map(timeMs)).not.toEqual(runs[0]?.map(timeMs))
  })
})
