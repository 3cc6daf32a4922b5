import { describe, expect, test } from 'vitest'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { parseObjective } from './parse-objective.ts'
import { summarize } from './summarize.ts'

interface Group {
  readonly count: number
  readonly tokens: number
  readonly gapMs: number
}

function groupsOf(groups: readonly Group[]): RequestRow[] {
  const rows: RequestRow[] = []
  for (const { count, tokens, gapMs } of groups) {
    for (let index = 0; index < count; index++) {
      const gapsMs = Array.from({ length: tokens - 1 }, () => gapMs)
      rows.push(streamedRow({ id: `r${rows.length}`, plannedMs: rows.length * 10, ttftMs: 100, gapsMs }))
    }
  }
  return rows
}

const failed = (id: string, plannedMs: number, outcome: 'failed' | 'shed' | 'censored'): RequestRow => ({
  ...unsentRow,
  id,
  planned_ms: plannedMs,
  sent_ms: plannedMs,
  lag_ms: 0,
  done_ms: outcome === 'censored' ? null : 5,
  outcome,
  error_kind: outcome === 'failed' ? 'connection_reset' : outcome === 'shed' ? 'http_429' : null,
})

describe('the two weightings of TPOT', () => {
  test.each<[string, readonly Group[], number, number]>([
    [
      'fifty short slow answers and ten long fast ones',
      [
        { count: 50, tokens: 20, gapMs: 50 },
        { count: 10, tokens: 1000, gapMs: 10 },
      ],
      43.333333333333336,
      13.473491773308957,
    ],
    [
      'the other way round',
      [
        { count: 90, tokens: 50, gapMs: 12 },
        { count: 10, tokens: 2000, gapMs: 30 },
      ],
      13.8,
      26.746721311475408,
    ],
    [
      'an answer of one token is in neither',
      [
        { count: 1, tokens: 2, gapMs: 100 },
        { count: 1, tokens: 101, gapMs: 10 },
        { count: 1, tokens: 1, gapMs: 0 },
      ],
      55,
      10.891089108910892,
    ],
  ])('%s', (_, groups, user, token) => {
    const { weighting, metrics, warnings } = summarize(groupsOf(groups))
    expect(weighting.per_request).toBeCloseTo(user, 9)
    expect(weighting.per_token).toBeCloseTo(token, 9)
    expect(metrics.tpot_ms?.n).toBe(
      groups.reduce((sum, { count, tokens }) => sum + (tokens > 1 ? count : 0), 0),
    )
    expect(warnings.map(({ kind }) => kind)).toContain('weightings_differ')
  })

  test('speculative decoding: the gaps are between messages, TPOT is per token, and that is said', () => {
    const rows = Array.from({ length: 20 }, (_, index) =>
      streamedRow({
        id: `r${index}`,
        plannedMs: index,
        ttftMs: 100,
        gapsMs: Array.from({ length: 100 }, () => 45),
        completionTokens: 301,
      }),
    )
    const summary = summarize(rows)
    expect(summary.weighting.per_token).toBeCloseTo(15, 9)
    expect(summary.metrics.gaps_ms?.p50).toBe(45)
    expect(summary.warnings.map(({ kind }) => kind)).toContain('messages_not_tokens')
  })
})

describe('a stall of 3 s in a constant 5 req/s, over 60 s', () => {
  const stalled = (serviceMs: number, phaseMs = 0): RequestRow[] =>
    Array.from({ length: 300 }, (_, index) => {
      const plannedMs = index * 200
      const start = 10_000 - phaseMs
      const waitMs = plannedMs >= start && plannedMs < start + 3000 ? start + 3000 - plannedMs : 0
      return streamedRow({ id: `r${index}`, plannedMs, ttftMs: waitMs + serviceMs, gapsMs: [] })
    })

  test.each<[string, number, number, number]>([
    ['no service time', 0, 0, 2400],
    ['20 ms of service', 20, 0, 2420],
    ['a stall that begins 100 ms before a send', 0, 100, 2300],
  ])('%s', (_, serviceMs, phaseMs, p99) => {
    const { metrics } = summarize(stalled(serviceMs, phaseMs), { window: { startMs: 0, endMs: 60_000 } })
    expect(metrics.e2e_ms?.p99).toBe(p99)
    expect(metrics.e2e_ms?.why['p99']).toMatch(/independent tail events/)
    expect(metrics.e2e_ms?.ci['p99']).toBeUndefined()
  })

  test.each([
    ['1', 2400],
    ['6', 2598],
    ['7', 2402],
    ['floor', 2600],
  ] as const)('by percentile type %s: %d ms', (percentileType, wanted) => {
    expect(summarize(stalled(0), { percentileType }).metrics.e2e_ms?.p99).toBeCloseTo(wanted, 9)
  })

  test('a waiting client that catches up sees it in its lag, not in its service times', () => {
    let freeMs = 0
    const rows = Array.from({ length: 300 }, (_, index) => {
      const plannedMs = index * 200
      const sentMs = Math.max(plannedMs, freeMs)
      const doneMs = sentMs >= 10_000 && sentMs < 13_000 ? 13_020 : sentMs + 20
      freeMs = doneMs
      return streamedRow({ id: `r${index}`, plannedMs, sentMs, ttftMs: doneMs - plannedMs, gapsMs: [] })
    })
    const { metrics } = summarize(rows)
    expect(metrics.service_e2e_ms?.p99).toBe(20)
    expect(metrics.e2e_ms?.p99).toBeGreaterThan(2400)
    expect(metrics.lag_ms?.max).toBeGreaterThan(2700)
  })
})

