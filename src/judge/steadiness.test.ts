import { describe, expect, it } from 'vitest'
import { exponential, randomStream } from '../base/random.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { inFlightSeries, steadiness } from './steadiness.ts'

const minute = { startMs: 0, endMs: 60_000 }

/** A Poisson run at 20/s whose TTFT is a function of the time. */
function poissonRun(seed: number, ttftAt: (ms: number) => number): RequestRow[] {
  const random = randomStream(seed, 'steadiness')
  const rows: RequestRow[] = []
  for (let ms = 0; ms < minute.endMs; ms += exponential(random) * 50) {
    const ttftMs = ttftAt(ms) * (0.8 + 0.4 * random.next())
    rows.push(rowAt(ms, ttftMs))
  }
  return rows
}

function rowAt(ms: number, ttftMs: number): RequestRow {
  return streamedRow({ id: `r${ms}`, plannedMs: ms, ttftMs, gapsMs: [200] })
}

describe('steadiness', () => {
  it('calls a light Poisson load steady in at least 95 of 100 runs', () => {
    const kinds = Array.from(
      { length: 100 },
      (_, seed) =>
        steadiness(
          poissonRun(seed, () => 100),
          minute,
        ).kind,
    )
    expect(kinds.filter((kind) => kind === 'no_steady_state').length).toBeLessThanOrEqual(5)
  })

  it('finds a growing TTFT', () => {
    expect(
      steadiness(
        poissonRun(1, (ms) => 100 + ms / 100),
        minute,
      ).kind,
    ).toBe('no_steady_state')
  })

  it('says where a warm-up ends', () => {
    const found = steadiness(
      poissonRun(1, (ms) => 100 + 900 * Math.exp(-ms / 3000)),
      minute,
    )
    expect(found.kind).not.toBe('no_steady_state')
    expect(found.cutMs).toBeGreaterThan(0)
  })

  it('does not judge what is too short', () => {
    expect(steadiness([], { startMs: 0, endMs: 10_000 })).toEqual({
      kind: null,
      cutMs: 0,
      reason: '10 s are too short to tell; 50 s are needed',
    })
  })
})

describe('inFlightSeries', () => {
  it('shares a request out to the seconds that it spans', () => {
    expect([...inFlightSeries([rowAt(500, 1300)], 0, 4)]).toEqual([0.5, 1, 0, 0])
  })
})
