import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import { defaultEngineConfig, type EngineConfig } from './engine-config.ts'
import type { EngineEvent, EngineRequest, StepFacts } from './engine-interface.ts'
import { createEngine } from './engine.ts'
import { runVirtual } from './run-virtual.ts'

/** t = 5 ms + 0.01 ms × tokens, as in engine-goldens.test.ts. */
const golden: EngineConfig = {
  ...defaultEngineConfig,
  maxNumBatchedTokens: 2048,
  enablePrefixCaching: false,
  numGpuBlocks: 100_001,
}

function request(
  id: string,
  arrivalMs: number,
  prompt: number,
  output: number,
  extra: Partial<EngineRequest> = {},
): EngineRequest {
  return {
    id,
    arrivalMs,
    promptTokenIds: { length: prompt },
    outputTokens: output,
    maxTokens: output,
    ...extra,
  }
}

function simulate(config: Partial<EngineConfig>, arrivals: readonly EngineRequest[]) {
  const steps: StepFacts[] = []
  const engine = createEngine({ ...golden, ...config }, randomStream(1, 'jitter'), {
    acceptance: randomStream(1, 'acceptance'),
    onStep: (step) => steps.push(step),
  })
  const events: EngineEvent[] = []
  const { advance } = engine
  engine.advance = (nowMs) => {
    const told = advance.call(engine, nowMs)
    events.push(...told)
    return told
  }
  const results = new Map(
    runVirtual(engine, { arrivals, keepTokenTimes: true }).map((one) => [String(one.id), one]),
  )
  const counts = (id: string) =>
    events.flatMap((event) => (event.kind === 'tokens' && event.id === id ? [event.count] : []))
  return {
    stats: engine.stats(),
    steps,
    counts,
    tokens: steps.map((step) => step.tokens),
    endMs: (id: string) => results.get(id)?.endMs ?? Number.NaN,
    ttftMs: (id: string) =>
      (results.get(id)?.facts?.firstTokenMs ?? Number.NaN) - (results.get(id)?.arrivalMs ?? 0),
    times: (id: string) => Array.from(results.get(id)?.tokenTimesMs ?? []),
    scheduledMs: (id: string) => results.get(id)?.facts?.firstScheduledMs,
  }
}

function rounded(times: readonly number[]): number[] {
  return times.map((time) => Math.round(time * 1e6) / 1e6)
}

describe('speculative decoding', () => {
  const drafted = (rate: number): Partial<EngineConfig> => ({
    speculative: { draftTokens: 3, acceptRates: [rate, rate, rate] },
  })

  test('G13: K = 3 with everything accepted: 10 tokens in events of 1, 4, 4 and 1, the last draft counted whole', () => {
    const { counts, stats, tokens, times, endMs } = simulate(drafted(1), [request('a', 0, 100, 10)])
    expect(counts('a')).toEqual([1, 4, 4, 1])
    expect(tokens).toEqual([100, 4, 4, 4])
    expect(stats).toMatchObject({ steps: 4, generationTokens: 10 })
    expect(stats.speculation).toEqual({ drafts: 3, draftTokens: 9, acceptedTokens: 9, acceptedAt: [3, 3, 3] })
    expect(endMs('a')).toBeCloseTo(6 + 3 * 5.04, 9)
    expect(rounded(times('a'))).toEqual([6, ...Array(4).fill(11.04), ...Array(4).fill(16.08), 21.12])
  })

  test('G13: with nothing accepted ten events of one token, and every step computes the draft in vain', () => {
    const { counts, stats, tokens } = simulate(drafted(0), [request('a', 0, 100, 10)])
    expect(counts('a')).toEqual(Array(10).fill(1))
    expect(tokens).toEqual([100, ...Array(9).fill(4)])
    expect(stats.speculation).toEqual({
      drafts: 9,
      draftTokens: 27,
      acceptedTokens: 0,
      acceptedAt: [0, 0, 0],
    })
  })

  test('G13: conditional rates give 1 + p₁ + p₁p₂ + p₁p₂p₃ tokens a step', () => {
    const rates = [0.8, 0.6, 0.4]
    const { stats } = simulate({ speculative: { draftTokens: 3, acceptRates: rates } }, [
      request('a', 0, 10, 60_000),
    ])
    const { drafts, acceptedTokens, acceptedAt } = stats.speculation ?? {
      drafts: 0,
      acceptedTokens: 0,
      acceptedAt: [],
    }
    // One draw a step: the standard deviation of tokens a step is below 1.2, that of the mean below 0.008.
    expect(Math.abs(1 + acceptedTokens / drafts - (1 + 0.8 + 0.48 + 0.192))).toBeLessThan(0.035)
    ;[0.8, 0.48, 0.192].forEach((share, i) => {
      expect(Math.abs((acceptedAt[i] as number) / drafts - share)).toBeLessThan(0.016)
    })
  })

  test('the drafts of a full step are cut to the budget, and a prompt beside them is served from what is left', () => {
    const { tokens, counts } = simulate({ ...drafted(1), maxNumBatchedTokens: 6 }, [
      request('a', 0, 3, 10),
      request('b', 0, 3, 10),
    ])
    // 4 of A and 2 of B: one token and one draft.
    expect(tokens.slice(0, 2)).toEqual([6, 6])
    expect(counts('b').slice(0, 2)).toEqual([1, 2])
  })

  test('slots for the next draft are held: a pool that decodes two rows without drafts evicts one with them', () => {
    const arrivals = [request('a', 0, 16, 16), request('b', 0, 16, 16)]
    const usable = { numGpuBlocks: 5 }
    expect(simulate(usable, arrivals).stats.preemptions).toBe(0)
    const { stats } = simulate({ ...usable, ...drafted(0) }, arrivals)
    expect(stats.preemptions).toBeGreaterThan(0)
    expect(stats).toMatchObject({ generationTokens: 32, freeBlocks: 4 })
  })

  test('drafts end with the context: no slot beyond the longest request is computed', () => {
    const { stats, tokens } = simulate({ ...drafted(1), maxModelLen: 108 }, [request('a', 0, 100, 8)])
    expect(stats.generationTokens).toBe(8)
    expect(tokens).toEqual([100, 4, 3])
  })
})

