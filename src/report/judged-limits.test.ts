import { describe, expect, test } from 'vitest'
import { threeWalls } from '../../test/fixtures/documents.ts'
import { explainSweep } from './explain.ts'
import { sweepPage } from './html-sweep.ts'
import { judgedTail, limitOn, shownTail } from './judged-limits.ts'
import { renderSweep } from './render-sweep.ts'

describe('what an objective, as a document has it, limits', () => {
  test.each<[string, string | null, string, string, number | null]>([
    ['none: the 99th, and no limit', null, 'p99', 'p99', null],
    ['another tool’s grammar: as none', 'mean latency of 3', 'p99', 'p99', null],
    ['a percentile of TPOT is also that of a TTFT that is not judged', 'p90 tpot <= 10ms', 'p90', 'p90', 10],
    ['each metric its own', 'p99 ttft < 2s and p99.9 tpot < 30ms', 'p99_9', 'p99', 30],
    ['several objectives in one text', 'p95 ttft <= 1s; p90 tpot <= 0.01s', 'p90', 'p95', 10],
    ['one of several in another grammar', 'who knows; p90 tpot <= 10ms', 'p90', 'p90', 10],
    ['the first as written, of whatever kind', 'p90 tpot <= 1s; tpot < 500ms', 'p90', 'p90', 1000],
    ['a limit on every request is on no percentile', 'tpot < 30ms, good 95%', 'p99', 'p99', 30],
  ])('%s', (_, objective, tpot, ttft, limitMs) => {
    expect([shownTail(objective, 'tpot'), shownTail(objective, 'ttft')]).toEqual([tpot, ttft])
    expect(limitOn(objective, 'tpot')?.limitMs ?? null).toBe(limitMs)
  })

  test('several objectives, each a text of its own', () => {
    const asked = ['p99 ttft <= 1s', 'ttft < 500ms and tpot < 30ms']
    expect([limitOn(asked, 'ttft')?.limitMs, limitOn(asked, 'tpot')?.limitMs]).toEqual([1000, 30])
  })

  test('the curve is that of the first limit that it can draw', () => {
    expect(judgedTail('p50 gap < 20ms; p95 e2e <= 9s')).toEqual({
      metric: 'e2e_ms',
      key: 'p95',
      limitMs: 9000,
    })
  })
})

test('terminal, page and working read one objective alike', () => {
  const document = { ...threeWalls, objective: 'p90 ttft < 2s; p95 tpot <= 0.01s' }
  expect(renderSweep(document, { color: false, explain: false })).toMatch(/TPOT p95, ms .* TTFT p90, ms/)
  expect(sweepPage(document)).toMatch(/>TPOT p95<.*>TTFT p90</)
  expect(explainSweep(document).join('\n')).toContain('TPOT ≤ 10 ms ↔ a floor of 1,000 ÷ 10 = 100 tok/s')
})