describe('pauses inside streams', () => {
  test('one stall among a hundred gaps: only the largest gap and its share show it', () => {
    const gapsMs = [...Array.from({ length: 99 }, () => 15), 515]
    const { stutter, metrics } = summarize([streamedRow({ id: 'a', plannedMs: 0, ttftMs: 100, gapsMs })])
    expect(stutter).toEqual({
      streams: 1,
      stuttering_streams: 1,
      gap_p95_ms: 15,
      gap_p99_ms: 15,
      gap_max_ms: 515,
      worst_gap_share_max: 0.2575,
      worst_gap_share_p50: 0.2575,
    })
    expect(metrics.tpot_ms?.mean).toBe(20)
  })

  test.each<[string, readonly number[], number]>([
    ['even gaps', [20, 20, 20, 20], 0],
    ['pairs of events in one chunk do not stutter', [0, 20, 0, 20, 0, 20], 0],
    ['all in one chunk', [0, 0, 0], 0],
    ['one pause of six medians', [20, 120, 20, 20], 1],
    ['exactly five medians is not over', [20, 100, 20, 20], 0],
  ])('%s', (_, gapsMs, stuttering) => {
    const row = streamedRow({ id: 'a', plannedMs: 0, ttftMs: 100, gapsMs })
    expect(summarize([row]).stutter.stuttering_streams).toBe(stuttering)
  })
})

