import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { choices } from '../../../test/fixtures/engine-loads.ts'
import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'
import { defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { EngineRequest } from './engine-interface.ts'
import { createEngine } from './engine.ts'
import { parseFault } from './fault-grammar.ts'
import { faultTimeline } from './fault-timeline.ts'
import { runVirtual, type VirtualResult } from './run-virtual.ts'

const always = { probability: 1, fromMs: 0, untilMs: null }

const heads =
  'stall, slow, cut, reset, error, buffer, no usage, kv, freeze metrics, drop metrics, or a status such as 429'

describe('parseFault', () => {
  test.each([
    ['stall 3s at 10s', { kind: 'stall', durationMs: 3000, recurs: { kind: 'once', atMs: 10_000 } }],
    [
      'stall 400ms every ~30s',
      {
        kind: 'stall',
        durationMs: 400,
        recurs: { kind: 'every', everyMs: 30_000, random: true, fromMs: 0, untilMs: null },
      },
    ],
    [
      'Stall 1.5 s every 1m from 10s until 5min',
      {
        kind: 'stall',
        durationMs: 1500,
        recurs: { kind: 'every', everyMs: 60_000, random: false, fromMs: 10_000, untilMs: 300_000 },
      },
    ],
    [
      'slow x3 for 20 steps',
      { kind: 'slow', factor: 3, steps: 20, durationMs: null, recurs: { kind: 'once', atMs: 0 } },
    ],
    [
      'slow ×1.5 for 5s at 10s',
      { kind: 'slow', factor: 1.5, steps: null, durationMs: 5000, recurs: { kind: 'once', atMs: 10_000 } },
    ],
    [
      'slow 2x',
      { kind: 'slow', factor: 2, steps: null, durationMs: null, recurs: { kind: 'once', atMs: 0 } },
    ],
    ['cut stream after token 37', { kind: 'cut', afterTokens: 37, scope: always }],
    ['cut after 3 tokens 10%', { kind: 'cut', afterTokens: 3, scope: { ...always, probability: 0.1 } }],
    ['reset', { kind: 'reset', afterTokens: 0, scope: always }],
    [
      'reset after token 5 with probability 0.25 from 10s for 20s',
      { kind: 'reset', afterTokens: 5, scope: { probability: 0.25, fromMs: 10_000, untilMs: 30_000 } },
    ],
    [
      '429 when waiting>64',
      { kind: 'reject', status: 429, waitingOver: 64, retryAfterMs: null, scope: always },
    ],
    [
      '429 when waiting >= 64 retry after 2s',
      { kind: 'reject', status: 429, waitingOver: 63, retryAfterMs: 2000, scope: always },
    ],
    [
      '503 5%',
      {
        kind: 'reject',
        status: 503,
        waitingOver: null,
        retryAfterMs: null,
        scope: { ...always, probability: 0.05 },
      },
    ],
    [
      '500 1 in 20 at 3s',
      {
        kind: 'reject',
        status: 500,
        waitingOver: null,
        retryAfterMs: null,
        scope: { probability: 0.05, fromMs: 3000, untilMs: null },
      },
    ],
    ['error object mid-stream', { kind: 'error_object', afterTokens: 1, scope: always }],
    ['error mid-stream after token 9', { kind: 'error_object', afterTokens: 9, scope: always }],
    ['buffer output 16KB', { kind: 'buffer', bytes: 16_384, scope: always }],
    ['buffer 100 bytes 50%', { kind: 'buffer', bytes: 100, scope: { ...always, probability: 0.5 } }],
    ['no usage', { kind: 'no_usage', scope: always }],
    ['kv -20% at 30s', { kind: 'kv', lostShare: 0.2, lostBlocks: 0, atMs: 30_000, untilMs: null }],
    ['kv −100 blocks at 1s for 2s', { kind: 'kv', lostShare: 0, lostBlocks: 100, atMs: 1000, untilMs: 3000 }],
    ['freeze metrics', { kind: 'freeze_metrics', fromMs: 0, untilMs: null }],
    ['drop metrics at 10s for 20s', { kind: 'drop_metrics', fromMs: 10_000, untilMs: 30_000 }],
  ])('%s', (text, expected) => {
    expect(parseFault(text)).toEqual({ text, ...expected })
  })

  test.each([
    ['', 1, 'the name of a fault', 'the end'],
    ['stal 3s at 10s', 1, heads, '"stal"'],
    ['stall', 6, 'how long, as 3s', 'the end'],
    ['stall 3 at 10s', 9, 'how long, as 3s', '"at"'],
    ['stall 3s att 10s', 10, '"at", "every", "from" or "until", or the end', '"att"'],
    ['stall 3s at 10s at 12s', 17, '"at" only once', '"at"'],
    ['stall 3s at 10s every 30s', 26, 'either "at" or "every", not both', 'the end'],
    ['stall 3s at 10s 5%', 17, '"at", "every", "from" or "until", or the end', '"5%"'],
    ['slow 3 for 20 steps', 6, 'how many times slower, as x3', '"3"'],
    ['slow x0', 6, 'how many times slower, as x3', '"x0"'],
    ['cut stream after token', 23, 'the number of a token', 'the end'],
    ['429 when running>64', 10, '"waiting"', '"running"'],
    ['429 when waiting 64', 18, '">"', '"64"'],
    ['503 105%', 5, 'a probability, as 5% or 0.05', '"105%"'],
    ['buffer output 16XB', 15, 'a size, as 16KB', '"16xb"'],
    ['no metrics', 4, '"usage"', '"metrics"'],
    ['kv 20% at 30s', 4, 'what is lost, as -20% or -100 blocks', '"20%"'],
    ['kv -120%', 4, 'at most -100%', '"-120%"'],
    ['stall 3s every 3s', 18, 'a period longer than the stall', 'the end'],
    ['slow x2 for 1 steps every 0s', 27, 'a period of 1 ms or more', '"0s"'],
    ['603 5%', 1, heads, '"603"'],
  ])('"%s" stops at column %d: expected %s', (text, column, expected, received) => {
    const error = errorOf(() => parseFault(text, 'plimsoll.yaml'))
    expect(error.code).toBe('PLIM_FAULT')
    expect(error.where).toEqual({ file: 'plimsoll.yaml', line: 1, column })
    expect([error.expected, error.received]).toEqual([expected, received])
  })

  test.each([
    ['stal 3s at 10s', 'as in: stall 3s at 10s'],
    ['stall 3s evry 30s', 'as in: stall 3s at 10s'],
    ['stall 400ms evry ~30s', 'as in: stall 400ms every ~30s'],
    ['freze metrics', 'as in: freeze metrics at 10s'],
    ['429 if waiting>64', 'as in: 429 when waiting>64'],
    ['kv 20%', 'as in: kv -20% at 30s'],
    ['resett', 'as in: reset after token 5 with probability 10%'],
  ])('"%s" is answered with the nearest right form', (text, hint) => {
    expect(errorOf(() => parseFault(text)).hint).toBe(hint)
  })

  test('no text makes it crash: it reads it or says PLIM_FAULT', () => {
    const words = fc.constantFrom(
      'stall',
      'slow',
      '3s',
      'x3',
      'at',
      'every',
      '~',
      '429',
      'kv',
      '-20%',
      'for',
      '%',
      '1',
      'in',
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 8 }).map((list) => list.join(' ')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        let code = 'read'
        try {
          parseFault(text)
        } catch (error) {
          code = error instanceof PlimsollError ? error.code : String(error)
        }
        expect(['read', 'PLIM_FAULT']).toContain(code)
      }),
      { numRuns: 1000 },
    )
  })
})

