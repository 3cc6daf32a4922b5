import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { parseObjective } from './parse-objective.ts'
import { stutter } from './stutter.ts'
import { summarize } from './summarize.ts'

/** Rows as a run may leave them: any mix of outcomes, with consistent stamps. */
const anyRows: fc.Arbitrary<RequestRow[]> = fc
  .array(
    fc.record({
      outcome: fc.constantFrom('ok', 'ok', 'ok', 'failed', 'shed', 'censored', 'unsent'),
      planned: fc.integer({ min: 0, max: 10_000 }),
      lag: fc.integer({ min: 0, max: 50 }),
      ttft: fc.integer({ min: 50, max: 3000 }),
      gaps: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 20 }),
      perEvent: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 60 },
  )
  .map((given) =>
    given.map(({ outcome, planned, lag, ttft, gaps, perEvent }, index): RequestRow => {
      const id = `r${index}`
      if (outcome === 'unsent') return { ...unsentRow, id, planned_ms: planned }
      const row = streamedRow({
        id,
        plannedMs: planned,
        sentMs: planned + lag,
        ttftMs: ttft,
        gapsMs: gaps,
        completionTokens: (gaps.length + 1) * perEvent,
      })
      if (outcome === 'ok') return row
      const ended = { ok: false, tpot_ms: null, outcome } as const
      return outcome === 'censored' ? { ...row, ...ended, done_ms: null } : { ...row, ...ended }
    }),
  )

describe('laws', () => {
  test('the order of the rows changes nothing', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const distinct = rows.map((row, index) => ({
          ...row,
          planned_ms: (row.planned_ms ?? 0) + index / 1000,
        }))
        const objective = parseObjective('ttft < 1s and p90 tpot < 100ms')
        expect(summarize([...distinct].reverse(), { objective })).toEqual(summarize(distinct, { objective }))
      }),
      { numRuns: 50 },
    )
  })

  test('every row is counted once, whole and in the window', () => {
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 0, max: 10_000 }), (rows, startMs) => {
        const { counts, window_counts, errors } = summarize(rows, {
          window: { startMs, endMs: startMs + 3000 },
        })
        for (const part of [counts, window_counts]) {
          expect(part.ok + part.failed + part.shed + part.censored + part.unsent).toBe(part.planned)
          expect(part.sent + part.unsent).toBe(part.planned)
        }
        const failures = counts.failed + counts.shed + counts.censored
        expect(Object.values(errors).reduce((sum, value) => sum + value, 0)).toBe(failures)
      }),
      { numRuns: 50 },
    )
  })

  test('the tokens of a window are those of its two halves, whoever they belong to', () => {
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 1, max: 14_999 }), (rows, cut) => {
        const tokens = (startMs: number, endMs: number): number => {
          const { output_tokens_per_s, window_s } = summarize(rows, { window: { startMs, endMs } }).throughput
          return (output_tokens_per_s ?? 0) * window_s
        }
        expect(tokens(0, cut) + tokens(cut, 15_000)).toBeCloseTo(tokens(0, 15_000), 6)
        const all = rows.filter(({ outcome }) => outcome === 'ok' || outcome === 'censored')
        const wanted = all.reduce((sum, row) => sum + (row.completion_tokens ?? 0), 0)
        expect(tokens(0, 100_000)).toBeCloseTo(wanted, 6)
      }),
      { numRuns: 50 },
    )
  })

  test("Little's law holds in any window of consistent rows", () => {
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 0, max: 9000 }), (rows, startMs) => {
        const { little } = summarize(rows, { window: { startMs, endMs: startMs + 2000 } })
        expect(little?.discrepancy ?? 0).toBeLessThan(1e-9)
      }),
      { numRuns: 50 },
    )
  })

  test('over all attempts no percentile is below that of the successes', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { ttft_ms } = summarize(rows).metrics
        for (const key of ['p50', 'p90', 'p95', 'p99', 'p99_9'] as const) {
          const all = ttft_ms?.all_attempts?.[key] ?? Number.POSITIVE_INFINITY
          expect(all).toBeGreaterThanOrEqual(ttft_ms?.[key] ?? 0)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('a failure more never raises the good share', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const objective = parseObjective('ttft < 1s and tpot < 100ms')
        const window = { startMs: 0, endMs: 20_000 }
        const before = summarize(rows, { objective, window }).goodput
        const after = summarize(
          [...rows, { ...unsentRow, id: 'more', planned_ms: 5, sent_ms: 5, outcome: 'failed' }],
          { objective, window },
        ).goodput
        expect(after?.per_s ?? 0).toBe(before?.per_s ?? 0)
        expect(after?.share ?? 0).toBeLessThanOrEqual(before?.share ?? 1)
      }),
      { numRuns: 50 },
    )
  })

  test('the percentiles of a stream are those of its sorted gaps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 2, maxLength: 400 }), (gapsMs) => {
        const found = stutter([streamedRow({ id: 'a', plannedMs: 0, ttftMs: 1, gapsMs })])
        const sorted = [...gapsMs].sort((a, b) => a - b)
        const at = (share: number): number | undefined => sorted[Math.ceil((share * sorted.length) / 100) - 1]
        const above = sorted.filter((gap) => gap > 0)
        const median = above[Math.ceil(above.length / 2) - 1] ?? Number.POSITIVE_INFINITY
        expect(found).toMatchObject({
          gap_p95_ms: at(95),
          gap_p99_ms: at(99),
          gap_max_ms: sorted.at(-1),
          stuttering_streams: (sorted.at(-1) ?? 0) > 5 * median ? 1 : 0,
        })
      }),
    )
  })
})