describe('asynchronous scheduling', () => {
  const ahead: Partial<EngineConfig> = { asyncScheduling: true }

  test('a lone request takes the same steps: what surely ends is not scheduled once more', () => {
    const { tokens, endMs, ttftMs } = simulate(ahead, [request('a', 0, 1000, 3)])
    expect(tokens).toEqual([1000, 1, 1])
    expect(ttftMs('a')).toBeCloseTo(15, 9)
    expect(endMs('a')).toBeCloseTo(25.02, 9)
  })

  test('who arrives in mid-step waits for it and for the next, which was scheduled already', () => {
    const arrivals = [request('a', 0, 1000, 10), request('b', 16, 1000, 1)]
    const { scheduledMs, ttftMs, endMs } = simulate(ahead, arrivals)
    // Steps of A end at 15, 20.01 and 25.02: the one from 20.01 is fixed when B arrives.
    expect(scheduledMs('b')).toBeCloseTo(20.01, 9)
    expect(ttftMs('b')).toBeCloseTo(25.02 + 15.01 - 16, 9)
    expect(simulate({}, arrivals).ttftMs('b')).toBeCloseTo(19.02, 9)
    expect(endMs('a')).toBeCloseTo(70.09, 9)
  })

  test('an answer that ends by itself has one slot more computed for nothing', () => {
    const { tokens, stats } = simulate(ahead, [
      request('a', 0, 100, 3, { maxTokens: 50 }),
      request('b', 0, 100, 5),
    ])
    expect(stats.finished).toMatchObject({ stop: 1, length: 1 })
    expect(tokens).toEqual([200, 2, 2, 2, 1])
    expect(stats.freeBlocks).toBe(100_000)
  })

  test('a step that nobody needs any more still runs, and who comes then waits for it', () => {
    const { ttftMs, tokens } = simulate(ahead, [
      request('a', 0, 100, 1, { maxTokens: 50 }),
      request('b', 7, 100, 1),
    ])
    // A ends at 6; its step for nothing runs to 11.01.
    expect(tokens).toEqual([100, 1, 100])
    expect(ttftMs('b')).toBeCloseTo(11.01 + 6 - 7, 9)
  })

  test('the time of the host is hidden behind the step before, if that is longer; else it shows', () => {
    const one = [request('a', 0, 100, 11)]
    expect(simulate({ hostMs: 2 }, one).endMs('a')).toBeCloseTo(6 + 50.1 + 11 * 2, 9)
    expect(simulate({ ...ahead, hostMs: 2 }, one).endMs('a')).toBeCloseTo(2 + 6 + 50.1, 9)
    // A host that is slower than the steps sets their pace.
    expect(simulate({ ...ahead, hostMs: 8 }, one).endMs('a')).toBeCloseTo(11 * 8 + 5.01, 9)
  })

  test('with speculation too: the step ahead is for all that may be accepted, and what was rejected is computed again', () => {
    for (const [rate, counts] of [
      [1, [1, 4, 4, 1]],
      [0, Array(10).fill(1)],
    ] as const) {
      const run = simulate({ ...ahead, speculative: { draftTokens: 3, acceptRates: [rate, rate, rate] } }, [
        request('a', 0, 100, 10),
      ])
      expect(run.counts('a')).toEqual(counts)
    }
  })
})

