import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { streamedRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { summarize } from './summarize.ts'
import { sendRates } from './summary-warnings.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../../test/cases/${name}`, import.meta.url), 'utf8')
const expected = (id: string): never => (JSON.parse(read(`${id}.expect.json`)) as { expect: never }).expect

test('stat-04: the late sends are the stall, and the lag says how late', () => {
  interface Line {
    readonly i: number
    readonly intended_ms: number
    readonly sent_ms: number
    readonly done_ms: number
  }
  const wanted: Record<string, number> = expected('stat-04-coordinated-omission')
  const rows = read('stat-04-coordinated-omission.in.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .map(({ i, intended_ms, sent_ms, done_ms }) =>
      streamedRow({
        id: String(i),
        plannedMs: intended_ms,
        sentMs: sent_ms,
        ttftMs: done_ms - intended_ms,
        gapsMs: [],
      }),
    )
  const { e2e_ms, service_e2e_ms, lag_ms } = summarize(rows).metrics
  expect(e2e_ms?.n).toBe(wanted['n'])
  expect(e2e_ms?.p99).toBe(wanted['p99_from_intended_ms'])
  expect(e2e_ms?.max).toBe(wanted['max_from_intended_ms'])
  expect(service_e2e_ms?.p99).toBe(wanted['p99_from_sent_ms'])
  expect(lag_ms?.max).toBe(wanted['max_send_delay_ms'])
  expect(rows.filter((row) => (row.e2e_ms ?? 0) > 100).length).toBe(wanted['n_over_100ms_from_intended'])
  expect(rows.filter((row) => (row.e2e_ms ?? 0) - (row.lag_ms ?? 0) > 100).length).toBe(
    wanted['n_over_100ms_from_sent'],
  )
})

describe('stat-05: a rate that was not reached', () => {
  const given = JSON.parse(read('stat-05-rate-not-reached.in.json')) as {
    requested_rps: number
    n: number
    first_send_ms: number
    last_send_ms: number
  }
  const rows = (lastSendMs: number): RequestRow[] =>
    Array.from({ length: given.n }, (_, index) =>
      streamedRow({
        id: String(index),
        plannedMs: (index * 1000) / given.requested_rps,
        sentMs: (index * lastSendMs) / (given.n - 1),
        ttftMs: 1000,
        gapsMs: [],
      }),
    )

  test('is measured over the gaps between sends and flagged', () => {
    const wanted: { achieved_rps: number; shortfall: number; flag: string } =
      expected('stat-05-rate-not-reached')
    const late = rows(given.last_send_ms)
    expect(sendRates(late)?.sentPerSecond).toBeCloseTo(wanted.achieved_rps, 9)
    expect(sendRates(late)?.shortfall).toBeCloseTo(wanted.shortfall, 9)
    expect(summarize(late).warnings.map(({ kind }) => kind)).toContain(wanted.flag)
  })

  test('is not, where it was', () => {
    expect(summarize(rows(5001)).warnings.map(({ kind }) => kind)).not.toContain('rate_not_reached')
  })
})

test('stat-06: requests in flight when the window ends are drained, and throughput counts the tokens inside', () => {
  interface Given {
    readonly window_ms: number
    readonly requests: readonly { start: number; end: number | null; out: number; out_in_window: number }[]
  }
  interface Wanted {
    readonly cut: { n: number; mean_e2e_ms: number }
    readonly drain: { n: number; mean_e2e_ms: number; output_tps_over_window: number }
    readonly n_in_flight_at_end: number
    readonly n_never_ended: number
  }
  const given = JSON.parse(read('stat-06-in-flight-at-the-end.in.json')) as Given
  const wanted: Wanted = expected('stat-06-in-flight-at-the-end')
  const rows = given.requests.map(({ start, end, out, out_in_window }, index): RequestRow => {
    // Tokens inside the window evenly up to its end (or the request's), the others evenly after it.
    const insideEnd = end !== null && end < given.window_ms ? end : given.window_ms - 1
    const times = Array.from({ length: out }, (_, token) =>
      token < out_in_window
        ? start + ((insideEnd - start) * (token + 1)) / out_in_window
        : given.window_ms +
          (((end ?? 0) - given.window_ms) * (token + 1 - out_in_window)) / (out - out_in_window),
    )
    const row = streamedRow({
      id: String(index),
      plannedMs: start,
      ttftMs: (times[0] ?? 0) - start,
      gapsMs: times.slice(1).map((time, token) => time - (times[token] ?? 0)),
    })
    if (end !== null) return row
    return {
      ...row,
      ok: false,
      outcome: 'censored',
      e2e_ms: null,
      done_ms: null,
      tpot_ms: null,
      completion_tokens: null,
    }
  })
  const summary = summarize(rows, { window: { startMs: 0, endMs: given.window_ms } })
  expect(summary.metrics.e2e_ms?.n).toBe(wanted.drain.n)
  expect(summary.metrics.e2e_ms?.mean).toBeCloseTo(wanted.drain.mean_e2e_ms, 6)
  expect(summary.throughput.output_tokens_per_s).toBeCloseTo(wanted.drain.output_tps_over_window, 6)
  expect(summary.window_counts.censored).toBe(wanted.n_never_ended)
  const endsMs = (row: RequestRow): number =>
    (row.planned_ms ?? 0) + (row.done_ms ?? Number.POSITIVE_INFINITY)
  expect(rows.filter((row) => endsMs(row) > given.window_ms).length).toBe(wanted.n_in_flight_at_end)
  const cut = rows.filter((row) => endsMs(row) <= given.window_ms)
  expect(cut.length).toBe(wanted.cut.n)
})
