import { describe, expect, test } from 'vitest'
import { streamedRow } from '../measure/record/made-rows.ts'
import type { SweepPoint } from '../report/documents.ts'
import { isWithinObjective } from './sweep-point.ts'
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

test('which points count is decided by the verdict, whatever words its suspicions are in', () => {
  const said = (point: SweepPoint, suspect: readonly string[]): SweepPoint => ({ ...point, suspect })
  const points = [
    said(tested(1, 'yes'), ['client-bound: said of another point']),
    said(clientBound(4), ['the client set its numbers']),
  ]
  const { capacity } = sweepWalls(points, null, 1000, 'p90 ttft <= 1s')
  expect(capacity.load).toBe(1)
})

describe('what nothing came back from supports no wall', () => {
  const failing = { sent: 100, ok: 0, failed: 100, shed: 0, censored: 0, unsent: 0, planned: 100 }
  const dead = (users: number): SweepPoint => ({
    ...tested(users, 'no'),
    counts: failing,
    errors: { http_500: 100 },
    throughput: { window_s: 5, requests_per_s: 0, output_tokens_per_s: 0, input_tokens_per_s: 0 },
  })

  test.each([['p90 ttft <= 1s'], [null]])('with the objective %s', (objective) => {
    const points = [1, 2]
      .map(dead)
      .map((point) => ({ ...point, passes: objective === null ? null : point.passes }))
    const { walls, capacity, peak } = sweepWalls(points, null, 1000, objective)
    const why = 'no request was answered in any measured window: http_500 100 % of the requests'
    expect(walls).toMatchObject({ saturation: null, slo: null, why: { saturation: why, slo: why } })
    expect(capacity).toEqual({ load: null, binding: null, censored: false, indicative: false, why })
    expect(peak).toBe(null)
  })

  test('a server that breaks down under load keeps the walls below it', () => {
    const { walls, peak } = sweepWalls(
      [tested(1, 'yes'), tested(4, 'yes'), dead(16)],
      null,
      1000,
      'p90 ttft <= 1s',
    )
    expect(walls.saturation?.load).toBe(4)
    expect(walls.slo?.load).toBe(4)
    expect(peak?.load).toBe(4)
  })

  test('embeddings have no output tokens, yet a capacity by their objective', () => {
    const points = [tested(1, 'yes'), tested(4, 'no')].map((point) => ({
      ...point,
      throughput: { ...point.throughput, output_tokens_per_s: null },
    }))
    const { walls, capacity, peak } = sweepWalls(points, null, 1000, 'p90 e2e <= 1s')
    expect(walls.saturation).toBe(null)
    expect(walls.why.saturation).toBe('not found: no answer has output tokens')
    expect(peak).toBe(null)
    expect(capacity).toMatchObject({ load: 1, binding: 'slo' })
  })
})

describe('a point that was cut short decides nothing', () => {
  const cut = (users: number, passes: SweepPoint['passes']): SweepPoint => ({
    ...tested(users, passes),
    stopped: 'cut short: interrupted',
    throughput: { ...tested(users, passes).throughput, output_tokens_per_s: passes === 'yes' ? 900 : null },
  })
  const atLeast = { binding: null, censored: true }
  test.each<[string, SweepPoint[], object]>([
    ['without an answer it is no failing load', [tested(1, 'yes'), cut(2, 'no')], { load: 1, ...atLeast }],
    [
      'with answers it is no capacity, nor the best',
      [tested(1, 'yes'), cut(2, 'yes')],
      { load: 1, ...atLeast },
    ],
    [
      'below the others it breaks no prefix',
      [cut(1, 'no'), tested(2, 'yes'), tested(4, 'no')],
      { load: 2, binding: 'slo' },
    ],
    [
      'alone it leaves nothing',
      [cut(1, 'no')],
      { load: null, binding: null, why: 'no point was measured to its end' },
    ],
  ])('%s', (_sentence, points, expected) => {
    const { walls, capacity, peak } = sweepWalls(points, null, 1000, 'p90 ttft <= 1s')
    expect(capacity).toMatchObject(expected)
    expect(walls.saturation).toBe(null)
    expect(peak?.output_tokens_per_s ?? 0).toBeLessThan(900)
  })

  test('one load is no saturation wall, and is not said to have risen', () => {
    const { walls } = sweepWalls([tested(1, 'yes'), cut(2, 'no')], null, 1000, null)
    expect(walls.why.saturation).toBe('not known: one load alone does not show where throughput stops rising')
  })
})

describe('a capacity is indicative where its point passed by its estimate alone', () => {
  test.each<[string, SweepPoint['passes'][], number, string | null, boolean]>([
    ['no wall was reached, and the last point is shown', ['yes', 'yes'], 4, null, false],
    ['no wall was reached, and the last point rests on its estimate', ['yes', 'indicative'], 4, null, true],
    ['the SLO wall binds at such a point', ['indicative', 'no'], 1, 'slo', true],
    ['the SLO wall binds at a shown one', ['yes', 'no'], 1, 'slo', false],
  ])('%s', (_sentence, passes, load, binding, indicative) => {
    const points = passes.map((each, i) => tested(4 ** i, each))
    const { capacity } = sweepWalls(points, null, 1000, 'p90 ttft <= 1s')
    expect(capacity).toMatchObject({ load, binding, indicative })
  })
})

test.each<[string, string, number, boolean]>([
  ['at the limit is within <=', 'p99 tpot <= 10ms', 10, true],
  ['at the limit is not within <', 'p99 tpot < 10ms', 10, false],
  ['under it is', 'p99 tpot < 10ms', 9.99, true],
])('an estimate %s', (_sentence, text, estimate, within) => {
  expect(isWithinObjective({ kind: 'over_run', text, limit: 10 }, estimate)).toBe(within)
})

function tested(users: number, passes: SweepPoint['passes']): SweepPoint {
  const { throughput, ...point } = clientBound(users)
  return {
    ...point,
    verdict: { status: 'VALID', reasons: [] },
    passes,
    suspect: [],
    throughput: { ...throughput, output_tokens_per_s: 32 * users },
  }
}

function clientBound(users: number): SweepPoint {
  const message = 'the event loop was late by 42 ms at p99 (limit 20 ms)'
  return {
    load: { kind: 'concurrency', value: users },
    in_flight: users,
    run: `${users}`,
    verdict: {
      status: 'INVALID',
      reasons: [{ rule: 'loop_delay', status: 'INVALID', message, value: 42, limit: 20 }],
    },
    throughput: { window_s: 5, requests_per_s: 1, output_tokens_per_s: 32, input_tokens_per_s: 100 },
    metrics: {},
    goodput: null,
    objectives: [],
    passes: 'yes',
    suspect: [`client-bound: ${message}`],
    stopped: null,
  }
}
