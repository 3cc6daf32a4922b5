import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseObjective } from '../../measure/metrics/parse-objective.ts'
import type { Trace } from '../../measure/workload/trace.ts'
import { nearestRank } from '../../stats/percentile.ts'
import { enginePreset } from '../engine/presets.ts'
import type { FleetResult } from './fleet-run.ts'
import {
  busiestMinutePerSecond,
  busiestOfDay,
  busiestOfTrace,
  busiestPart,
  simulateDay,
  type PlannedDay,
} from './planned-day.ts'
import { ShareJudge, shareLimits } from './share-limits.ts'

const minute = 60_000

function day(change: Partial<PlannedDay> = {}): PlannedDay {
  const durationMs = 30 * minute
  return {
    engine: enginePreset('h100-8b').config,
    replicas: 2,
    killed: 0,
    traffic: {
      kind: 'pairs',
      arrivals: { kind: 'daily', lowPerSecond: 4, highPerSecond: 40, periodMs: durationMs, phaseMs: 0 },
      pairs: [[1024, 128]],
    },
    durationMs,
    busiest: busiestOfDay(durationMs),
    router: 'least-loaded',
    limits: shareLimits([parseObjective('ttft < 1s and tpot < 20ms, good 99%')]).judged,
    seed: '1',
    ...change,
  }
}

const trace = (seconds: readonly number[]): Trace => ({
  kind: 'trace',
  name: 't',
  entries: seconds.map((s) => ({
    atMs: 1000 * s,
    promptTokens: 100,
    outputTokens: 10,
    blocks: null,
    segment: null,
    session: null,
  })),
  blockTokens: 16,
  skipped: {},
})

describe('a simulated day', () => {
  test('two replicas carry 40 a second; with one of them killed at the height the other does not', () => {
    expect(simulateDay(day()).survives).toBe(true)
    const lost = simulateDay(day({ killed: 1 }))
    expect(lost.survives).toBe(false)
    // One carries 34 of these a second, so that the line grows: they wait.
    expect(lost.fleet.account.hurt.waited ?? 0).toBeGreaterThan(1000)
  })

  test('three survive the loss of one', () => {
    expect(simulateDay(day({ replicas: 3, killed: 1 })).survives).toBe(true)
  })

  test('the killed replicas are back when the stretch is over', () => {
    const { fleet } = simulateDay(day({ replicas: 3, killed: 2 }))
    const ready = fleet.windows.map(({ readyReplicas }) => Math.round(readyReplicas))
    const { fromMs, untilMs } = busiestOfDay(30 * minute)
    const at = (ms: number): number | undefined => ready[Math.floor(ms / ((30 * minute) / ready.length))]
    expect([at(fromMs - minute), at(fromMs + minute), at(untilMs + minute)]).toEqual([3, 1, 3])
  })

  test('a bad hour that the day would hide fails it', () => {
    const hidden = simulateDay(
      day({ killed: 1, limits: shareLimits([parseObjective('ttft < 1s and tpot < 20ms, good 40%')]).judged }),
    )
    const [share] = hidden.shares
    expect((share?.day.good ?? 0) / (share?.day.all ?? 1)).toBeGreaterThan(0.4)
    expect((share?.hour.good ?? 1) / (share?.hour.all ?? 1)).toBeLessThan(0.2)
    expect(hidden.survives).toBe(false)
  })

  test('the same seed gives the same day, another another', () => {
    const goodOf = (seed: string): number => simulateDay(day({ seed })).fleet.account.arrived
    expect(goodOf('1')).toBe(goodOf('1'))
    expect(goodOf('1')).not.toBe(goodOf('2'))
  })

  test('its busiest part alone says what the whole day says of that stretch', () => {
    for (const killed of [0, 1]) {
      const whole = simulateDay(day({ killed }))
      const part = simulateDay(busiestPart(day({ killed })))
      expect(part.shares[0]?.hour.all ?? 0).toBeCloseTo(whole.shares[0]?.hour.all ?? 0, -3)
      expect(part.survives).toBe(whole.survives)
    }
  })
})

describe('the busiest stretch of a trace', () => {
  test('is the third with the most arrivals', () => {
    const stretch = busiestOfTrace(trace([0, 10, 20, 60, 61, 62, 63, 64, 100]))
    expect(stretch.fromMs).toBe(60_000)
    expect(busiestMinutePerSecond(trace([0, 30, 100, 101, 102, 103]))).toBeCloseTo(4 / 60, 6)
  })

  test('of a day is its middle hour, of a shorter one its middle third', () => {
    expect(busiestOfDay(24 * 3_600_000)).toEqual({ fromMs: 11.5 * 3_600_000, untilMs: 12.5 * 3_600_000 })
    expect(busiestOfDay(30 * minute)).toEqual({ fromMs: 10 * minute, untilMs: 20 * minute })
  })

  test('and its part has those arrivals, and the run-up', () => {
    const { entries } = trace([0, 10, 20, 60, 61, 62, 63, 64, 100])
    const traced = day({
      traffic: { kind: 'trace', trace: { ...trace([]), entries }, speed: 1, repeat: false },
      durationMs: 112_500,
      busiest: busiestOfTrace(trace([0, 10, 20, 60, 61, 62, 63, 64, 100])),
    })
    const { traffic, busiest } = busiestPart(traced)
    expect(traffic.kind === 'trace' ? traffic.trace.entries.map(({ atMs }) => atMs) : []).toEqual([
      3750, 4750, 5750, 6750, 7750, 43_750,
    ])
    expect(busiest.fromMs).toBe(3750)
  })
})

describe('a share of requests within a limit', () => {
  const answered = (ms: number): FleetResult => ({
    number: 0,
    sentMs: 0,
    endMs: ms,
    outcome: 'ok',
    replica: 0,
    attempts: 1,
    promptTokens: 1,
    outputTokens: 1,
    facts: { firstTokenMs: ms, lastTokenMs: ms, outputTokens: 1 } as FleetResult['facts'],
    tokenTimesMs: null,
  })

  test('is enough exactly where the percentile is within it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom('50', '90', '99'),
        fc.integer({ min: 1, max: 20 }),
        (times, percentile, limit) => {
          const { judged } = shareLimits([parseObjective(`p${percentile} ttft <= ${limit}ms`)])
          const judge = new ShareJudge(judged, { fromMs: 0, untilMs: 1 })
          for (const ms of times) judge.hear(answered(ms))
          const sorted = times.toSorted((a, b) => a - b)
          const value = sorted[nearestRank(times.length, percentile) - 1] as number
          expect(judge.judge()[0]?.met).toBe(value <= limit)
        },
      ),
    )
  })

  test('what was lost met nothing, and gaps cannot be judged', () => {
    const { judged, unjudged } = shareLimits([parseObjective('ttft < 1s and gap < 200ms, good 99%')])
    expect([judged.map(({ text }) => text), unjudged]).toEqual([['ttft < 1s, good 99%'], ['gap < 200ms']])
    const judge = new ShareJudge(judged, { fromMs: 0, untilMs: 1 })
    judge.hear({ ...answered(1), outcome: 'replica_lost', facts: null })
    expect(judge.judge()[0]).toMatchObject({ day: { all: 1, good: 0 }, met: false })
  })
})
