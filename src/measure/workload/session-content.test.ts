import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tokenCounter } from '../tokens/token-counter.ts'
import { plainWords } from '../tokens/vocabulary.ts'
import { makePlan, type Plan, type PlanInput } from './make-plan.ts'
import { fullDialect } from './request-body.ts'
import type { SessionWorkload } from './workload.ts'

const sessions = (turns: number): SessionWorkload => ({
  kind: 'sessions',
  turns,
  prompt: { kind: 'uniform', low: 30, high: 60 },
  output: { kind: 'uniform', low: 2, high: 9 },
  thinkTimeMs: 500,
  thinkTime: 'exponential',
})

function plan(change: Partial<PlanInput>): Plan {
  return makePlan({
    workload: sessions(3),
    pacer: { kind: 'constant', ratePerSecond: 2 },
    api: 'chat',
    model: 'm',
    count: 8,
    durationMs: null,
    seed: 1,
    salt: 's',
    warmPrefix: false,
    ignoreEos: true,
    continuousUsage: false,
    stream: true,
    temperature: null,
    extraBody: {},
    tokens: tokenCounter({
      kind: 'tokenizer',
      words: { words: plainWords, costs: 1, leadTokens: 1 },
      exact: true,
      basis: 'test',
    }),
    dialect: fullDialect,
    maxModelLen: null,
    ...change,
  })
}

describe('sessions', () => {
  test('arrive at the rate; their later turns have no time of their own, and the last may be cut short', () => {
    const made = plan({})
    if (made.kind !== 'open') throw new Error('closed')
    expect(made.turns).toBe(3)
    expect(made.requests.map(({ plannedMs }) => plannedMs)).toEqual([
      0,
      null,
      null,
      500,
      null,
      null,
      1000,
      null,
    ])
    expect(made.requests.map(({ turn }) => turn)).toEqual([1, 2, 3, 1, 2, 3, 1, 2])
    expect(new Set(made.requests.map(({ session }) => session)).size).toBe(3)
    const pauses = made.requests.map(({ thinkTimeMs }) => thinkTimeMs > 0)
    expect(pauses).toEqual([false, true, true, false, true, true, false, true])
  })

  test('law: a turn says all that was said before, and the same to whoever asks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 0, max: 200 }), (turns, index) => {
        const closed = plan({
          workload: sessions(turns),
          pacer: { kind: 'concurrency', users: 2, thinkTimeMs: 0 },
        })
        if (closed.kind !== 'closed') throw new Error('open')
        const messages = (at: number): unknown[] =>
          (JSON.parse(closed.requestAt(at).body) as { messages: unknown[] }).messages
        const turn = index % turns
        expect(messages(index)).toHaveLength(2 * turn + 1)
        const before = turn === 0 ? [] : messages(index - 1)
        expect(messages(index).slice(0, Math.max(0, 2 * turn - 1))).toEqual(before)
        expect(closed.requestAt(index)).toEqual(closed.requestAt(index))
      }),
      { numRuns: 30 },
    )
  })

  test('of the completions API are one text of planned length', () => {
    const made = plan({ api: 'completions' })
    if (made.kind !== 'open') throw new Error('closed')
    for (const { body, plannedPromptTokens } of made.requests) {
      const { prompt } = JSON.parse(body) as { prompt: string }
      expect(prompt.split(' ')).toHaveLength(plannedPromptTokens ?? 0)
    }
  })

  test('that outgrow the model are told beforehand', () => {
    expect(plan({ maxModelLen: 110 }).warnings.map(({ kind }) => kind)).toContain('lengths_not_as_asked')
    expect(plan({ maxModelLen: 1000 }).warnings).toEqual([])
  })

  test('without a turn are refused', () => {
    expect(() => plan({ workload: sessions(0) })).toThrow('cannot be made')
  })
})
