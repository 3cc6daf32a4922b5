import { describe, expect, it, test } from 'vitest'
import { lookTails } from '../judge/look-plan.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { OpenPlan } from '../measure/workload/make-plan.ts'
import { holdsFromMs, looksAt, pointLooker, type FindLooks } from './find-looks.ts'
import { parseObjectives, type JudgedObjective } from './judged-objectives.ts'

const objectives = (text: string): readonly JudgedObjective[] =>
  parseObjectives([{ name: null, text, good: null, form: 'plimsoll', shedIsBad: true }])

const looks: FindLooks = {
  first: 132,
  most: 2112,
  looks: 5,
  holdsFromMs: 10_000,
  tails: lookTails({ error: '5%', points: 10, looks: 5, parts: 1 }),
}

/** A request every 20 ms: 50 a second, planned for 60 s. */
const times = Array.from({ length: 3000 }, (_, i) => 20 * i)
const plan = {
  kind: 'open',
  requests: times.map((plannedMs) => ({ plannedMs })),
} as unknown as OpenPlan

/** Their rows; TTFT by position. */
const rows = (ttftOf: (i: number) => number): RequestRow[] =>
  times.map((plannedMs, i) =>
    streamedRow({ id: `r${String(i).padStart(5, '0')}`, plannedMs, ttftMs: ttftOf(i), gapsMs: [10, 10] }),
  )
/** Without memory: the rank of each is scattered by a multiplication modulo a prime. */
const scattered = (i: number): number => ((i * 7919) % 10_007) / 10_007
const looker = (text: string): ReturnType<typeof pointLooker> =>
  pointLooker(plan, 0, 50, looks, objectives(text))

describe('how long a rate must be watched', () => {
  test.each([
    ['gaps and TPOT have no wait in them: ten seconds, for the queue', 'p90 tpot <= 10ms', 10_000],
    ['twice the wait ÷ the resolution', 'p90 ttft <= 1s', 40_000],
    ['the longest of the waits', 'ttft < 500ms and e2e < 2s, good 99%', 80_000],
  ])('%s', (_, text, ms) => {
    expect(holdsFromMs(objectives(text), 0.05)).toBeCloseTo(ms, 6)
  })

  it('the looks are as many requests as come in that time', () => {
    expect(looksAt(looks, 50).counts).toEqual([132, 500, 1000, 2000, 2112])
    expect(looksAt(looks, 500).counts).toEqual([132, 5000, 10_000, 15_000])
    expect(looksAt(looks, 2).counts).toEqual([132, 264, 528, 1056, 2112])
  })
})

describe('the looks at a point', () => {
  it('a clear failure is seen at the first look, before anything may hold', () => {
    const looked = looker('p90 ttft <= 100ms').lookedAt(rows((i) => 150 + scattered(i)))
    expect(looked).toMatchObject({ decision: 'fails', looks: 1, requests: 132 })
    expect(looked?.decisions[0]?.reason).toContain('at 99.9 % confidence')
  })

  it('a clear hold is said after ten seconds', () => {
    const looked = looker('p90 ttft <= 100ms').lookedAt(rows((i) => 50 + 20 * scattered(i)))
    expect(looked).toMatchObject({ decision: 'holds', looks: 2, requests: 500 })
  })

  it('on the limit it stays open', () => {
    // 10 % of the requests are over the limit.
    const looked = looker('p90 ttft <= 100ms').lookedAt(rows((i) => (scattered(i) < 0.9 ? 50 : 150)))
    expect(looked).toMatchObject({ decision: 'undecided', looks: 5, requests: 2112 })
  })

  it('a queue that grows holds nothing, however fast its answers are', () => {
    const looked = looker('p90 tpot <= 100ms').lookedAt(rows((i) => 100 + 2 * i))
    expect(looked).toMatchObject({ decision: 'undecided', growing: true })
  })

  it('requests that were under way when the window began are no growth', () => {
    // Answers take 8 s, so that 400 are in flight all the time; the window begins at 10 s.
    const point = pointLooker(plan, 10_000, 50, looks, objectives('p90 tpot <= 100ms'))
    expect(point.lookedAt(rows(() => 8000))).toMatchObject({ decision: 'holds', growing: false })
  })

  it('waits for the slow ones: a look is taken when every request that belongs to it has ended', () => {
    const all = rows((i) => (i % 5 === 0 ? 5000 : 50))
    const point = looker('p90 ttft <= 100ms')
    expect(point.lookedAt(all.filter((_, i) => i % 5 !== 0))).toBeNull()
    expect(point.lookedAt(all)).toMatchObject({ decision: 'fails' })
  })

  it('what is sent later changes nothing: live and from the folder are the same', () => {
    const all = rows((i) => (i < 500 ? 50 + scattered(i) : 900))
    const live = looker('p90 ttft <= 100ms').lookedAt(all.slice(0, 520))
    const again = looker('p90 ttft <= 100ms').lookedAt(all.toReversed())
    expect(again).toEqual(live)
    expect(again).toMatchObject({ decision: 'holds', requests: 500 })
  })

  it('a plan that ends before its looks has its last one there', () => {
    const short = { ...plan, requests: plan.requests.slice(0, 300) }
    const looked = pointLooker(short, 0, 50, looks, objectives('p90 ttft <= 100ms')).lookedAt(
      rows((i) => 50 + scattered(i)).slice(0, 300),
    )
    expect(looked?.schedule.counts).toEqual([132, 300])
    expect(looked).toMatchObject({ decision: 'holds', requests: 300 })
  })

  it('a point at which nearly everything failed is decided on what there is', () => {
    const failed = rows(() => 50)
      .slice(0, 80)
      .map((row): RequestRow => ({ ...row, ok: false, outcome: 'failed', ttft_ms: null }))
    const point = looker('p90 ttft <= 100ms')
    expect(point.lookedAt(failed)).toBeNull()
    expect(point.lastLook(failed)).toMatchObject({ decision: 'fails', requests: 80 })
  })
})