describe('goodput is counted jointly', () => {
  const objective = parseObjective('ttft < 500ms and tpot < 30ms')

  test('ten attempts, five good', () => {
    const given: readonly [number, number | null][] = [
      [300, 20],
      [450, 29],
      [499, 31],
      [500, 20],
      [200, null],
      [480, 29.9],
      [700, 40],
      [100, 10],
    ]
    const rows = given.map(([ttftMs, tpot], index) =>
      streamedRow({ id: `r${index}`, plannedMs: index, ttftMs, gapsMs: tpot === null ? [] : [tpot] }),
    )
    rows.push(failed('x', 100, 'shed'), failed('y', 101, 'failed'))
    const { goodput } = summarize(rows, { window: { startMs: 0, endMs: 2000 }, objective })
    expect(goodput).toMatchObject({
      good: 5,
      attempts: 10,
      per_s: 2.5,
      share: 0.5,
      unknown: 0,
      failed_twice: 1,
      vacuous_tpot: 1,
      asked_share: '99%',
      met: 'no',
      failed_by: { 'ttft < 500ms': 2, 'tpot < 30ms': 2, shed: 1, failed: 1 },
    })
  })

  test.each([
    ['the same requests fail both', 85, 0.85],
    ['different requests fail each', 90, 0.75],
  ])('%s', (_, slowFrom, share) => {
    const rows = Array.from({ length: 100 }, (_, index) => {
      const slowTpot = slowFrom === 85 ? index >= 85 : index < 15
      return streamedRow({
        id: `r${index}`,
        plannedMs: index,
        ttftMs: index >= 90 ? 600 : 400,
        gapsMs: [slowTpot ? 35 : 25],
      })
    })
    expect(summarize(rows, { objective }).goodput?.share).toBe(share)
  })

  test('some that are unknown make it a lower end', () => {
    const lost: Partial<RequestRow> = { ttft_ms: null, tpot_ms: null, flags: ['not_streamed'] }
    const rows = [0, 1, 2, 3].map((at) =>
      streamedRow({ id: `r${at}`, plannedMs: at, ttftMs: 100, gapsMs: [10] }, at === 0 ? lost : {}),
    )
    const known = summarize(rows.slice(1), { objective }).goodput
    expect([known?.share, known?.lower_bound]).toEqual([1, false])
    const all = summarize(rows, { objective }).goodput
    expect([all?.unknown, all?.share, all?.lower_bound]).toEqual([1, 0.75, true])
  })

  test('answers that were not streamed make it unknown', () => {
    const rows = groupsOf([{ count: 5, tokens: 5, gapMs: 10 }]).map((row): RequestRow => ({
      ...row,
      ttft_ms: null,
      tpot_ms: null,
      gaps_ms: [],
      flags: ['not_streamed'],
    }))
    const { goodput, metrics, warnings } = summarize(rows, { objective })
    expect(goodput).toMatchObject({
      per_s: null,
      share: null,
      good: 0,
      unknown: 5,
      lower_bound: false,
      met: 'inconclusive',
    })
    expect(metrics.ttft_ms).toMatchObject({ n: 0, p50: null, mean: null })
    expect(metrics.e2e_ms?.n).toBe(5)
    expect(warnings.map(({ kind }) => kind)).toContain('not_streamed')
  })

  test.each<[string, number, number, string, string]>([
    ['all of 200 good shows too little for 99 %', 200, 0, '99%', 'inconclusive'],
    ['all of 299 good shows 99 %', 299, 0, '99%', 'yes'],
    ['all of 298 good does not', 298, 0, '99%', 'inconclusive'],
    ['20 of 200 bad refutes 99 %', 180, 20, '99%', 'no'],
    ['1 of 1,000 bad refutes 100 %', 999, 1, '100%', 'no'],
    ['none of 10 bad meets 100 %', 10, 0, '100%', 'yes'],
    ['3 of 1,000 bad shows 99 %', 997, 3, '99%', 'yes'],
    ['5 of 1,000 bad does not show it', 995, 5, '99%', 'inconclusive'],
  ])('%s', (_, good, bad, share, met) => {
    const every = bad === 0 ? 0 : Math.floor((good + bad) / bad)
    const rows = Array.from({ length: good + bad }, (_, index) =>
      every > 0 && index % every === 1 && index < every * bad
        ? failed(`f${index}`, index, 'failed')
        : streamedRow({ id: `r${index}`, plannedMs: index, ttftMs: 100, gapsMs: [10] }),
    )
    const slo = parseObjective(`ttft < 500ms, good ${share}`)
    expect(summarize(rows, { objective: slo }).goodput?.met).toBe(met)
  })

  test("vLLM's form is counted and never judged", () => {
    const { goodput } = summarize([failed('a', 0, 'failed')], { objective: parseObjective('ttft:1') })
    expect(goodput).toMatchObject({ met: null, asked_share: null, share: 0 })
  })
})

describe('what failed stands beside what succeeded', () => {
  const rows = [
    ...Array.from({ length: 95 }, (_, index) =>
      streamedRow({ id: `r${index}`, plannedMs: index, ttftMs: index + 1, gapsMs: [10, 10] }),
    ),
    ...Array.from({ length: 5 }, (_, index) => failed(`f${index}`, 100 + index, 'shed')),
    { ...unsentRow, id: 'u', planned_ms: 110 },
    { ...unsentRow, id: 'never' },
  ]
  const summary = summarize(rows, { window: { startMs: 0, endMs: 200 } })

  test('counts add up, the unsent are no attempts', () => {
    expect(summary.counts).toEqual({
      planned: 102,
      sent: 100,
      ok: 95,
      failed: 0,
      shed: 5,
      censored: 0,
      unsent: 2,
    })
    expect(summary.window_counts).toMatchObject({ planned: 101, sent: 100, unsent: 1 })
    expect(summary.errors).toEqual({ http_429: 5 })
  })

  test('goodput is over the attempts', () => {
    const objective = parseObjective('ttft < 1s')
    expect(summarize(rows, { window: { startMs: 0, endMs: 200 }, objective }).goodput).toMatchObject({
      attempts: 100,
      good: 95,
      failed_by: { shed: 5 },
    })
  })

  test('over all attempts a failure is an infinite wait', () => {
    expect(summary.metrics.ttft_ms).toMatchObject({ n: 95, p99: 95, max: 95 })
    expect(summary.metrics.ttft_ms?.all_attempts).toMatchObject({ p50: 50, p95: 95, p99: null })
    expect(summary.metrics.gaps_ms?.all_attempts).toBeNull()
    expect(summary.warnings.map(({ kind }) => kind)).toContain('survivors_only')
  })

  test('1 in 1,000 does not own the P99', () => {
    const many = Array.from({ length: 1000 }, (_, index) =>
      index === 500
        ? failed('f', index, 'failed')
        : streamedRow({ id: `r${index}`, plannedMs: index, ttftMs: 5, gapsMs: [] }),
    )
    expect(summarize(many).warnings.map(({ kind }) => kind)).not.toContain('survivors_only')
  })
})

