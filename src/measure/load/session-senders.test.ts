import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closedRun, openRun } from '../../../test/fixtures/senders.ts'
import type { Finished } from './thread-messages.ts'

const service = fc.func(fc.oneof(fc.constant(0), fc.nat(3000), fc.constant(null)))
const interference = fc.option(
  fc.record({ atMs: fc.nat(3000), kind: fc.constantFrom<'stop' | 'cut'>('stop', 'cut') }),
)

/** What became of each request that was sent, by index: its intended send and its end. */
function spansOf(finished: readonly Finished[]): ReadonlyMap<number, { from: number; to: number }> {
  return new Map(
    finished.flatMap((one) =>
      'fields' in one
        ? [
            [
              one.index,
              { from: one.fields.planned_ms!, to: one.fields.planned_ms! + one.fields.done_ms! },
            ] as const,
          ]
        : [],
    ),
  )
}

/** Every turn that was sent is intended for its think time behind the end of the one before it, which was sent too. */
function expectTurnsInOrder(finished: readonly Finished[], turns: number, thinkTimeMs: number): void {
  const spans = spansOf(finished)
  for (const [index, { from }] of spans) {
    if (index % turns === 0) continue
    const before = spans.get(index - 1)
    expect(before).toBeDefined()
    expect(from).toBeCloseTo(before!.to + thinkTimeMs, 6)
  }
}

describe('sessions', () => {
  const turns = fc.integer({ min: 2, max: 5 })
  const thinkTimeMs = fc.constantFrom(0, 40)

  it('open: each turn ends exactly once and follows its predecessor, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          starts: fc.array(fc.nat(2000), { minLength: 1, maxLength: 12 }),
          turns,
          thinkTimeMs,
          service,
          limit: fc.option(fc.integer({ min: 1, max: 4 })),
          disturbed: interference,
          cutShort: fc.nat(4),
        }),
        async ({ starts, cutShort, ...options }) => {
          const plannedMs = starts.sort((a, b) => a - b)
          const count = Math.max(1, plannedMs.length * options.turns - cutShort)
          const { finished, ended } = await openRun({ ...options, plannedMs, count, sendEndMs: 2500 })
          expect(ended).toBe(1)
          expect(finished.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
            Array.from({ length: count }, (_, i) => i),
          )
          expectTurnsInOrder(finished, options.turns, options.thinkTimeMs)
        },
      ),
    )
  })

  it('closed: each turn of a session that was taken ends exactly once, on the slot that took it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          users: fc.integer({ min: 1, max: 5 }),
          count: fc.integer({ min: 1, max: 40 }),
          turns,
          thinkTimeMs,
          service: fc.func(fc.oneof(fc.constant(0), fc.nat(300))),
          sendEndMs: fc.option(fc.nat(2000)),
          bodiesAfterMs: fc.constantFrom(0, 100),
          workers: fc.integer({ min: 1, max: 3 }),
        }),
        async (options) => {
          const workers = Math.min(options.workers, options.users)
          const { finished, ended } = await closedRun({ ...options, workers })
          expect(ended).toBe(workers)
          const indexes = finished.map(({ index }) => index)
          expect(new Set(indexes).size).toBe(indexes.length)
          if (options.sendEndMs === null)
            expect(indexes.sort((a, b) => a - b)).toEqual(Array.from({ length: options.count }, (_, i) => i))
          expectTurnsInOrder(finished, options.turns, options.thinkTimeMs)
        },
      ),
    )
  })

  it('open: the pause runs from the end of the answer, and a rate is of sessions', async () => {
    const { finished } = await openRun({ plannedMs: [0, 10], service: () => 100, turns: 3, thinkTimeMs: 50 })
    const planned = [...spansOf(finished)]
      .sort(([a], [b]) => a - b)
      .map(([, { from }]) => Math.round(from / 5) * 5)
    expect(planned).toEqual([0, 150, 300, 10, 160, 310])
  })

  it('closed: a user has one session after another', async () => {
    const { finished } = await closedRun({
      users: 1,
      count: 4,
      service: () => 100,
      turns: 2,
      thinkTimeMs: 50,
    })
    const planned = [...spansOf(finished)].sort(([a], [b]) => a - b).map(([, { from }]) => Math.round(from))
    expect(planned).toEqual([50, 200, 350, 500])
  })

  it('the turns that the end of the window forestalled are never sent, and said so', async () => {
    const { finished } = await openRun({
      plannedMs: [0],
      service: () => 400,
      turns: 4,
      thinkTimeMs: 0,
      sendEndMs: 1000,
    })
    const became = finished.map((one) => ('fields' in one ? one.fields.outcome : one.unsent))
    expect(became).toEqual(['ok', 'ok', 'ok', 'window_ended'])
    expect(finished.at(-1)).toMatchObject({ index: 3, plannedMs: null })
  })
})
