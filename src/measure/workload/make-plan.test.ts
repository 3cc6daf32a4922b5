import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pacer } from '../load/pacer.ts'
import { tokenCounter, type TokenCounter } from '../tokens/token-counter.ts'
import { plainWords } from '../tokens/vocabulary.ts'
import { makePlan, type Plan, type PlanInput } from './make-plan.ts'
import type { PlannedRequest } from './planned-request.ts'
import { fullDialect, plainDialect } from './request-body.ts'
import { partSalt } from './salt.ts'
import type { LoadedWorkload } from './workload.ts'

const oneTokenWords: TokenCounter = tokenCounter({
  kind: 'server-tokenize',
  words: { words: plainWords, costs: 1, leadTokens: 9 },
  exact: true,
  basis: 'test',
})
const mixedWords: TokenCounter = tokenCounter({
  kind: 'server-tokenize',
  words: {
    words: plainWords.slice(0, 64),
    costs: plainWords.slice(0, 64).map((word) => word.length + 1),
    leadTokens: 5,
  },
  exact: true,
  basis: 'test',
})

const base: PlanInput = {
  workload: { kind: 'random', prompt: { kind: 'fixed', tokens: 100 }, output: { kind: 'fixed', tokens: 16 } },
  pacer: { kind: 'constant', ratePerSecond: 5 },
  api: 'chat',
  model: 'm',
  count: 20,
  durationMs: null,
  seed: 1,
  salt: 'salt-1',
  warmPrefix: false,
  ignoreEos: true,
  continuousUsage: false,
  stream: true,
  temperature: null,
  extraBody: {},
  tokens: oneTokenWords,
  dialect: fullDialect,
  maxModelLen: null,
}

function first(plan: Plan, count: number): readonly PlannedRequest[] {
  if (plan.kind === 'open') return plan.requests.slice(0, count)
  return Array.from({ length: count }, (_, index) => plan.requestAt(index))
}

const contentOf = (request: PlannedRequest): string =>
  (JSON.parse(request.body) as { messages: { content: string }[] }).messages[0]!.content
const wordsOf = (request: PlannedRequest): string[] => contentOf(request).split(' ')
const saltWords = 8

describe('the end of a plan', () => {
  test.each<[sentence: string, change: Partial<PlanInput>, usedUp: boolean | undefined]>([
    ['the count comes before the duration', { count: 3, durationMs: 1000 }, true],
    ['the duration comes before the count', { count: 100, durationMs: 1000 }, undefined],
    ['no duration: nothing is cut short', { count: 3, durationMs: null }, undefined],
    [
      'a recording that is shorter than the duration',
      { count: null, durationMs: 1000, pacer: { kind: 'schedule', timesMs: [0, 400], name: 'trace' } },
      true,
    ],
  ])('used up before its time: %s', (_, change, usedUp) => {
    const plan = makePlan({ ...base, ...change })
    expect(plan.kind === 'open' && plan.usedUp).toBe(usedUp)
  })

  const rows: [sentence: string, change: Partial<PlanInput>, requests: number][] = [
    ['by count', { count: 7 }, 7],
    ['by duration', { count: null, durationMs: 1000 }, 5],
    ['by whichever comes first: duration', { count: 100, durationMs: 1000 }, 5],
    ['by whichever comes first: count', { count: 3, durationMs: 1000 }, 3],
    [
      'by the pacer',
      { count: null, pacer: { kind: 'ramp', fromPerSecond: 0, toPerSecond: 10, durationMs: 4000 } },
      20,
    ],
    ['300 sends in a minute of five a second', { count: null, durationMs: 60_000 }, 300],
  ]
  test.each(rows)('%s', (_sentence, change, requests) => {
    const plan = makePlan({ ...base, ...change })
    expect(plan.kind).toBe('open')
    expect(first(plan, 1000)).toHaveLength(requests)
  })

  test('a file is gone through once unless told otherwise', () => {
    const plan = makePlan({ ...base, workload: items(3), count: null })
    expect(first(plan, 10).map(({ promptId }) => promptId)).toEqual(['a', 'b', 'c'])
    const closed = makePlan({
      ...base,
      workload: items(3),
      count: null,
      pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 },
    })
    expect(closed).toMatchObject({ kind: 'closed', count: 3, users: 2, staggerMs: 0 })
  })

  test.each<[string, Partial<PlanInput>]>([
    ['no end at all', { count: null }],
    ['no end of a closed loop', { count: null, pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 } }],
    ['half a request', { count: 0.5 }],
    ['no time', { durationMs: 0 }],
    ['ten million requests', { count: 10_000_000 }],
    ['a length below one', { workload: { ...random(), prompt: { kind: 'fixed', tokens: 0 } } }],
    [
      'a median above its p99',
      { workload: { ...random(), output: { kind: 'lognormal', median: 9, p99: 8 } } },
    ],
    ['a pacer that cannot run', { pacer: { kind: 'poisson', ratePerSecond: -1 } }],
  ])('%s is refused', (_sentence, change) => {
    expect(() => makePlan({ ...base, ...change })).toThrow(expect.objectContaining({ code: 'PLIM_USAGE' }))
  })
})