describe('nothing is NaN, nothing is zero that was not measured', () => {
  test.each<[string, readonly RequestRow[]]>([
    ['no rows at all', []],
    ['only requests that were never sent', [{ ...unsentRow, id: 'a' }]],
    ['only failures', [failed('a', 0, 'failed'), failed('b', 1, 'shed'), failed('c', 2, 'censored')]],
    [
      'figures that another program left as NaN or infinite',
      [
        streamedRow(
          { id: 'a', plannedMs: 0, ttftMs: 5, gapsMs: [Number.NaN, 3, Number.POSITIVE_INFINITY] },
          {
            ttft_ms: Number.NaN,
            lag_ms: Number.NEGATIVE_INFINITY,
            tpot_ms: Number.NaN,
            e2e_ms: 9,
            done_ms: 9,
          },
        ),
      ],
    ],
    ['one answer of one token', [streamedRow({ id: 'a', plannedMs: 0, ttftMs: 5, gapsMs: [] })]],
  ])('%s', (_, rows) => {
    const summary = summarize(rows, { objective: parseObjective('ttft < 1s and p99 tpot < 5ms') })
    expect(
      JSON.stringify(summary, (_, value: unknown) =>
        typeof value === 'number' && !Number.isFinite(value) ? 'NaN!' : value,
      ),
    ).not.toContain('NaN!')
    const empty = Object.values(summary.metrics).filter(({ n }) => n === 0)
    const nothing = { mean: null, min: null, p50: null, p99: null, p99_9: null, max: null, n_eff: null }
    for (const metric of empty) expect(metric).toMatchObject(nothing)
  })
})

test("rows without an end, or with another clock's lag, violate Little's law", () => {
  const rows = Array.from({ length: 200 }, (_, index) =>
    streamedRow({ id: `r${index}`, plannedMs: index * 10, ttftMs: 500, gapsMs: [] }),
  )
  const window = { startMs: 500, endMs: 1500 }
  expect(summarize(rows, { window }).little).toMatchObject({ in_flight_mean: 50, arrival_per_s: 100 })
  expect(summarize(rows, { window }).little?.time_in_system_s).toBeCloseTo(0.5, 9)
  const lost = rows.map((row, index) => (index % 5 === 0 ? { ...row, done_ms: null } : row))
  expect(summarize(lost, { window }).warnings.map(({ kind }) => kind)).toContain('little_violated')
})

describe('intervals', () => {
  test('of independent latencies: ranks of the binomial, and the P99 of 367 has no upper end', () => {
    const values = Array.from({ length: 2000 }, (_, index) => ((index * 7919) % 2003) + 1)
    const rows = values.map((ttftMs, index) =>
      streamedRow({ id: `r${index}`, plannedMs: index, ttftMs, gapsMs: [] }),
    )
    const ttft = summarize(rows).metrics.ttft_ms
    expect(ttft?.n_eff).not.toBeNull()
    const [low, high] = ttft?.ci['p50'] ?? [null, null]
    expect(low).toBeLessThan(ttft?.p50 ?? 0)
    expect(high).toBeGreaterThan(ttft?.p50 ?? 0)
    expect(ttft?.why['p99_9']).toMatch(/tail events/)
  })

  test('of pooled gaps: a stall that all streams share is few events, however many gaps it makes', () => {
    const rows = Array.from({ length: 500 }, (_, index) =>
      streamedRow({
        id: `r${index}`,
        plannedMs: index * 10,
        ttftMs: 50,
        gapsMs: Array.from({ length: 40 }, (_, gap) =>
          index >= 200 && index < 210 ? 300 + gap : 10 + ((gap * 7 + index) % 13),
        ),
      }),
    )
    const gaps = summarize(rows).metrics.gaps_ms
    expect(gaps?.n).toBe(20_000)
    expect(gaps?.p99).toBeGreaterThanOrEqual(300)
    expect(gaps?.n_eff).toBeLessThan(2000)
    expect(gaps?.why['p99']).toMatch(/independent tail events/)
  })
})
