import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import { blocksNeeded, defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { EngineRequest } from './engine-interface.ts'
import { createEngine } from './engine.ts'
import { runVirtual, type VirtualResult } from './run-virtual.ts'

const golden: EngineConfig = {
  ...defaultEngineConfig,
  maxNumBatchedTokens: 2048,
  maxNumSeqs: 256,
  enablePrefixCaching: false,
  numGpuBlocks: 100_001,
}

function request(
  id: string,
  arrivalMs: number,
  prompt: number | Int32Array,
  output: number,
  extra: Partial<EngineRequest> = {},
): EngineRequest {
  const promptTokenIds = typeof prompt === 'number' ? { length: prompt } : prompt
  return { id, arrivalMs, promptTokenIds, outputTokens: output, maxTokens: output, ...extra }
}

interface Seen {
  readonly result: VirtualResult
  readonly ttftMs: number
  readonly endMs: number
  readonly gapsMs: number[]
}

/** Both ways of counting are run; their results must agree before they are compared with the golden. */
function simulate(config: Partial<EngineConfig>, arrivals: readonly EngineRequest[]) {
  const all = { ...golden, ...config }
  const engine = createEngine(all, randomStream(1, 'jitter'))
  const slow = createEngine(all, randomStream(1, 'jitter'), { rowByRow: true })
  const steps: Array<{ startMs: number; tokens: number }> = []
  const quick = createEngine(all, randomStream(1, 'jitter'), {
    events: 'requests',
    onStep: (s) => steps.push(s),
  })
  const runs = [engine, slow, quick].map((one) => runVirtual(one, { arrivals, keepTokenTimes: true }))
  const seen = runs.map((results) => new Map(results.map((result) => [String(result.id), seenOf(result)])))
  for (const [id, one] of seen[0] as Map<string, Seen>) {
    for (const other of [seen[1], seen[2]]) {
      const same = other?.get(id) as Seen
      expect(same.result.outcome).toBe(one.result.outcome)
      expect(same.gapsMs.length).toBe(one.gapsMs.length)
      expect(Math.abs(same.endMs - one.endMs)).toBeLessThan(1e-9)
    }
  }
  return {
    stats: engine.stats(),
    quickStats: quick.stats(),
    steps,
    of: (id: string) => seen[0]?.get(id) as Seen,
  }
}

function seenOf(result: VirtualResult): Seen {
  const times = result.tokenTimesMs ?? new Float64Array(0)
  const gapsMs = Array.from(times.slice(1), (time, i) => time - (times[i] as number))
  return { result, ttftMs: (times[0] ?? Number.NaN) - result.arrivalMs, endMs: result.endMs, gapsMs }
}

function close(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThan(1e-9)
}

describe('golden steps of t = 5 ms + 0.01 ms × tokens', () => {
  test('G1: one request of 1000 tokens answers 3 in steps of 15, 5.01 and 5.01 ms', () => {
    const { of, stats, steps } = simulate({}, [request('a', 0, 1000, 3)])
    close(of('a').ttftMs, 15)
    of('a').gapsMs.forEach((gap) => close(gap, 5.01))
    close(of('a').endMs, 25.02)
    expect(stats.steps).toBe(3)
    expect(steps.reduce((sum, step) => sum + step.tokens, 0)).toBe(1002)
    expect(blocksNeeded(1000, 2, 16)).toBe(63)
    expect(stats.finished).toEqual({ length: 1, stop: 0, abort: 0, error: 0 })
  })

  test('G2: two prompts share one step of 1500 tokens', () => {
    const { of } = simulate({}, [request('a', 0, 1000, 3), request('b', 0, 500, 2)])
    expect(of('a').result.outcome).toBe('length')
    close(of('a').ttftMs, 20)
    close(of('b').ttftMs, 20)
    close(of('b').endMs, 25.02)
    close(of('a').endMs, 30.03)
  })

  test('G3: a request that arrives in mid-step joins at the next boundary and costs the other one long gap', () => {
    const { of } = simulate({}, [request('a', 0, 1000, 10), request('b', 16, 1000, 1)])
    close(of('b').result.facts?.firstScheduledMs ?? 0, 20.01)
    close(of('b').ttftMs, 19.02)
    expect(of('a').gapsMs.filter((gap) => Math.abs(gap - 15.01) < 1e-9)).toHaveLength(1)
    close(of('a').endMs, 70.09)
  })

  const stall = [request('a', 0, 100, 60), request('b', 20, 8192, 2)]
  test.each([
    ['chunks of a 2048 budget', { maxNumBatchedTokens: 2048 }, 108, [25.48, 25.48, 25.48, 25.48, 5.05]],
    ['one chunk', { maxNumBatchedTokens: 8193 }, 87.96, [86.93]],
    [
      'chunks of at most 512',
      { maxNumBatchedTokens: 8193, longPrefillTokenThreshold: 512 },
      163.11,
      Array(16).fill(10.13),
    ],
  ])('G4: a prompt of 8192 in %s', (_, config, ttftMs, slowGaps) => {
    const { of } = simulate(config, stall)
    close(of('b').ttftMs, ttftMs)
    const gaps = of('a').gapsMs.filter((gap) => gap > 5.0201)
    expect(gaps).toHaveLength(slowGaps.length)
    gaps.forEach((gap, i) => close(gap, slowGaps[i] as number))
    close(of('a').endMs, 383.52)
    expect(of('a').result.facts?.outputTokens).toBe(60)
  })

  test('G4: without chunks, 8192 tokens never fit beside a decoding row: starved until it ends', () => {
    const { of } = simulate({ maxNumBatchedTokens: 8192, enableChunkedPrefill: false }, stall)
    expect(of('b').result.outcome).toBe('length')
    close(of('a').endMs, 6 + 59 * 5.01)
    close(of('b').result.facts?.firstScheduledMs ?? 0, of('a').endMs)
  })

  test('G5: the pool runs out: the younger is evicted, its block forgotten, its prompt and outputs computed again', () => {
    const ids = (first: number) => Int32Array.from({ length: 16 }, (_, i) => first + i)
    const config = { numGpuBlocks: 5, enablePrefixCaching: true }
    const arrivals = [
      request('a', 0, ids(0), 40, { outputSeed: 1 }),
      request('b', 0, ids(100), 40, { outputSeed: 2 }),
    ]
    const { of, stats, steps } = simulate(config, arrivals)
    expect(stats.preemptions).toBe(1)
    expect(stats.steps).toBe(63)
    close(of('a').endMs, 200.87)
    close(of('b').ttftMs, 5.32)
    close(Math.max(...of('b').gapsMs), 120.56)
    close(of('b').endMs, 316.42)
    expect(steps[40]?.tokens).toBe(33)
    expect(steps[17]?.tokens).toBe(1)
    expect(stats.prefixQueriesPreempted).toBe(33)
    expect(stats.prefixHitsPreempted).toBe(0)

    const engine = createEngine({ ...golden, ...config }, randomStream(1, 'jitter'))
    for (const one of arrivals) engine.submit(one, 0)
    const usage: number[] = []
    let waited = 0
    while (engine.nextWakeMs() !== null) {
      engine.advance(engine.nextWakeMs() ?? 0)
      const now = engine.stats()
      if (now.running === 1 && now.waiting === 1) {
        waited += 1
        usage.push(now.kvUsage)
      }
    }
    expect(waited).toBeGreaterThan(0)
    expect([Math.min(...usage), Math.max(...usage)]).toEqual([0.75, 1])
  })

  test('an evicted request goes before everyone who waits', () => {
    const { of, stats } = simulate({ numGpuBlocks: 5, maxNumSeqs: 2 }, [
      request('a', 0, 16, 40),
      request('b', 0, 16, 40),
      request('c', 1, 16, 1),
    ])
    expect(stats.preemptions).toBe(1)
    expect(of('b').result.facts?.preemptions).toBe(1)
    // It has one block free beside A all the while, but B, who needs three, is in front of it.
    close(of('c').result.facts?.firstScheduledMs ?? 0, of('a').endMs)
  })

  test('nobody is admitted in a step that evicts, not even who would fit', () => {
    const config = { numGpuBlocks: 5, longPrefillTokenThreshold: 16, reserveFullPrompt: false }
    const { steps, stats } = simulate(config, [request('a', 0, 16, 16), request('c', 0, 60, 2)])
    // C's third chunk finds no block, C is evicted, and its first chunk, for which there is room, comes a step later.
    expect(steps.slice(0, 4).map((step) => step.tokens)).toEqual([32, 17, 1, 17])
    expect(stats.preemptions).toBeGreaterThan(0)
    expect(stats.finished.stop + stats.finished.length).toBe(2)
  })

  test.each([
    [100, 96, 5.04],
    [96, 80, 5.16],
  ])('G6: a prompt of %d tokens again hits %d of them', (length, hit, ttftMs) => {
    const ids = Int32Array.from({ length }, (_, i) => i * 7)
    const { of, stats } = simulate({ enablePrefixCaching: true }, [
      request('a', 0, ids, 1),
      request('b', 1000, ids, 1),
    ])
    close(of('b').ttftMs, ttftMs)
    expect(of('b').result.facts?.cachedTokens).toBe(hit)
    expect(stats.prefixQueries).toBe(2 * length)
    expect(stats.prefixHits).toBe(hit)
  })

  test.each([
    ['without the gate its first 32 tokens enter beside a decoding row', false, true],
    ['with the gate for the whole prompt, 4 blocks of 3, it waits', true, false],
  ])('G7: %s', (_, reserveFullPrompt, enters) => {
    const engine = createEngine(
      { ...golden, numGpuBlocks: 11, maxNumBatchedTokens: 33, reserveFullPrompt },
      randomStream(1, 'jitter'),
    )
    engine.submit(request('a', 0, 100, 12), 0)
    while (engine.stats().generationTokens < 1) engine.advance(engine.nextWakeMs() ?? 0)
    expect(engine.stats().freeBlocks).toBe(3)
    engine.submit(request('b', 0, 64, 2), engine.nextWakeMs() ?? 0)
    const startMs = engine.nextWakeMs() ?? 0
    engine.advance(startMs)
    expect(engine.stats().running).toBe(enters ? 2 : 1)
    expect(engine.stats().freeBlocks).toBe(enters ? 1 : 3)
  })

  test('G7: a watermark of 10 blocks is left free while something runs, and only then', () => {
    const config = { ...golden, numGpuBlocks: 101, watermarkBlocks: 10 }
    const engine = createEngine(config, randomStream(1, 'jitter'))
    engine.submit(request('alone', 0, 1590, 5), 0)
    engine.advance(0)
    expect(engine.stats()).toMatchObject({ running: 1, freeBlocks: 0 })
    const beside = createEngine(config, randomStream(1, 'jitter'))
    beside.submit(request('first', 0, 160, 2), 0)
    beside.submit(request('81 of 90', 0, 81 * 16, 2), 0)
    beside.advance(0)
    expect(beside.stats()).toMatchObject({ running: 1, waiting: 1, freeBlocks: 90 })
    const fits = createEngine(config, randomStream(1, 'jitter'))
    fits.submit(request('first', 0, 160, 2), 0)
    fits.submit(request('80 of 90', 0, 80 * 16, 2), 0)
    fits.advance(0)
    expect(fits.stats()).toMatchObject({ running: 2, waiting: 0, freeBlocks: 10 })
  })

  test('G8: four users in lock step: a cycle of 61.80 ms, and Little holds exactly', () => {
    for (const events of ['tokens', 'requests'] as const) {
      const engine = createEngine(golden, randomStream(1, 'jitter'), { events })
      let sent = 4
      const results = runVirtual(engine, {
        arrivals: [0, 1, 2, 3].map((id) => request(String(id), 0, 160, 11)),
        onResult: (one) => (sent < 400 ? request(String(sent++), one.endMs, 160, 11) : null),
      })
      expect(results).toHaveLength(400)
      const lastMs = results.at(-1)?.endMs ?? 0
      close(lastMs / 100, 61.8)
      const perSecond = 400 / (lastMs / 1000)
      expect(perSecond).toBeCloseTo(64.72, 2)
      expect(perSecond * 11).toBeCloseTo(711.97, 2)
      const meanTime = results.reduce((sum, one) => sum + one.endMs - one.arrivalMs, 0) / 400
      expect((perSecond * meanTime) / 1000).toBeCloseTo(4, 9)
    }
  })

  test('G14: a budget of 64 beside 3 decoding rows takes a prompt of 100 in 61 and 39', () => {
    const arrivals = ['a', 'b', 'c'].map((id) => request(id, 0, 10, 30))
    const { steps } = simulate({ maxNumBatchedTokens: 64 }, [...arrivals, request('p', 6, 100, 2)])
    const from = steps.findIndex((step) => step.startMs >= 6)
    expect(steps.slice(from, from + 3).map((step) => step.tokens)).toEqual([64, 42, 4])
  })
})

describe('cases of failure reports', () => {
  test('sim-01: what can never fit is refused at intake, with the blocks it needs and the blocks there are', () => {
    const engine = createEngine({ ...golden, numGpuBlocks: 11 }, randomStream(1, 'jitter'))
    expect([blocksNeeded(100, 20, 16), blocksNeeded(150, 30, 16)]).toEqual([8, 12])
    expect(engine.submit(request('0', 0, 100, 20), 0)).toMatchObject({ kind: 'accepted', id: '0' })
    expect(engine.submit(request('1', 0, 150, 30), 0)).toEqual({
      kind: 'refused',
      code: 'never_fits',
      message: 'needs 12 blocks, has 10',
    })
  })

  test('sim-03: with one seat the wait is part of the TTFT, and TPOT stays the engine’s', () => {
    const stepTime = { ...golden.stepTime, baseMs: 100, kneeTokens: 1, perTokenMs: 1 }
    const { of } = simulate({ maxNumSeqs: 1, maxNumBatchedTokens: 8192, stepTime }, [
      request('0', 0, 3901, 11),
      request('1', 0, 3901, 11),
      request('2', 1000, 3901, 11),
    ])
    expect(['0', '1', '2'].map((id) => of(id).ttftMs)).toEqual([4000, 9000, 13000])
    expect(['0', '1', '2'].map((id) => of(id).endMs - of(id).result.arrivalMs)).toEqual([5000, 10000, 14000])
    expect(
      ['0', '1', '2'].map((id) => (of(id).endMs - of(id).result.arrivalMs - of(id).ttftMs) / 10),
    ).toEqual([100, 100, 100])
    const facts = ['0', '1', '2'].map((id) => of(id).result.facts)
    expect(facts.map((one) => (one?.firstScheduledMs ?? 0) - (one?.arrivalMs ?? 0))).toEqual([0, 5000, 9000])
  })
})
