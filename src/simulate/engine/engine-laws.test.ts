import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  anyConfigs,
  arrivalsOf,
  engineOf,
  loads,
  plainConfigs,
  runOf,
  type Load,
} from '../../../test/fixtures/engine-loads.ts'
import { randomStream, uniformInteger } from '../../base/random.ts'
import { defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { AcceptedRequest, EngineRequest } from './engine-interface.ts'

/**
 * A prompt that is not chunked comes back from an eviction too long for any step, and is ended when the last of those that run has
 * gone: without a step of its own.
 */
const tooLongOnceEvicted: [EngineConfig, Load] = [
  {
    ...defaultEngineConfig,
    maxNumSeqs: 2,
    maxNumBatchedTokens: 5,
    maxModelLen: 64,
    blockSize: 2,
    numGpuBlocks: 27,
    enablePrefixCaching: false,
    enableChunkedPrefill: false,
    reserveFullPrompt: false,
    frontEndMs: 0,
    stepTime: {
      baseMs: 5,
      kneeTokens: 8,
      perTokenMs: 0.01,
      perContextTokenMs: 0,
      perPairMs: 0.0001,
      perSequenceMs: 0.01,
    },
  },
  { seed: 11, count: 18, meanGapMs: 20, maxPrompt: 30, maxOutput: 60, prompts: 'own' },
]

describe('laws of the engine', () => {
  test('every request has one end, every block comes back, and each token one time, ascending', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const { results, stats } = runOf(config, load)
        expect(results.map((one) => one.id).sort((a, b) => Number(a) - Number(b))).toEqual(
          Array.from({ length: load.count }, (_, id) => id),
        )
        expect(stats.accepted + stats.refused).toBe(load.count)
        expect(stats.running + stats.waiting).toBe(0)
        expect(stats.freeBlocks).toBe(config.numGpuBlocks - 1)
        let generated = 0
        for (const { facts, tokenTimesMs, outcome } of results) {
          if (facts === null || tokenTimesMs === null) continue
          generated += facts.outputTokens
          expect(facts.outputTokens === 0).toBe(outcome === 'error' && facts.firstTokenMs < 0)
          if (facts.outputTokens === 0) continue
          expect(tokenTimesMs[0]).toBe(facts.firstTokenMs)
          expect(tokenTimesMs.at(-1)).toBe(facts.lastTokenMs)
          // Tokens of one step have one time.
          const floor = config.speculative === null ? 0 : -1e-300
          expect(
            tokenTimesMs.findIndex((time, i) => i > 0 && time - (tokenTimesMs[i - 1] as number) <= floor),
          ).toBe(-1)
          expect(tokenTimesMs).toHaveLength(facts.outputTokens)
        }
        expect(generated).toBe(stats.generationTokens)
      }),
      { numRuns: Number(process.env['LAW_RUNS'] ?? 250) },
    )
  })

  test('G15: in lockstep and in jumps, the same tokens, evictions and hits as row by row, times to 1e-9', () => {
    fc.assert(
      fc.property(plainConfigs, loads, (config, load) => {
        const slow = runOf(config, load, { rowByRow: true })
        for (const events of ['tokens', 'requests'] as const) {
          const quick = runOf(config, load, { events })
          const { busyMs, ...counts } = quick.stats
          const { busyMs: slowBusyMs, ...slowCounts } = slow.stats
          expect(counts).toEqual(slowCounts)
          expect(Math.abs(busyMs - slowBusyMs)).toBeLessThan(1e-6)
          expect(quick.results.map((one) => [one.id, one.outcome])).toEqual(
            slow.results.map((one) => [one.id, one.outcome]),
          )
          let furthest = 0
          quick.results.forEach((one, i) => {
            const other = slow.results[i]
            expect(one.facts?.cachedTokens).toBe(other?.facts?.cachedTokens)
            expect(one.tokenTimesMs?.length).toBe(other?.tokenTimesMs?.length)
            one.tokenTimesMs?.forEach((time, j) => {
              furthest = Math.max(
                furthest,
                Math.abs(time - (other?.tokenTimesMs?.[j] ?? 0)) / Math.max(1, time),
              )
            })
          })
          expect(furthest).toBeLessThan(1e-9)
        }
      }),
      { numRuns: Number(process.env['LAW_RUNS'] ?? 250), examples: [tooLongOnceEvicted] },
    )
  })

  test('told token by token or by jumps, the times are the same to the last bit', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const engine = engineOf(config, load)
        const arrivals = arrivalsOf(load)
        const heard = new Map<unknown, number[]>()
        // A server's calls: late, at odd moments, several steps at once.
        const random = randomStream(load.seed, 'lateness')
        let next = 0
        let nowMs = 0
        while (next < arrivals.length || engine.nextWakeMs() !== null) {
          const arrivalMs = arrivals[next]?.arrivalMs ?? Number.POSITIVE_INFINITY
          const wakeMs = (engine.nextWakeMs() ?? Number.POSITIVE_INFINITY) + random.next() * 9
          if (arrivalMs <= wakeMs) {
            nowMs = Math.max(nowMs, arrivalMs)
            const one = arrivals[next++] as EngineRequest
            engine.submit(one, one.arrivalMs)
          } else {
            nowMs = Math.max(nowMs, wakeMs)
            for (const event of engine.advance(nowMs)) {
              if (event.kind !== 'tokens') continue
              const times = heard.get(event.id) ?? []
              for (let i = 0; i < event.count; i++) times.push(event.atMs)
              heard.set(event.id, times)
            }
          }
        }
        for (const one of runOf(config, load, { events: 'requests' }).results) {
          expect(heard.get(one.id) ?? []).toEqual(Array.from(one.tokenTimesMs ?? []))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('called only when an answer can be over, or at the end of each step: the same answers in the same order', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const seldom = runOf(config, load, { events: 'requests' })
        const often = runOf(config, load, { events: 'requests', onStep: () => {} })
        const { busyMs, ...counts } = seldom.stats
        const { busyMs: oftenBusyMs, ...oftenCounts } = often.stats
        expect(seldom.results).toEqual(often.results)
        expect(counts).toEqual(oftenCounts)
        expect(Math.abs(busyMs - oftenBusyMs)).toBeLessThan(1e-6)
      }),
      { numRuns: Number(process.env['LAW_RUNS'] ?? 250), examples: [tooLongOnceEvicted] },
    )
  })

  test('the same seed gives the same bytes', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const jittered = { ...config, jitterSigma: 0.05 }
        expect(JSON.stringify(runOf(jittered, load).results)).toBe(
          JSON.stringify(runOf(jittered, load).results),
        )
      }),
      { numRuns: 50 },
    )
  })

  test('G19: doubling every coefficient and every arrival doubles every time', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const { stepTime } = config
        const doubled = {
          ...config,
          frontEndMs: config.frontEndMs * 2,
          hostMs: config.hostMs * 2,
          stepTime: {
            ...stepTime,
            baseMs: stepTime.baseMs * 2,
            perTokenMs: stepTime.perTokenMs * 2,
            perContextTokenMs: stepTime.perContextTokenMs * 2,
            perPairMs: stepTime.perPairMs * 2,
            perSequenceMs: stepTime.perSequenceMs * 2,
          },
        }
        const once = runOf(config, load).results
        const twice = runOf(doubled, { ...load, meanGapMs: load.meanGapMs * 2 }).results
        expect(twice.map((one) => one.endMs)).toEqual(once.map((one) => one.endMs * 2))
      }),
      { numRuns: 150 },
    )
  })

  test('G19: no threshold and one of the whole budget are the same', () => {
    fc.assert(
      fc.property(anyConfigs, loads, (config, load) => {
        const none = runOf({ ...config, longPrefillTokenThreshold: 0 }, load)
        const threshold = config.enableChunkedPrefill ? config.maxNumBatchedTokens : 100_000
        const whole = runOf({ ...config, longPrefillTokenThreshold: threshold }, load)
        expect(JSON.stringify(whole.results)).toBe(JSON.stringify(none.results))
      }),
      { numRuns: 150 },
    )
  })

  test('G19: a larger pool seldom evicts more: over many loads, fewer in all', () => {
    let small = 0
    let large = 0
    for (let seed = 0; seed < 60; seed++) {
      const load: Load = { seed, count: 40, meanGapMs: 3, maxPrompt: 60, maxOutput: 60, prompts: 'own' }
      const config = { ...defaultEngineConfig, numGpuBlocks: 20, reserveFullPrompt: false }
      small += runOf(config, load).stats.preemptions
      large += runOf({ ...config, numGpuBlocks: 40 }, load).stats.preemptions
    }
    expect(small).toBeGreaterThan(0)
    expect(large).toBeLessThan(small)
  })

  test('G17: aborts at any moment lose nothing else and give every block back', () => {
    fc.assert(
      fc.property(anyConfigs, loads, fc.nat(), (config, load, abortSeed) => {
        const engine = engineOf(config, load)
        const random = randomStream(abortSeed, 'aborts')
        const ended = new Map<unknown, string>()
        let refused = 0
        const accepted: AcceptedRequest[] = []
        const arrivals = arrivalsOf(load)
        let nowMs = 0
        for (const one of arrivals) {
          nowMs = Math.max(nowMs, one.arrivalMs)
          const answer = engine.submit(one, nowMs)
          if (answer.kind === 'refused') refused += 1
          else accepted.push(answer)
          const chosen = uniformInteger(random, 0, load.count - 1)
          if (random.next() < 0.5 && chosen < accepted.length) {
            engine.abort(accepted[chosen] as AcceptedRequest, nowMs)
          }
          nowMs += random.next() * 8
          for (const event of engine.advance(nowMs)) {
            if (event.kind === 'finished') ended.set(event.id, event.reason)
          }
        }
        while (engine.nextWakeMs() !== null) {
          nowMs = Math.max(nowMs, engine.nextWakeMs() ?? 0)
          for (const event of engine.advance(nowMs)) {
            if (event.kind === 'finished') ended.set(event.id, event.reason)
          }
        }
        const stats = engine.stats()
        expect(ended.size + refused).toBe(load.count)
        expect(stats.freeBlocks).toBe(stats.usableBlocks)
        expect(stats.running + stats.waiting).toBe(0)
        const aborted = [...ended.values()].filter((reason) => reason === 'abort').length
        expect(stats.finished.abort).toBe(aborted)
      }),
      { numRuns: 300 },
    )
  })
})
