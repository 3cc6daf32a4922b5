import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editDistance, nearest } from './edit-distance.ts'

describe('editDistance', () => {
  test.each([
    ['a letter too many', 'tpott', 'tpot', 1],
    ['a letter too few', 'tpt', 'tpot', 1],
    ['another letter', 'ttfs', 'ttft', 1],
    ['two neighbours swapped', 'tpto', 'tpot', 1],
    ['nothing in common', 'abc', 'xyz', 3],
    ['from nothing', '', 'e2e', 3],
  ])('%s', (_sentence, a, b, edits) => expect(editDistance(a, b)).toBe(edits))

  test('is 0 only for the same, symmetric, and between the difference of the lengths and the longer word', () => {
    const word = fc.string({ maxLength: 10 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const edits = editDistance(a, b)
        expect(edits === 0).toBe(a === b)
        expect(edits).toBe(editDistance(b, a))
        expect(edits).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
        expect(edits).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })
})

describe('nearest', () => {
  test.each([
    ['concurency', ['concurrency', 'config'], 'concurrency'],
    ['raet', ['rate', 'name'], 'rate'],
    ['ulr', ['url', 'api'], 'url'],
    ['timeout', ['timeout-connect', 'seed'], 'timeout-connect'],
    ['num_requests_wait', ['num_requests_running', 'num_requests_waiting'], 'num_requests_waiting'],
    ['zzz', ['url', 'api'], null],
    ['gitlab', ['github'], null],
  ])('to %s of %o', (word, candidates, wanted) => expect(nearest(word, candidates)).toBe(wanted))

  test.each([
    ['llama', ['meta/Llama-3', 'qwen'], null],
    ['Llama-3', ['qwen', 'meta/Llama-3'], 'meta/Llama-3'],
    ['qwen3-8', ['Qwen/Qwen3-8B', 'gemma'], 'Qwen/Qwen3-8B'],
    ['zzzzzz', ['a', 'b'], null],
  ])('to the model %s of %o, by its last part too', (word, candidates, wanted) =>
    expect(nearest(word, candidates, { most: Math.ceil(word.length / 3), shortAfter: '/' })).toBe(wanted),
  )
})