const random = (): LoadedWorkload & { kind: 'random' } => base.workload as LoadedWorkload & { kind: 'random' }
const items = (count: number, order: 'file' | 'shuffled' = 'file'): LoadedWorkload => ({
  kind: 'items',
  name: 'x.jsonl',
  order,
  output: null,
  skipped: {},
  items: ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, count).map((id) => ({
    id,
    segment: null,
    prompt: { kind: 'text', text: `Question ${id}` },
    outputTokens: null,
  })),
})

describe('laws of a plan', () => {
  const pacer: fc.Arbitrary<Pacer> = fc.constantFrom<Pacer>(
    { kind: 'poisson', ratePerSecond: 20 },
    { kind: 'gamma', ratePerSecond: 20, cv: 2 },
    { kind: 'burst', size: 100, everyMs: null },
    { kind: 'concurrency', users: 3, thinkTimeMs: 50, thinkTime: 'exponential' },
  )

  test('the same seed and salt give the same plan, byte for byte, and a longer one extends it', () => {
    fc.assert(
      fc.property(pacer, fc.integer(), fc.integer({ min: 1, max: 30 }), (pacer, seed, count) => {
        const input = {
          ...base,
          pacer,
          seed,
          workload: { ...random(), prompt: { kind: 'lognormal', median: 60, p99: 300 } },
        } as const
        const long = makePlan({ ...input, count: 40 })
        expect(first(makePlan({ ...input, count: 40 }), 40)).toEqual(first(long, 40))
        expect(first(makePlan({ ...input, count }), count)).toEqual(first(long, count))
      }),
      { numRuns: 30 },
    )
  })

  test('a closed loop’s request is a function of its index, in whatever order it is asked', () => {
    const plan = makePlan({ ...base, pacer: { kind: 'concurrency', users: 4, thinkTimeMs: 10 } })
    if (plan.kind !== 'closed') throw new Error('open')
    const forwards = [0, 1, 2, 3, 4, 5].map((index) => plan.requestAt(index))
    const backwards = [5, 4, 3, 2, 1, 0].map((index) => plan.requestAt(index)).reverse()
    expect(backwards).toEqual(forwards)
    expect(forwards.map(({ thinkTimeMs }) => thinkTimeMs)).toEqual([0, 0, 0, 0, 10, 10])
  })

  test('exponential think times have their mean', () => {
    const plan = makePlan({
      ...base,
      workload: items(1),
      pacer: { kind: 'concurrency', users: 1, thinkTimeMs: 40, thinkTime: 'exponential' },
    })
    const times = first(plan, 4001)
      .slice(1)
      .map(({ thinkTimeMs }) => thinkTimeMs)
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length
    expect(Math.abs(mean - 40)).toBeLessThan((4 * 40) / Math.sqrt(4000))
  })

  test('another salt changes the words of the salt and nothing else', () => {
    const [one, two] = [makePlan(base), makePlan({ ...base, salt: 'salt-2' })]
    expect(two.digest).toBe(one.digest)
    first(one, 20).forEach((request, i) => {
      const other = first(two, 20)[i]!
      expect(wordsOf(other).slice(1 + saltWords)).toEqual(wordsOf(request).slice(1 + saltWords))
      expect(wordsOf(other).slice(1, 1 + saltWords)).not.toEqual(wordsOf(request).slice(1, 1 + saltWords))
      expect({ ...other, body: '' }).toEqual({ ...request, body: '' })
    })
  })

  test('another seed changes everything but the salt', () => {
    const [one, two] = [makePlan(base), makePlan({ ...base, seed: 2 })]
    expect(two.digest).not.toBe(one.digest)
    expect(wordsOf(first(two, 1)[0]!).slice(1, 9)).toEqual(wordsOf(first(one, 1)[0]!).slice(1, 9))
    expect(wordsOf(first(two, 1)[0]!).slice(9)).not.toEqual(wordsOf(first(one, 1)[0]!).slice(9))
  })

  test('no two prompts begin alike: not in a run, not in two points of a sweep', () => {
    const starts = new Set<string>()
    for (const point of [1, 2, 3]) {
      const plan = makePlan({ ...base, count: 2000, salt: partSalt('run', point) })
      for (const request of first(plan, 2000))
        starts.add(
          wordsOf(request)
            .slice(0, 1 + saltWords)
            .join(' '),
        )
    }
    expect(starts.size).toBe(6000)
  })

  test('--warm-prefix sends the same prompts in every run, the salt’s tokens being words instead', () => {
    const one = first(makePlan({ ...base, warmPrefix: true }), 20)
    const two = first(makePlan({ ...base, warmPrefix: true, salt: 'other' }), 20)
    expect(two).toEqual(one)
    expect(makePlan({ ...base, warmPrefix: true }).salt).toBeNull()
    expect(wordsOf(one[0]!)).toHaveLength(100 - 9 + 1)
  })
})

