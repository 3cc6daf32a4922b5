import { describe, expect, test } from 'vitest'
import { streamedRow } from '../measure/record/made-rows.ts'
import type { SweepPoint } from '../report/documents.ts'
import { memoryWallOf, sweepWalls } from './sweep-walls.ts'

const rows = Array.from({ length: 10 }, (_, i) =>
  streamedRow(
    { id: `r${i}`, plannedMs: i, ttftMs: 10, gapsMs: [1, 1], completionTokens: 32 },
    { prompt_tokens: 100 },
  ),
)

describe('memoryWallOf', () => {
  test.each<[string, number | null, number | null, number | null, number | null]>([
    ['a pool that requests share holds pool ÷ tokens', 16_384, null, 124, 132],
    ['a pool cut in slots holds a request in each, however short', 16_384, 8, 8, 2048],
    ['slots of an unknown pool say nothing of memory', null, 8, null, null],
  ])('%s', (_sentence, kvTokens, slots, load, each) => {
    const wall = memoryWallOf(rows, { kvTokens, slots })
    expect(wall?.load ?? null).toBe(load)
    expect(wall?.tokens_per_request ?? null).toBe(each)
  })
})

test('a sweep whose client set every number says so, and not that nothing was found', () => {
  const { walls, capacity } = sweepWalls([clientBound(1), clientBound(4)], null, 1000, 'p90 ttft <= 1s')
  const why = 'no point can be used: the client set the numbers of each'
  expect(walls).toMatchObject({ saturation: null, slo: null, why: { saturation: why, slo: why } })
  expect(capacity).toMatchObject({ load: null, why })
})

function clientBound(users: number): SweepPoint {
  return {
    load: { kind: 'concurrency', value: users },
    in_flight: users,
    run: `${users}`,
    verdict: { status: 'INVALID', reasons: [] },
    throughput: { window_s: 5, requests_per_s: 1, output_tokens_per_s: 32, input_tokens_per_s: 100 },
    metrics: {},
    goodput: null,
    objectives: [],
    passes: 'yes',
    suspect: ['client-bound: the event loop was late by 42 ms at p99 (limit 20 ms)'],
    stopped: null,
  }
}
