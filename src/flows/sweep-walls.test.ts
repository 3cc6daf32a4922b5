import { describe, expect, test } from 'vitest'
import { streamedRow } from '../measure/record/made-rows.ts'
import { memoryWallOf } from './sweep-walls.ts'

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