describe('random prompts', () => {
  test('are exactly as long as drawn, salt and template counted', () => {
    for (const request of first(makePlan(base), 20)) {
      expect(request.plannedPromptTokens).toBe(100)
      // 9 tokens of lead ("Text" and the template), so 91 words.
      expect(wordsOf(request)).toHaveLength(1 + 91)
    }
  })

  test('are exactly as long where words cost different numbers of tokens', () => {
    const plan = makePlan({
      ...base,
      tokens: mixedWords,
      workload: { ...random(), prompt: { kind: 'uniform', low: 120, high: 400 } },
    })
    for (const request of first(plan, 20)) {
      const counted =
        5 +
        wordsOf(request)
          .slice(1)
          .reduce((sum, word) => sum + word.length + 1, 0)
      expect(request.plannedPromptTokens).toBe(counted)
    }
    expect(
      new Set(first(plan, 20).map(({ plannedPromptTokens }) => plannedPromptTokens)).size,
    ).toBeGreaterThan(10)
  })

  test('too short for their salt are as short as they can be, and it is said', () => {
    const plan = makePlan({ ...base, workload: { ...random(), prompt: { kind: 'fixed', tokens: 4 } } })
    expect(first(plan, 1)[0]?.plannedPromptTokens).toBe(9 + saltWords + 1)
    expect(plan.warnings.map(({ kind, message }) => [kind, message])).toEqual([
      ['lengths_not_as_asked', '20 of 20 prompts were asked shorter than 18 tokens and have 18'],
    ])
  })

  test('too long for the model are cut, and it is said', () => {
    const plan = makePlan({ ...base, maxModelLen: 64 })
    expect(first(plan, 1)[0]?.plannedPromptTokens).toBe(48)
    expect(plan.warnings[0]?.message).toBe(
      "20 of 20 prompts were cut so that they and their answers fit the model's 64 tokens",
    )
  })

  test('share their prefix, salted once for the run, when asked to', () => {
    const plan = makePlan({ ...base, workload: { ...random(), sharedPrefixTokens: 40 } })
    const starts = new Set(first(plan, 20).map((request) => wordsOf(request).slice(0, 41).join(' ')))
    const nexts = new Set(first(plan, 20).map((request) => wordsOf(request)[41]))
    expect(starts.size).toBe(1)
    expect(nexts.size).toBeGreaterThan(10)
    expect(first(plan, 1)[0]?.plannedPromptTokens).toBe(100)
  })
})

