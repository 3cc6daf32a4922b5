import { describe, expect, test } from 'vitest'
import { streamedRow, unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import { rational } from '../../stats/rational.ts'
import { combineDecisions, decideObjective, gapLimitWarning } from './decide-objective.ts'
import { parseObjective } from './parse-objective.ts'

/** Latencies in an order without memory: the rank of each is scattered by a multiplication modulo a prime. */
function scattered(n: number, ttftOf: (rank: number) => number): RequestRow[] {
  return Array.from({ length: n }, (_, index) => {
    const rank = ((index * 7919) % 10_007) / 10_007
    return streamedRow({ id: `r${index}`, plannedMs: index, ttftMs: ttftOf(rank), gapsMs: [10, 11] })
  })
}

const failing = (rows: readonly RequestRow[], every: number): RequestRow[] =>
  rows.map((row, index) =>
    index % every === 3
      ? { ...unsentRow, id: row.id, planned_ms: row.planned_ms, sent_ms: 0, outcome: 'shed' }
      : row,
  )

describe('a percentile of the run', () => {
  test.each<[string, readonly RequestRow[], string, string, boolean]>([
    [
      'well within, enough samples',
      scattered(2000, (rank) => 100 + 100 * rank),
      'p99 ttft <= 300ms',
      'yes',
      true,
    ],
    ['well beyond', scattered(2000, (rank) => 100 + 100 * rank), 'p99 ttft <= 150ms', 'no', false],
    [
      'estimate within, interval across',
      scattered(2000, (rank) => 100 + 100 * rank),
      'p99 ttft <= 199.1ms',
      'inconclusive',
      true,
    ],
    [
      'estimate beyond, interval across',
      scattered(2000, (rank) => 100 + 100 * rank),
      'p99 ttft <= 198.9ms',
      'inconclusive',
      false,
    ],
    ['298 samples prove no P99', scattered(298, () => 100), 'p99 ttft <= 300ms', 'inconclusive', true],
    ['299 do', scattered(299, () => 100), 'p99 ttft <= 300ms', 'yes', true],
    ['28 samples prove no P90', scattered(28, () => 100), 'p90 ttft <= 300ms', 'inconclusive', true],
    ['29 do', scattered(29, () => 100), 'p90 ttft <= 300ms', 'yes', true],
    ['exactly on a limit that may be met', scattered(400, () => 100), 'p90 ttft <= 100ms', 'yes', true],
    ['exactly on a strict one', scattered(400, () => 100), 'p90 ttft < 100ms', 'no', false],
    ['no rows at all', [], 'p99 ttft < 1s', 'inconclusive', false],
    [
      'one request in twenty refused: the P99 is a refusal',
      failing(
        scattered(2000, () => 100),
        20,
      ),
      'p99 ttft <= 300ms',
      'no',
      false,
    ],
    [
      'one in a thousand refused does not matter to a P90',
      failing(
        scattered(2000, () => 100),
        1000,
      ),
      'p90 ttft <= 300ms',
      'yes',
      true,
    ],
    ['gaps, pooled', scattered(2000, () => 100), 'p99 gap <= 12ms', 'yes', true],
    ['gaps over the limit', scattered(2000, () => 100), 'p90 gap <= 10ms', 'no', false],
  ])('%s', (_, rows, text, met, within) => {
    const [decision] = decideObjective(rows, parseObjective(text))
    expect(decision).toMatchObject({ met, estimateWithin: within, kind: 'over_run', text, judged: true })
    expect(decision?.reason).not.toMatch(/NaN|Infinity|undefined/)
  })

  test('slow ones that come in one burst are fewer independent samples', () => {
    const rows = Array.from({ length: 2000 }, (_, index) =>
      streamedRow({
        id: `r${index}`,
        plannedMs: index,
        ttftMs: index >= 990 && index < 1005 ? 500 : 100 + (index % 7),
        gapsMs: [],
      }),
    )
    // 15 of 2,000 over the limit would prove the P99 if they were independent of each other at a level of 0.9925.
    const [bursty] = decideObjective(rows, parseObjective('p99 ttft <= 300ms'))
    expect(bursty).toMatchObject({ met: 'inconclusive', estimateWithin: true })
  })
})

test('the parts of an objective are decided each and together', () => {
  const rows = scattered(1000, () => 100)
  const decided = (text: string): ReturnType<typeof combineDecisions> =>
    combineDecisions(decideObjective(rows, parseObjective(text)))
  expect(decided('ttft < 200ms and p99 tpot < 20ms')).toBe('yes')
  expect(decided('ttft < 200ms and p99 tpot < 5ms')).toBe('no')
  expect(decided('ttft < 200ms, good 99.9%')).toBe('inconclusive')
  expect(decided('ttft:1')).toBeNull()
  expect(
    decideObjective(rows, parseObjective('ttft < 200ms')).map(({ text, limit }) => [text, limit]),
  ).toEqual([['ttft < 200ms, good 99%', 0.99]])
})

describe('a limit on gaps over the run does not see failures', () => {
  const rows = failing(
    scattered(400, () => 100),
    4,
  )
  const { run } = parseObjective('p99 gap <= 50ms')
  test('says so in its reason and in a warning', () => {
    expect(decideObjective(rows, parseObjective('p99 gap <= 50ms'))[0]?.reason).toContain(
      '100 attempts without an answer have no gaps',
    )
    expect(gapLimitWarning(rows, run)).toMatchObject({
      kind: 'survivors_only',
      message: 'p99 gap <= 50ms is judged by the answers alone: 100 of 400 attempts have no gaps',
      evidence: { attempts: 400, without_gaps: 100 },
    })
  })
  test.each([
    ['all answered', scattered(400, () => 100), run],
    ['no limit on gaps', rows, parseObjective('p99 ttft <= 50ms').run],
  ])('%s: nothing to say', (_, all, limits) => expect(gapLimitWarning(all, limits)).toBeNull())
})

describe('at another confidence', () => {
  const strict = { kept: rational(1n, 1000n), missed: rational(1n, 1000n) }

  test.each([
    ['687 samples prove no P99 at 99.9 %', 687, 'p99 ttft <= 300ms', 'inconclusive'],
    ['688 do: 0.99⁶⁸⁸ ≤ 0.001', 688, 'p99 ttft <= 300ms', 'yes'],
    ['and no share of 99 % either', 687, 'ttft <= 300ms, good 99%', 'inconclusive'],
    ['but 688 good ones', 688, 'ttft <= 300ms, good 99%', 'yes'],
    ['gaps count by their requests', 60, 'p90 gap <= 12ms', 'inconclusive'],
  ])('%s', (_, n, text, met) => {
    const [decision] = decideObjective(
      scattered(n, () => 100),
      parseObjective(text),
      strict,
    )
    expect(decision?.met).toBe(met)
    expect(decision?.reason).not.toContain('95 %')
  })

  test('a miss is less easily said, and says how surely', () => {
    const rows = failing(
      scattered(400, () => 100),
      50,
    )
    expect(decideObjective(rows, parseObjective('p99 ttft <= 300ms'))[0]?.met).toBe('inconclusive')
    const worse = failing(
      scattered(400, () => 100),
      25,
    )
    expect(decideObjective(worse, parseObjective('p99 ttft <= 300ms'))[0]?.met).toBe('no')
    const [decision] = decideObjective(
      failing(
        scattered(2000, () => 100),
        20,
      ),
      parseObjective('p99 ttft <= 300ms'),
      strict,
    )
    expect(decision).toMatchObject({ met: 'no' })
    expect(decision?.reason).toContain('at 99.9 % confidence a failure')
  })
})