function errorOf(act: () => unknown): PlimsollError {
  try {
    act()
  } catch (error) {
    if (error instanceof PlimsollError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const config: EngineConfig = { ...defaultEngineConfig, numGpuBlocks: 10_001 }

function runWith(
  faults: readonly string[],
  arrivals: readonly EngineRequest[],
  over: Partial<EngineConfig> = {},
) {
  const timeline = faultTimeline(
    faults.map((text) => parseFault(text)),
    randomStream(7, 'faults'),
  )
  const runs = (['tokens', 'requests'] as const).map((events) => {
    const engine = createEngine({ ...config, ...over }, randomStream(7, 'jitter'), {
      events,
      disturbance: timeline.disturbance(),
    })
    const results = runVirtual(engine, { arrivals, keepTokenTimes: true })
    return { results, stats: engine.stats() }
  })
  expect(JSON.stringify(runs[1])).toBe(JSON.stringify(runs[0]))
  return runs[0] as { results: VirtualResult[]; stats: (typeof runs)[0]['stats'] }
}

function request(id: number, arrivalMs: number, length: number, outputTokens: number): EngineRequest {
  return { id, arrivalMs, promptTokenIds: { length }, outputTokens }
}

function gapsOf(result: VirtualResult | undefined): number[] {
  const times = Array.from(result?.tokenTimesMs ?? [])
  return times.slice(1).map((time, i) => time - (times[i] as number))
}

describe('faults that the engine meets (steps of 5.01 ms)', () => {
  test('a stall of 3 s lengthens the step in whose middle it falls by 3 s, and no other', () => {
    const { results } = runWith(['stall 3s at 100ms'], [request(0, 0, 100, 60)])
    const gaps = gapsOf(results[0])
    expect(gaps.filter((gap) => gap > 5.02)).toHaveLength(1)
    expect(Math.max(...gaps)).toBeCloseTo(3005.01, 9)
  })

  test('who arrives in a stall of an idle engine waits for its end', () => {
    const { results } = runWith(['stall 3s at 10s'], [request(0, 10_500, 100, 1)])
    expect(results[0]?.endMs).toBeCloseTo(13_006, 9)
  })

  test('stalls that overlap stand still as long as their union', () => {
    const { results } = runWith(['stall 3s at 1s', 'stall 3s at 2s'], [request(0, 1000, 100, 1)])
    expect(results[0]?.endMs).toBeCloseTo(5006, 9)
  })

  test('stalls that together leave no gap are an error, not a hang', () => {
    const act = () =>
      runWith(['stall 2s every 3s', 'stall 2s every 3s from 1500ms'], [request(0, 5000, 100, 1)])
    expect(errorOf(act).code).toBe('PLIM_FAULT')
  })

  test('x3 for 20 steps: 20 gaps of 15.03 ms and then as before', () => {
    const { results } = runWith(['slow x3 for 20 steps at 100ms'], [request(0, 0, 100, 60)])
    const slow = gapsOf(results[0]).filter((gap) => gap > 5.02)
    expect(slow).toHaveLength(20)
    slow.forEach((gap) => expect(gap).toBeCloseTo(15.03, 9))
  })

  test('x2 for 1 s: half the work of that second is done', () => {
    const plain = runWith([], [request(0, 0, 100, 500)]).results[0]?.endMs ?? 0
    const { results } = runWith(['slow x2 for 1s at 500ms'], [request(0, 0, 100, 500)])
    expect(results[0]?.endMs).toBeCloseTo(plain + 500, 6)
  })

  test('stalls every ~30 s come as a Poisson process: mean 30 s, and the count varies as it should', () => {
    const timeline = faultTimeline([parseFault('stall 1ms every ~30s')], randomStream(3, 'faults'))
    const disturbance = timeline.disturbance()
    let stalls = 0
    for (let i = 0; i < 40_000; i++) {
      if ((disturbance?.stepEndMs(i, i * 100, 100) ?? 0) > (i + 1) * 100 + 0.5) stalls += 1
    }
    // 4,000 s: 133.3 expected, σ 11.5.
    expect(Math.abs(stalls - 4000 / 30)).toBeLessThan(4 * 11.5)
  })

  test('a pool that shrinks under a running load ends what no longer fits, and finishes the rest', () => {
    const arrivals = [request(0, 0, 1000, 400), request(1, 0, 100, 300), request(2, 0, 100, 300)]
    const { results, stats } = runWith(['kv -60% at 50ms'], arrivals, { numGpuBlocks: 121 })
    const byId = new Map(results.map((one) => [one.id, one]))
    expect(byId.get(0)).toMatchObject({
      outcome: 'error',
      message: 'needs more than the 48 blocks that are left of the pool',
    })
    expect(byId.get(1)?.outcome).toBe('stop')
    expect(byId.get(2)?.outcome).toBe('stop')
    expect(stats).toMatchObject({ usableBlocks: 48, freeBlocks: 48, finished: { error: 1, stop: 2 } })
  })

  test('a pool that comes back is whole again', () => {
    const { results, stats } = runWith(
      ['kv -90% at 50ms for 1s'],
      [request(0, 100, 1000, 4), request(1, 1100, 1000, 4)],
      { numGpuBlocks: 121 },
    )
    expect(results.map((one) => one.outcome)).toEqual(['refused', 'stop'])
    expect(results[0]?.message).toBe('needs 63 blocks, has 12')
    expect(stats.usableBlocks).toBe(120)
  })

  test('no loss of the pool, whenever and however large, makes the engine run for ever', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 300 }), fc.boolean()), {
          maxLength: 4,
        }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 60 })), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.constantFrom(1, 4, 16),
        fc.boolean(),
        fc.boolean(),
        choices,
        (losses, requests, blockSize, reserveFullPrompt, enablePrefixCaching, choice) => {
          const faults = losses.map(
            ([percent, atMs, back]) => `kv -${percent}% at ${atMs}ms${back ? ' for 50ms' : ''}`,
          )
          const arrivals = requests.map(([prompt, output], i) => request(i, i * 9, prompt, output))
          const over = { blockSize, reserveFullPrompt, enablePrefixCaching, numGpuBlocks: 40, ...choice }
          const timeline = faultTimeline(
            faults.map((text) => parseFault(text)),
            randomStream(1, 'faults'),
          )
          const engine = createEngine({ ...config, ...over }, randomStream(1, 'jitter'), {
            disturbance: timeline.disturbance(),
            acceptance: randomStream(1, 'acceptance'),
          })
          const results = runVirtual(engine, { arrivals, untilMs: 60_000 })
          expect(results).toHaveLength(requests.length)
          expect(engine.stats().freeBlocks).toBe(engine.stats().usableBlocks)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('faults that requests meet', () => {
  test('a share of requests is hit, the same ones whoever asks and in whatever order', () => {
    const timeline = faultTimeline([parseFault('503 5%')], randomStream(1, 'faults'))
    const again = faultTimeline([parseFault('no usage'), parseFault('503 5%')], randomStream(1, 'faults'))
    const hit = Array.from({ length: 4000 }, (_, i) => timeline.requestEffects(i, i, 0).reject !== null)
    const share = hit.filter(Boolean).length / 4000
    // σ = √(0.05 × 0.95 ÷ 4000) = 0.34 %.
    expect(Math.abs(share - 0.05)).toBeLessThan(4 * 0.0034)
    for (const i of [3999, 17, 0, 2048]) {
      expect(again.requestEffects(i, i, 0).reject !== null).toBe(hit[i])
    }
  })

  test.each([
    ['at 64 waiting, "429 when waiting>64" lets it in', ['429 when waiting>64'], 64, null],
    ['at 65 it answers 429', ['429 when waiting>64 retry after 2s'], 65, { status: 429, retryAfterMs: 2000 }],
    ['the first of two rejections counts', ['503', '429'], 0, { status: 503, retryAfterMs: null }],
  ])('%s', (_, texts, waiting, reject) => {
    const timeline = faultTimeline(
      texts.map((text) => parseFault(text)),
      randomStream(1, 'faults'),
    )
    expect(timeline.requestEffects(0, 0, waiting).reject).toEqual(reject)
  })

  test('effects add up: the earliest cut, the largest buffer, no usage', () => {
    const texts = ['cut stream after token 37', 'cut after token 5', 'buffer 1KB', 'buffer 16KB', 'no usage']
    const timeline = faultTimeline(
      texts.map((text) => parseFault(text)),
      randomStream(1, 'faults'),
    )
    expect(timeline.requestEffects(0, 0, 0)).toEqual({
      reject: null,
      cutAfterTokens: 5,
      resetAfterTokens: null,
      errorAfterTokens: null,
      bufferBytes: 16_384,
      noUsage: true,
    })
  })

  test('metrics are live, frozen since, or gone', () => {
    const texts = ['freeze metrics at 10s for 20s', 'drop metrics at 25s for 1s']
    const timeline = faultTimeline(
      texts.map((text) => parseFault(text)),
      randomStream(1, 'faults'),
    )
    expect([0, 10_000, 25_500, 26_000, 30_000].map((atMs) => timeline.metrics(atMs))).toEqual([
      { kind: 'live' },
      { kind: 'frozen', sinceMs: 10_000 },
      { kind: 'dropped' },
      { kind: 'frozen', sinceMs: 10_000 },
      { kind: 'live' },
    ])
  })
})