describe('the body', () => {
  const bodyOf = (change: Partial<PlanInput>): Record<string, unknown> =>
    JSON.parse(first(makePlan({ ...base, ...change }), 1)[0]!.body) as Record<string, unknown>

  test('says all that a full dialect understands', () => {
    const { messages: _, ...rest } = bodyOf({ continuousUsage: true, temperature: 0 })
    expect(rest).toEqual({
      model: 'm',
      max_tokens: 16,
      min_tokens: 16,
      ignore_eos: true,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    })
  })

  test('says only what a plain dialect understands', () => {
    const { messages: _, ...rest } = bodyOf({ dialect: plainDialect, continuousUsage: true })
    expect(rest).toEqual({ model: 'm', max_tokens: 16, stream: true })
  })

  test('names the newer limit on the chat API alone', () => {
    const dialect = { ...fullDialect, outputLimit: 'max_completion_tokens' } as const
    expect(bodyOf({ dialect })).toHaveProperty('max_completion_tokens', 16)
    expect(bodyOf({ dialect, api: 'completions' })).toHaveProperty('max_tokens', 16)
    expect(bodyOf({ dialect, api: 'completions' })).toHaveProperty('prompt')
  })

  test('leaves the end to the model when it is told to', () => {
    const body = bodyOf({ ignoreEos: false })
    expect(body).toHaveProperty('max_tokens', 16)
    expect(body).not.toHaveProperty('ignore_eos')
    expect(body).not.toHaveProperty('min_tokens')
  })

  test('takes the extra fields last', () => {
    expect(bodyOf({ extraBody: { top_p: 0.9, max_tokens: 3 } })).toMatchObject({ top_p: 0.9, max_tokens: 3 })
  })
})

describe('prompts of a file', () => {
  test('keep their order, are salted in front, and come again with another salt', () => {
    const requests = first(makePlan({ ...base, workload: items(2), count: 4 }), 4)
    expect(requests.map(({ promptId }) => promptId)).toEqual(['a', 'b', 'a', 'b'])
    expect(contentOf(requests[0]!)).toMatch(/^Text( [a-z]{3,6}){8}\n\nQuestion a$/)
    expect(contentOf(requests[2]!)).not.toBe(contentOf(requests[0]!))
    expect(contentOf(first(makePlan({ ...base, workload: items(2), warmPrefix: true }), 1)[0]!)).toBe(
      'Question a',
    )
  })

  test('a shuffled file has an order of its seed, each item once before any comes again', () => {
    const ids = first(makePlan({ ...base, workload: items(6, 'shuffled'), count: 6 }), 6).map(
      ({ promptId }) => promptId,
    )
    expect([...ids].toSorted((a, b) => (a! < b! ? -1 : 1))).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    const orders = new Set(
      [1, 2, 3, 4].map((seed) =>
        first(makePlan({ ...base, seed, workload: items(6, 'shuffled'), count: 6 }), 6)
          .map(({ promptId }) => promptId)
          .join(''),
      ),
    )
    expect(orders.size).toBeGreaterThan(1)
  })

  test('messages pass through, the first one salted', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]
    const workload = {
      ...items(1),
      items: [{ id: 'x', segment: 's', prompt: { kind: 'messages', messages }, outputTokens: 5 }],
    } as LoadedWorkload
    const request = first(makePlan({ ...base, workload, count: 1 }), 1)[0]!
    const sent = (JSON.parse(request.body) as { messages: { content: string }[] }).messages
    expect(sent[0]?.content).toMatch(/\n\nBe brief\.$/)
    expect(sent[1]).toEqual(messages[1])
    expect(request).toMatchObject({ segment: 's', askedOutputTokens: 5, plannedPromptTokens: null })
    expect(() => makePlan({ ...base, api: 'completions', workload })).toThrow(
      expect.objectContaining({ code: 'PLIM_WORKLOAD' }),
    )
  })
})
