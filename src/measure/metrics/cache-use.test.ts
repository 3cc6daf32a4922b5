import { describe, expect, test } from 'vitest'
import { cacheUse, warmHitRate } from './cache-use.ts'

const row = (
  prompt: number | null,
  cached: number | null,
  ok = true,
): { ok: boolean; prompt_tokens: number | null; cached_tokens: number | null } => ({
  ok,
  prompt_tokens: prompt,
  cached_tokens: cached,
})

describe('warmHitRate', () => {
  test.each<[string, ReturnType<typeof row>[], number, number | null, number | null]>([
    ['a template of 15 tokens that is always there is not warmth', [row(100, 12), row(100, 15)], 15, null, 0],
    ['what lies behind the template is', [row(100, 15), row(100, 95)], 15, null, 0.4],
    ['without a known template all of it counts', [row(100, 12), row(100, 8)], 0, null, 0.1],
    ['failed requests do not count', [row(100, 0), row(100, 100, false)], 0, null, 0],
    ['rows that tell nothing leave it to the counters', [row(100, null), row(100, null)], 0, 0.3, 0.3],
    ['of which the template is taken off too', [row(100, null), row(100, null)], 20, 0.3, 0.1],
    ['but never below nothing', [row(100, null)], 40, 0.3, 0],
    ['nobody tells', [row(100, null)], 15, null, null],
  ])('%s', (_sentence, rows, lead, counted, expected) => {
    const found = warmHitRate(rows, lead, counted)
    const rounded = found === null ? null : Number(found.toFixed(12))
    expect(rounded).toBe(expected === null ? null : Number(expected.toFixed(12)))
  })

  test('the raw use keeps every cached token', () => {
    expect(cacheUse([row(100, 12), row(100, null)])).toEqual({
      prompt_tokens: 100,
      cached_tokens: 12,
      hit_rate: 0.12,
    })
    expect(cacheUse([row(100, null)])).toBeNull()
  })
})