describe('the policy of SGLang', () => {
  const sglang: Partial<EngineConfig> = { policy: 'sglang', blockSize: 1, numGpuBlocks: 100_001 }

  test('prompts go first, and nobody decodes meanwhile: A stands still for all four chunks of B', () => {
    const { tokens, times, ttftMs } = simulate(sglang, [request('a', 0, 100, 60), request('b', 20, 8192, 2)])
    // Decode at 6 + k · 5.01; B is there for the step that begins at 21.03.
    expect(tokens.slice(0, 9)).toEqual([100, 1, 1, 1, 2048, 2048, 2048, 2048, 2])
    const gaps = times('a')
      .slice(1)
      .map((time, i) => time - (times('a')[i] as number))
    expect(Math.max(...gaps)).toBeCloseTo(4 * 25.48 + 5.02, 9)
    expect(ttftMs('b')).toBeCloseTo(21.03 + 4 * 25.48 - 20, 9)
  })

  test('mixed chunks: the decoding row is in every step of the prompt, and takes a token of its budget', () => {
    const { tokens, counts } = simulate({ ...sglang, mixedChunk: true }, [
      request('a', 0, 100, 60),
      request('b', 20, 8192, 2),
    ])
    expect(tokens.slice(4, 9)).toEqual([2048, 2048, 2048, 2048, 5])
    expect(counts('a')).toHaveLength(60)
  })

  test('admission reckons with 0.7 of what the running answers may still take', () => {
    // A may have 1000 more tokens; with 0.7 of them kept free, 1001 of 1711 are left for B, who needs 10 + 990 + 1.
    const arrivals = (limit: number) => [
      request('a', 0, 10, 2, { maxTokens: 1001 }),
      request('b', 1, 10, 2, { maxTokens: limit }),
    ]
    const pool = { numGpuBlocks: 1712 + 1 }
    const enters = (limit: number) => simulate({ ...sglang, ...pool }, arrivals(limit)).scheduledMs('b') ?? 0
    // The first step ends at 5.1 ms, A's last at 10.11. Of 1712 − 10 free, 700 are expected to go to A: 1002 are left.
    expect(enters(990)).toBeCloseTo(5.1, 6)
    expect(enters(991)).toBeCloseTo(10.11, 6)
  })

  test('when a decode step finds no blocks, who has the fewest tokens goes to the end of the line', () => {
    const { stats, tokens, times } = simulate({ ...sglang, numGpuBlocks: 91 }, [
      request('a', 0, 10, 40),
      request('b', 1, 10, 40),
    ])
    expect(stats).toMatchObject({ preemptions: 1, generationTokens: 80, freeBlocks: 90 })
    // Both have 36 tokens when 10 + 35 blocks each are all there are; B, the later, computes 46 tokens again when A has its 40.
    expect(tokens).toEqual([10, 10, ...Array(35).fill(2), ...Array(4).fill(1), 46, 1, 1, 1])
    expect(times('b')[36]).toBeGreaterThan(times('a').at(-1) as number)
  })
})

describe('static batching', () => {
  const still: Partial<EngineConfig> = { policy: 'static' }

  test('nobody joins a batch, prompts are padded, and the batch runs until its longest answer ends', () => {
    const { tokens, endMs, scheduledMs, ttftMs } = simulate(still, [
      request('a', 0, 1000, 3),
      request('b', 0, 500, 1),
      request('c', 1, 100, 2),
    ])
    // Both rows are as wide as A's prompt; B has ended after the first step and is computed all the same.
    expect(tokens).toEqual([2000, 2, 2, 100, 1])
    expect(ttftMs('b')).toBeCloseTo(25, 9)
    expect(endMs('b')).toBeCloseTo(25, 9)
    expect(endMs('a')).toBeCloseTo(25 + 2 * 5.02, 9)
    expect(scheduledMs('c')).toBeCloseTo(35.04, 9)
  })

  test('blocks for all that the callers allow are held from the start to the end of the batch', () => {
    const { scheduledMs, endMs } = simulate({ ...still, numGpuBlocks: 11 }, [
      request('a', 0, 16, 2, { maxTokens: 64 }),
      request('b', 0, 16, 40, { maxTokens: 64 }),
      request('c', 0, 16, 2, { maxTokens: 64 }),
    ])
    expect(scheduledMs('b')).toBe(0)
    expect(scheduledMs('c')).toBeCloseTo(endMs('b'), 9)
  })
})
